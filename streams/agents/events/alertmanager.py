"""Alerts of Prometheus, as Alertmanager's webhook sends them: one event for each that begins or ends."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from streams.agents.events.arrived import Arrived, NotReadable, seconds
from streams.agents.finding import Happening
from streams.agents.series.aliases import GPU_LABELS, JOB_LABELS, NODE_LABELS

_LONGEST = 2000


class _Alert(Struct, rename="camel"):
    """One alert of the webhook's body."""

    status: Literal["firing", "resolved"]
    labels: dict[str, str]
    annotations: dict[str, str] | None = None
    starts_at: str = ""
    ends_at: str = ""
    fingerprint: str = ""


class _Body(Struct):
    """The webhook's body, as far as it is read."""

    alerts: list[_Alert]


_decoder = msgspec.json.Decoder(_Body)


def alerts(body: bytes) -> Iterator[Arrived]:
    """Read a webhook's body.

    Raises:
        NotReadable: it is none.
    """
    try:
        said = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise NotReadable(str(fault)) from None
    for alert in said.alerts:
        begin, end = seconds(alert.starts_at), seconds(alert.ends_at)
        ended = alert.status == "resolved"
        name = alert.labels.get("alertname", "")
        data = {
            "name": name,
            "status": alert.status,
            "severity": alert.labels.get("severity", ""),
            "labels": alert.labels,
            "fingerprint": alert.fingerprint,
        }
        said_of = alert.annotations or {}
        text = next((said_of[key] for key in ("summary", "description", "message") if said_of.get(key)), "")
        subject = _first(alert.labels, GPU_LABELS)
        node = _first(alert.labels, NODE_LABELS).rsplit(":", 1)[0]
        happening = Happening(
            event="alert", subject=subject or node, data=data, text=text[:_LONGEST], time=end if ended else begin
        )
        identity = f"{alert.fingerprint or sorted(alert.labels.items())} {alert.status} {alert.starts_at}"
        yield Arrived("alertmanager", identity, happening, node, _first(alert.labels, JOB_LABELS), 0)


def _first(labels: dict[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")
