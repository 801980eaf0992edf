"""Another system, through a signed webhook: Standard Webhooks headers around a structured CloudEvent."""

import base64
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta
from standardwebhooks.webhooks import Webhook as Signer

from playbooks.ports import Http
from playbooks.retry import Delivery
from playbooks.sinks.cloud_event import structured
from playbooks.sinks.notice import Notice
from playbooks.sinks.post import post
from playbooks.sinks.secret import Secret
from playbooks.sinks.sink import SinkConfig, check_address

PREFIX = "whsec_"
KEY_BYTES = range(24, 65)


class WebhookConfig(SinkConfig, frozen=True, kw_only=True):
    """Where to, and with which signatures.

    Attributes:
        url: of the receiver.
        secrets: `whsec_` and base64 of 24 to 64 bytes; during a rotation the new and the old one, each signs.
    """

    url: Secret
    secrets: Annotated[tuple[Secret, ...], Meta(min_length=1, max_length=4)]

    def __post_init__(self) -> None:
        """Refuse an address or a key that cannot work."""
        check_address(self.url)
        for index, secret in enumerate(self.secrets):
            _check_key(index, secret)


class WebhookSink:
    """Post a signed event; the receiver tells a repeated try by its id."""

    name = "webhook"

    def __init__(self, config: WebhookConfig) -> None:
        self.config = config

    async def send(self, notice: Notice, http: Http) -> Delivery:
        """Try once. 410 means that the receiver wants no more."""
        body = structured(notice)
        headers = {"Content-Type": "application/cloudevents+json; charset=utf-8", **self._signed(notice, body)}
        return await post(http, self.config.url, body, headers, self.config.secrets)

    def _signed(self, notice: Notice, body: bytes) -> dict[str, str]:
        when, text = datetime.fromtimestamp(int(notice.sent_at), UTC), body.decode()
        signatures = [Signer(secret.reveal()).sign(notice.id, when, text) for secret in self.config.secrets]
        return {
            "webhook-id": notice.id,
            "webhook-timestamp": str(int(notice.sent_at)),
            "webhook-signature": " ".join(signatures),
        }


def _check_key(index: int, secret: Secret) -> None:
    encoded = secret.reveal().removeprefix(PREFIX)
    try:
        size = len(base64.b64decode(encoded, validate=True))
    except ValueError:
        size = 0
    if not secret.reveal().startswith(PREFIX) or size not in KEY_BYTES:
        raise ValueError(f"secrets[{index}]: {PREFIX} and base64 of {KEY_BYTES[0]} to {KEY_BYTES[-1]} bytes expected")
