"""PagerDuty, through the Events API v2: one alert for each incident, resolved by the same key."""

import json
from datetime import UTC, datetime
from typing import Literal

from playbooks.ports import Http
from playbooks.retry import Delivery
from playbooks.sinks.message import Message, cut, message
from playbooks.sinks.notice import Notice
from playbooks.sinks.post import post
from playbooks.sinks.secret import Secret
from playbooks.sinks.sink import SinkConfig, check_address

HOSTS = {"us": "https://events.pagerduty.com", "eu": "https://events.eu.pagerduty.com"}
KEY_LENGTH = 32
MOST_IN_SUMMARY = 1024
MOST_IN_KEY = 255


class PagerDutyConfig(SinkConfig, frozen=True, kw_only=True):
    """Whom to page.

    Attributes:
        routing_key: of the service's Events API v2 integration, 32 characters.
        region: where the account lives.
        url: a relay to post to instead of PagerDuty itself.
    """

    routing_key: Secret
    region: Literal["us", "eu"] = "us"
    url: Secret | None = None

    def __post_init__(self) -> None:
        """Refuse a key or address that cannot work."""
        if len(self.routing_key.reveal()) != KEY_LENGTH:
            raise ValueError(f"routing_key: {KEY_LENGTH} characters are expected")
        check_address(self.address)

    @property
    def address(self) -> Secret:
        """Where events are posted."""
        return self.url or Secret(f"{HOSTS[self.region]}/v2/enqueue")


class PagerDuty:
    """Trigger, acknowledge and resolve by the incident's id."""

    name = "pagerduty"

    def __init__(self, config: PagerDutyConfig) -> None:
        self.config = config

    async def send(self, notice: Notice, http: Http) -> Delivery:
        """Try once; a repeated try changes nothing, for the key is the same."""
        event = {"routing_key": self.config.routing_key.reveal(), **payload(notice)}
        body = json.dumps(event, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        return await post(http, self.config.address, body, headers, (self.config.routing_key,))


def payload(notice: Notice) -> dict[str, object]:
    """Put a notice into the form of the Events API, all but the routing key."""
    incident, told = notice.incident, message(notice)
    return {
        "event_action": _event_action(notice),
        "dedup_key": incident.id[:MOST_IN_KEY],
        "payload": {
            "summary": cut(told.headline, MOST_IN_SUMMARY),
            "source": incident.job,
            "severity": incident.severity,
            "timestamp": datetime.fromtimestamp(incident.opened_time, UTC).isoformat(),
            "component": incident.nodes[0] if incident.nodes else incident.job,
            "group": incident.cluster,
            "class": incident.cause,
            "custom_details": _details(notice, told),
        },
        "links": [{"href": told.link, "text": told.link_words}] if told.link else [],
        "client": "Trainmaster",
        **({"client_url": told.link} if told.link else {}),
    }


def _event_action(notice: Notice) -> str:
    if notice.kind == "resolved":
        return "resolve"
    taken = notice.kind == "changed" and notice.incident.acknowledged_by
    return "acknowledge" if taken else "trigger"


def _details(notice: Notice, told: Message) -> dict[str, object]:
    incident = notice.incident
    return {
        "lines": list(told.lines),
        "state": incident.state,
        "layer": incident.layer,
        "confidence": incident.confidence,
        "onset_step": incident.onset_step,
        "gpu_hours_lost": round(incident.gpu_hours_lost, 2),
        "revision": incident.revision,
    }
