"""What actions and sinks may touch of the world; the runtime hands in the real ones, tests hand in fakes."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from schemas.action import Control, TaintRecord
from schemas.incident import Incident


class Reply(Struct, frozen=True):
    """What an HTTP server answered.

    Attributes:
        retry_after: seconds the server asks us to wait; None where it says nothing.
    """

    status: int
    body: bytes = b""
    retry_after: float | None = None


class Http(Protocol):
    """Outgoing HTTP."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a body; redirects are not followed.

        Raises:
            ConnectionError: nobody answered in time; the address is not in the message.
        """
        ...


class Trainer(Protocol):
    """The way to a training process: its control document."""

    async def set(
        self, job: str, attempt: int, settings: Mapping[str, str | int | float | bool], request: str
    ) -> Control:
        """Change some settings; the others stay. Setting the same again changes nothing."""
        ...

    async def clear(self, job: str, attempt: int, names: tuple[str, ...]) -> Control:
        """Give settings back to the trainer's own way."""
        ...


class Scheduler(Protocol):
    """The way to the cluster's scheduler."""

    async def cordon(self, node: str, reason: str) -> str:
        """Keep new work off a node; give what was done, for the record.

        Raises:
            NotConfigured: this installation has no way to its scheduler.
        """
        ...

    async def restart(self, job: str, reason: str) -> str:
        """Restart a job from its last complete checkpoint."""
        ...

    async def stop(self, job: str, reason: str) -> str:
        """Stop a job."""
        ...


class NotConfigured(RuntimeError):
    """There is no such way out of this installation; the action is refused, not retried."""


class Ledger(Protocol):
    """The ledger of contaminated steps."""

    async def add(self, record: TaintRecord) -> None:
        """Add a range; the same id again changes nothing."""
        ...


class Documents(Protocol):
    """Where post-mortems are kept."""

    async def write(self, name: str, text: str) -> str:
        """Write a document whole or not at all; give where it is."""
        ...


class Records(Protocol):
    """The present view of what an action is about to touch."""

    async def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision."""
        ...

    async def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision, oldest first."""
        ...


class Clock(Protocol):
    """The runner's clock."""

    def now(self) -> float:
        """Unix seconds."""
        ...


class Ports(Struct, frozen=True):
    """Everything an action may touch."""

    http: Http
    trainer: Trainer
    scheduler: Scheduler
    ledger: Ledger
    documents: Documents
    records: Records
    clock: Clock
