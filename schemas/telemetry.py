"""What agents, trainers, schedulers and log collectors send: step frames, sample frames and events.

The contract in words stands in docs/contract.md. In short: `time` is Unix seconds at the source, durations are seconds,
sizes bytes, shares 0..1. An absent reading is None; a reading that is not finite is NaN or an infinity here and one of
the strings "NaN", "Infinity", "-Infinity" on the wire (`schemas.codec`).
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Reading = float | None
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
"""A number of steps, ranks, records; beyond this bound JSON readers in other languages read another number."""
Name = Annotated[str, Meta(min_length=1, max_length=256)]
Entity = Literal["gpu", "node", "nic", "disk", "mount", "job"]

VERSION = 1
LATEST_TIME = 1e11
"""Unix seconds beyond this are a clock in milliseconds."""
LARGEST = 1e300
DEEPEST = 32
"""Levels of nesting in the data of an event."""


class Telemetry(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every record says about itself.

    Attributes:
        job: name of the training run; of the cluster, where the record belongs to no job.
        attempt: start number of the run; 0 where the record belongs to no job.
        node: the source: host name, or `scheduler`, `launcher`, `collector` and the like.
        seq: counts the records of one source; makes loss and repetition visible.
        time: Unix seconds, UTC, at the source.
        boot: id of the source's own start; a new one restarts `seq`.
        received: Unix seconds at the first broker or server.
    """

    v: int = VERSION
    job: Name
    attempt: Count
    node: Name
    seq: Count
    time: float
    boot: str = ""
    cluster: str = "default"
    received: float | None = None

    def __post_init__(self) -> None:
        """Refuse a time that is no Unix time in seconds."""
        _unix_seconds("time", self.time)
        if self.received is not None:
            _unix_seconds("received", self.received)


class StepFrame(Telemetry, tag="steps", frozen=True, kw_only=True):
    """The values of one node's ranks at one training step.

    Attributes:
        step: training iteration.
        ranks: global ranks, in the order of every list in `values`; empty in a job-level log line.
        values: signal -> one reading per rank.
        job_values: signal -> reading of the job as a whole.
        every: steps from one frame to the next of this source.
        mean: True where values are means over those steps.
    """

    step: Count
    ranks: list[Count] = field(default_factory=list)
    values: dict[str, list[Reading]] = field(default_factory=dict)
    job_values: dict[str, Reading] = field(default_factory=dict)
    every: Annotated[int, Meta(ge=1, le=1 << 53)] = 1
    mean: bool = False

    def __post_init__(self) -> None:
        """Refuse lists that do not match the ranks."""
        if self.received is not None or not 0 <= self.time < LATEST_TIME:  # asked here: a call costs as much as a frame
            super().__post_init__()
        ranks = self.ranks
        for readings in self.values.values():
            if len(readings) != len(ranks):
                _same_length(self.values, len(ranks), "ranks")
        if len(set(ranks)) != len(ranks):
            raise ValueError("ranks: a rank stands twice")


class SampleFrame(Telemetry, tag="samples", frozen=True, kw_only=True):
    """The values of one node's entities at one moment.

    Attributes:
        of: what kind of thing the ids name.
        ids: GPU UUIDs, the host name, NIC, disk or mount names, in the order of every list in `values`.
        ranks: ranks of those entities where known, same order.
        values: signal -> one reading per entity.
    """

    of: Entity
    ids: list[Name]
    ranks: list[Count] = field(default_factory=list)
    values: dict[str, list[Reading]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse lists that do not match the ids."""
        super().__post_init__()
        _same_length(self.values, len(self.ids), "ids")
        if self.ranks and len(self.ranks) != len(self.ids):
            raise ValueError(f"ranks: {len(self.ranks)} for {len(self.ids)} ids")


class Event(Telemetry, tag="event", frozen=True, kw_only=True):
    """Something that happened once.

    Attributes:
        event: one of `schemas.events.EVENTS`, or a word we do not know yet.
        subject: the entity it happened to: GPU UUID, node, mount, request id.
        data: fields of that event.
        text: the line or message it was read from.
    """

    event: Name
    subject: str = ""
    data: dict[str, Any] = field(default_factory=dict)  # Any: each event has its own fields, listed in schemas.events
    text: str = ""

    def __post_init__(self) -> None:
        """Refuse data that could not be written again."""
        super().__post_init__()
        _can_be_written(self.data)


class Tick(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tick"):
    """A moment that the runtime puts into the stream, so that silence can be judged without reading a clock.

    Attributes:
        time: Unix seconds on the runtime's clock.
        every: seconds from one tick to the next while the runtime lives; a longer gap is the runtime's own absence.
    """

    v: int = VERSION
    time: float
    every: Annotated[float, Meta(gt=0, le=3600)] = 5.0

    def __post_init__(self) -> None:
        """Refuse a time that is no Unix time in seconds."""
        _unix_seconds("time", self.time)


Inbound = StepFrame | SampleFrame | Event | Tick


def as_count(value: object) -> int | None:
    """Take a number of steps, ranks or seconds out of an event's data; None where it is none.

    >>> as_count(3), as_count(-1), as_count(True), as_count("3"), as_count(1 << 60)
    (3, None, None, None, None)
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1 << 53:
        return value
    return None


def _unix_seconds(name: str, value: float) -> None:
    if not 0 <= value < LATEST_TIME:
        raise ValueError(f"{name}: Unix seconds expected (are these milliseconds?)")


def _can_be_written(data: dict[str, Any]) -> None:  # Any: as in an event
    """MessagePack brings types that JSON does not have, and both bring nesting that no writer follows."""
    level: list[object] = [data]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise ValueError(f"data: nested deeper than {DEEPEST}")


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("data: a field without a name")
        return value.values()
    if isinstance(value, list):
        return value
    if not isinstance(value, str | float | int | None):
        raise ValueError(f"data: {type(value).__name__} cannot be kept")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise ValueError("data: a number of more than 64 bits")
    return ()


def _same_length(values: dict[str, list[Reading]], wanted: int, by: str) -> None:
    for name, readings in values.items():
        if len(readings) != wanted:
            raise ValueError(f"values.{name}: {len(readings)} readings for {wanted} {by}")


def is_finite(reading: Reading) -> bool:
    """Tell a usable number from an absent or non-finite reading, and from one so large that sums of it are infinite.

    >>> [is_finite(x) for x in (1.0, 0.0, None, float("nan"), float("inf"), 1.7e308)]
    [True, True, False, False, False, False]
    """
    return reading is not None and -LARGEST <= reading <= LARGEST
