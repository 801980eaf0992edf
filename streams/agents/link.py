"""The agent's way to the pipeline and back, whatever lies between: HTTP or Kafka."""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self


class Away(Exception):
    """The pipeline did not take the records; the same again later.

    Attributes:
        wait: seconds the other side asks for; 0 where it says nothing.
    """

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


class Refused(Exception):
    """The pipeline will never take these records."""


class Link(Protocol):
    """Carries telemetry there and control documents back, while its block is open."""

    async def __aenter__(self) -> Self:
        """Begin; what is not there yet may come later."""
        ...

    async def __aexit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        """End."""

    async def deliver(self, job: str, lines: Sequence[bytes]) -> None:
        """Hand over records of one job; back when they have arrived.

        Raises:
            Away: they have not, or not all.
            Refused: at least one of them never will.
        """

    async def control(self, job: str) -> bytes | None:
        """The control document of a job where it may have changed since the last call, else None.

        Raises:
            OSError: the other side does not answer.
        """
