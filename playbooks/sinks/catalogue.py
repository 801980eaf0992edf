"""Every kind of sink by name. A new sink is one file and one line here."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from playbooks.sinks.pagerduty import PagerDuty, PagerDutyConfig
from playbooks.sinks.secret import read_secret
from playbooks.sinks.sink import Sink, SinkConfig
from playbooks.sinks.slack import Slack, SlackConfig
from playbooks.sinks.webhook import WebhookConfig, WebhookSink


class SinkKind(Struct, frozen=True):
    """What a kind of sink is made of.

    Attributes:
        config: the type of its settings.
        make: settings to sink.
    """

    config: type[SinkConfig]
    make: Callable[[Any], Sink]  # Any: each kind takes its own settings, checked against `config` before


SINKS: dict[str, SinkKind] = {
    Slack.name: SinkKind(SlackConfig, Slack),
    PagerDuty.name: SinkKind(PagerDutyConfig, PagerDuty),
    WebhookSink.name: SinkKind(WebhookConfig, WebhookSink),
}


class BadSink(ValueError):
    """Settings that no sink can be made of; the message names the field and holds no secret."""


def make_sink(settings: Mapping[str, Any]) -> Sink:  # Any: settings come as plain data from a file
    """Make a sink of its settings: the field `kind`, and what that kind wants.

    Raises:
        BadSink: with the field.

    >>> make_sink({"kind": "slack", "url": "https://hooks.slack.com/services/T0/B0/x"}).config
    SlackConfig(url=Secret('****'))
    """
    kind = SINKS.get(str(settings.get("kind", "")))
    if kind is None:
        raise BadSink(f"kind: one of {', '.join(SINKS)} is expected")
    given = {name: value for name, value in settings.items() if name != "kind"}
    try:
        config = msgspec.convert(given, kind.config, dec_hook=read_secret, strict=True)
    except msgspec.ValidationError as fault:
        raise BadSink(str(fault)) from None
    return kind.make(config)
