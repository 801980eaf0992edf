"""What a worker could not see: said once for each job it concerns, on the log itself, so that everybody hears it."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime

from msgspec import Struct, structs

from schemas.telemetry import Event, Telemetry
from schemas.wording import count

NODE = "worker"


class Loss(Struct, frozen=True):
    """A stretch of a partition that nobody can read any more.

    Attributes:
        begin: first offset that was not seen.
        end: first offset that was seen again.
        since: Unix seconds up to which everything is known; None where nothing is known at all.
        reason: why, for a person.
    """

    begin: int
    end: int
    since: float | None
    reason: str


class LostHistory:
    """Tells which jobs a loss concerns.

    Args:
        partition: its number.
        loss: the stretch.
        concerns: tells by the first record of a job behind the stretch whether the job is concerned.
    """

    def __init__(self, partition: int, loss: Loss, concerns: Callable[[Telemetry], bool]) -> None:
        self._partition = partition
        self.loss = loss
        self._concerns = concerns
        self._looked_at: set[str] = set()

    def look(self, record: Telemetry, arrived: float) -> Event | None:
        """Look at a record behind the loss; give the report if it is the first of a job that is concerned.

        Args:
            arrived: Unix seconds of its message, by the clock that `since` is told by.
        """
        if record.job in self._looked_at or record.node == NODE:
            return None
        self._looked_at.add(record.job)
        if not self._concerns(record):
            return None
        loss = self.loss
        data = {"until": arrived, "messages": loss.end - loss.begin, "reason": loss.reason}
        if loss.since is not None:
            data["since"] = loss.since
        return Event(
            job=record.job,
            attempt=record.attempt,
            cluster=record.cluster,
            node=NODE,
            boot=f"partition-{self._partition}",
            seq=loss.begin,
            time=record.time,
            event="history.lost",
            data=data,
            text=_told(loss, arrived),
        )


def resumed(report: Event) -> Event:
    """What the line hears before the first record behind a loss, so that our gap is not taken for the job's.

    It is no part of the log: the report comes to the log too late for that, behind everything that already waits.
    """
    return structs.replace(report, event="history.resumed", boot=f"{report.boot}-resumed", data={}, text="")


def of_jobs(jobs: Collection[str]) -> Callable[[Telemetry], bool]:
    """The loss concerns these jobs and no others."""
    return lambda record: record.job in jobs


def of_a_stretch(remembered: Collection[str]) -> Callable[[Telemetry], bool]:
    """A job that was remembered has a hole; one that was not, and does not begin with its start, has an unseen past."""

    def concerns(record: Telemetry) -> bool:
        begins = isinstance(record, Event) and record.event == "attempt.started"
        return record.job in remembered or not begins

    return concerns


def _told(loss: Loss, until: float) -> str:
    stretch = f"before {_moment(until)}, since when is not known"
    if loss.since is not None:
        stretch = f"between {_moment(loss.since)} and {_moment(until)}"
    return f"{count(loss.end - loss.begin, 'message')} of the log could not be seen, {stretch}: {loss.reason}"


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
