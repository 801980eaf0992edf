"""What a sink is: a configuration, and one try to deliver a notice."""

from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from playbooks.ports import Http
from playbooks.retry import Delivered, Delivery, Disabled, Refused, Retry
from playbooks.sinks.notice import Notice
from playbooks.sinks.secret import Secret

__all__ = ["Delivered", "Delivery", "Disabled", "Refused", "Retry", "Sink", "SinkConfig", "check_address"]


class SinkConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a sink; what must not be seen is a `Secret`."""


class Sink(Protocol):
    """A way to people or to another system. It classifies what it meets; it never loops and never sleeps."""

    @property
    def name(self) -> str:
        """Its kind, as in the catalogue."""
        ...

    @property
    def config(self) -> SinkConfig:
        """Its settings."""
        ...

    async def send(self, notice: Notice, http: Http) -> Delivery:
        """Try once; neither the answer nor an error holds a secret."""
        ...


def check_address(address: Secret) -> None:
    """Refuse what is no HTTP address.

    Raises:
        ValueError: without repeating it.
    """
    if not _is_address(address.reveal()):
        raise ValueError("url: https://HOST/... is expected")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname)
