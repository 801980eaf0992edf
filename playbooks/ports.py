"""What actions and sinks may touch of the world; the runtime hands in the real ones, tests hand in fakes."""

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from playbooks.retry import Delivery
from schemas.action import Control, Request, TaintRecord
from schemas.detection import Detection
from schemas.incident import Incident

Kind = Literal["opened", "changed", "resolved"]
"""What a message tells of an incident: that it is new, that it grew worse, that it is over."""


class NotConfigured(RuntimeError):
    """There is no such way out of this installation; the action is refused, not retried."""


class NotAllowed(RuntimeError):
    """The way out itself refuses: a name it will not pass on, an attempt that is over; not retried."""


class Unsettled(ConnectionError):
    """It was begun and nobody knows whether it was done; only what is harmless twice may be tried again."""


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
        """Change some settings; the others stay. Setting the same again changes nothing.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
        """
        ...

    async def clear(self, job: str, attempt: int, names: tuple[str, ...]) -> Control:
        """Give settings back to the trainer's own way.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
        """
        ...


class Scheduler(Protocol):
    """The way to the cluster's scheduler; every order may raise the same four things.

    Raises:
        NotConfigured: this installation has no such way to its scheduler.
        NotAllowed: the name of the job or node is none that may be passed on.
        Unsettled: the scheduler did not answer in time.
        ConnectionError: the scheduler said no; nothing was done.
    """

    async def cordon(self, node: str, reason: str) -> str:
        """Keep new work off a node; give what was done, for the record."""
        ...

    async def restart(self, job: str, reason: str) -> str:
        """Restart a job from its last complete checkpoint."""
        ...

    async def stop(self, job: str, reason: str) -> str:
        """Stop a job."""
        ...


class Ledger(Protocol):
    """The ledger of contaminated steps."""

    async def add(self, record: TaintRecord) -> None:
        """Add a range; the same id again changes nothing."""
        ...


class Documents(Protocol):
    """Where post-mortems are kept."""

    async def write(self, name: str, text: str) -> str:
        """Write a document whole or not at all; give where it is.

        Raises:
            OSError: there is no room, or no such folder.
        """
        ...


class Records(Protocol):
    """The present view of what an action is about to touch."""

    async def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision."""
        ...

    async def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision, oldest first."""
        ...

    async def detections(self, ids: tuple[str, ...]) -> list[Detection]:
        """Give the latest revision of each of these detections, in the order of the ids; unknown ones are left out."""
        ...


class Sinks(Protocol):
    """The configured ways to people and to other systems, each under a name of the installation's choice."""

    def kinds(self) -> Mapping[str, str]:
        """Give the kind of each sink by its name: `{"oncall": "pagerduty"}`."""
        ...

    async def tell(self, name: str, incident: Incident, kind: Kind, request: Request | None = None) -> Delivery:
        """Send one message through one sink.

        Args:
            name: of the sink.
            incident: the present revision.
            kind: what the message tells.
            request: the action asked of the receiver, where the message is an order and no news.

        Raises:
            NotConfigured: there is no sink of that name.
        """
        ...


class Clock(Protocol):
    """The runner's clock."""

    def now(self) -> float:
        """Unix seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Ports(Struct, frozen=True):
    """Everything an action may touch."""

    http: Http
    trainer: Trainer
    scheduler: Scheduler
    ledger: Ledger
    documents: Documents
    records: Records
    sinks: Sinks
    clock: Clock
