"""Series become findings: by node and thing, in our units, with the memory that counters and sticky codes need."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from schemas.telemetry import LATEST_TIME, Entity, Reading
from streams.agents.finding import Finding, Happening, Sample
from streams.agents.series import derived
from streams.agents.series.aliases import (
    BLANKS,
    BY_SERIES,
    COPY_LABELS,
    GPU_LABELS,
    JOB_LABELS,
    MOUNT_TYPES,
    NO_ADAPTERS,
    NODE_LABELS,
    Alias,
)
from streams.agents.series.series import Series

_LONGEST_NAME = 256
_OLDEST_SECONDS = 3600.0
"""After which the last value of a counter is forgotten."""
Readings = dict[str, Reading]


class NodeFinding(Struct, frozen=True):
    """A finding, the node it is of, and the job a GPU works for; "" where the series does not say."""

    node: str
    finding: Finding
    job: str = ""


class _Seen(Struct):
    """One look at one node, sorted by thing."""

    rows: dict[tuple[Entity, str], Readings] = field(default_factory=dict)
    further: dict[tuple[Entity, str], list[Series]] = field(default_factory=dict)
    counted: dict[tuple[tuple[Entity, str], Alias], int] = field(default_factory=dict)
    time: float = 0.0


def is_wanted(name: str) -> bool:
    """Tell whether a series of that name matters."""
    return name in BY_SERIES or name in derived.DERIVED


class SeriesReader:
    """Turns looks at series into findings; one for each source, for it knows what the counters were before."""

    def __init__(self) -> None:
        self._before: dict[object, tuple[float, float]] = {}
        self._codes = derived.Codes()

    def read(self, series: Iterable[Series], now: float) -> list[NodeFinding]:
        """Read one look.

        Args:
            series: readings; of one series the last counts.
            now: Unix seconds, for readings without a time.
        """
        seen: dict[tuple[str, str], _Seen] = {}
        for one in {each.key: each for each in map(_original, filter(_is_of_use, series))}.values():
            if one.value in BLANKS or one.value != one.value:
                continue
            self._sort(one, now, seen.setdefault((_node(one), _job(one)), _Seen()))
        findings = [
            NodeFinding(node, found, job) for (node, job), look in seen.items() for found in self._findings(node, look)
        ]
        self._forget(now)
        return findings

    def _sort(self, one: Series, now: float, look: _Seen) -> None:
        time = one.time if one.time is not None and 0 <= one.time < LATEST_TIME else now
        look.time = max(look.time, time)
        thing = _thing(one)
        if thing is None or len(thing[1]) > _LONGEST_NAME:
            return
        look.rows.setdefault(thing, {})
        if one.name in derived.DERIVED:
            look.further.setdefault(thing, []).append(one)
        for alias in BY_SERIES.get(one.name, ()):
            if alias.only[0] and one.labels.get(alias.only[0], "") != alias.only[1]:
                continue
            value = self._value(alias, one, time)
            if value is not None and value >= _LEAST.get(alias.signal, value):
                self._add(alias, thing, value, look)

    def _add(self, alias: Alias, thing: tuple[Entity, str], value: float, look: _Seen) -> None:
        """Add up what are parts; one GPU that several containers share is told once for each, and counts once.

        Of a rank's collectives the mean counts: they are as many readings of one quantity.
        """
        row, before = look.rows[thing], look.counted.get((thing, alias), 0)
        look.counted[thing, alias] = before + 1
        if thing[0] == "gpu" and before:
            return
        told = row.get(alias.signal) or 0.0
        row[alias.signal] = (told * before + value) / (before + 1) if thing[0] == "job" else told + value

    def _value(self, alias: Alias, one: Series, time: float) -> float | None:
        if not alias.rate:
            return one.value * alias.factor
        grown = self._grown((alias.signal, one.key), one.value, time)
        return None if grown is None else grown[0] / grown[1] * alias.factor

    def _grown(self, key: object, value: float, time: float) -> tuple[float, float] | None:
        """Give growth and seconds since the look before; nothing at the first, or where the counter began anew."""
        before = self._before.get(key)
        self._before[key] = (time, value)
        if before is None or time <= before[0] or value < before[1]:
            return None
        return value - before[1], time - before[0]

    def _findings(self, node: str, look: _Seen) -> Iterator[Finding]:
        rows = {thing: dict(row) for thing, row in look.rows.items()}
        for thing, series in look.further.items():
            rows[thing] |= self._derive(node, thing, series, rows[thing], look.time)
        events: list[Happening] = []
        for thing, row in rows.items():
            if thing[0] == "gpu":
                events += derived.xid_events(thing[1], row, look.further.get(thing, ()), self._codes)
                rows[thing] = derived.believable(row)
        yield from _of_whole_gpus(events)
        yield from self._boot(node, look)
        yield from _samples(rows, look.time)

    def _derive(
        self, node: str, thing: tuple[Entity, str], series: Sequence[Series], row: Readings, now: float
    ) -> Readings:
        kind, _ = thing
        if kind == "gpu":
            return derived.gpu_flags(series)
        if kind == "mount":
            return _space(series, row)
        if kind == "nic":
            return {"link_up": float(series[-1].value == _ACTIVE)}
        elapsed: list[float] = []

        def growth(one: Series) -> float | None:
            grown = self._grown((node, one.key), one.value, now)
            if grown is not None:
                elapsed.append(grown[1])
            return None if grown is None else grown[0]

        cpu = derived.processors([one for one in series if one.name == "node_cpu_seconds_total"], growth)
        disk_series = [one for one in series if one.name.startswith("node_disk_")]
        grown = {id(one): growth(one) for one in disk_series}
        disk = derived.disks(disk_series, lambda one: grown[id(one)], max(elapsed, default=None))
        return {**cpu, **disk}

    def _boot(self, node: str, look: _Seen) -> Iterator[Happening]:
        """Tell that a node started anew when its boot time changes."""
        boots = [
            one.value
            for series in look.further.values()
            for one in series
            if one.name == "node_boot_time_seconds" and 0 <= one.value < LATEST_TIME
        ]
        if boots:
            before = self._codes.boots.get(node)
            self._codes.boots[node] = boots[-1]
            if before is not None and boots[-1] > before + 1:
                yield Happening(event="node.boot", subject=node, time=boots[-1], text="its boot time changed")

    def _forget(self, now: float) -> None:
        if len(self._before) > 10_000:
            oldest = now - _OLDEST_SECONDS
            self._before = {key: value for key, value in self._before.items() if value[0] >= oldest}


_ACTIVE = 4.0
"""State of an InfiniBand port that carries traffic."""


_LEAST = {"link_bytes_per_second": 0.0, "space_free_bytes": 0.0}
"""What a signal cannot be below: the speed of a link that is down is printed as less than nothing."""


def _is_of_use(one: Series) -> bool:
    return is_wanted(one.name)


def _original(one: Series) -> Series:
    """Leave out the labels by which copies of a series differ."""
    if not any(label in one.labels for label in COPY_LABELS):
        return one
    labels = {label: value for label, value in one.labels.items() if label not in COPY_LABELS}
    return Series(one.name, labels, one.value, one.time)


def _of_whole_gpus(events: Iterable[Happening]) -> Iterator[Happening]:
    """Tell an Xid once for a GPU with instances: an exporter prints the GPU's code for each of them."""
    told: set[tuple[str, object]] = set()
    for event in events:
        gpu = event.subject.split("/", 1)[0]
        if (gpu, event.data["code"]) not in told:
            told.add((gpu, event.data["code"]))
            yield replace(event, subject=gpu)


def _node(one: Series) -> str:
    """Find the node; in a container an exporter may take its pod's name for the host's."""
    for label in NODE_LABELS:
        name = one.labels.get(label)
        if name and not (label == "Hostname" and "exporter" in name and one.labels.get("node")):
            return name.rsplit(":", 1)[0] if label == "instance" else name
    return ""


def _job(one: Series) -> str:
    """Only of a GPU is the job sure: whatever else a node has is shared."""
    if not one.name.startswith(("DCGM_", "hw.")):
        return ""
    return next((one.labels[label] for label in JOB_LABELS if one.labels.get(label)), "")


def _thing(one: Series) -> tuple[Entity, str] | None:
    """Say what a series speaks of; None where it names nothing that could be told apart."""
    if one.name.startswith(("DCGM_", "hw.")):
        uuid = next((one.labels[label] for label in GPU_LABELS if one.labels.get(label)), "")
        instance = one.labels.get("GPU_I_ID", "")
        return ("gpu", f"{uuid}/{instance}" if instance else uuid) if uuid else None
    if one.name.startswith("node_infiniband_"):
        return "nic", f"{one.labels.get('device', '')}:{one.labels.get('port', '')}"
    if one.name.startswith("node_network_"):
        device = one.labels.get("device", "")
        return ("nic", device) if device not in ("", "lo") and not device.startswith(NO_ADAPTERS) else None
    if one.name.startswith("node_filesystem_"):
        mount = one.labels.get("mountpoint", "")
        return ("mount", mount) if mount and one.labels.get("fstype") in MOUNT_TYPES else None
    if one.name.startswith("nccl_"):
        rank = one.labels.get("rank", "")
        return ("job", f"rank {rank}") if rank.isdecimal() else None
    return "node", ""


def _space(series: Sequence[Series], row: Readings) -> Readings:
    size = next((one.value for one in series if one.name == "node_filesystem_size_bytes"), 0.0)
    free = row.get("space_free_bytes")
    return {"space_used_share": 1.0 - free / size} if size and free is not None else {}


def _samples(rows: dict[tuple[Entity, str], Readings], time: float) -> Iterator[Sample]:
    """Gather the things of one kind into one sample."""
    kinds: dict[Entity, dict[str, Readings]] = {}
    for (kind, name), row in rows.items():
        if row:
            kinds.setdefault(kind, {})[name] = row
    for kind, things in kinds.items():
        names = dict.fromkeys(name for row in things.values() for name in row)
        values = {name: [row.get(name) for row in things.values()] for name in names}
        ids = [] if list(things) == [""] else list(things)
        ranks = [int(name.split(" ")[1]) for name in things] if kind == "job" else []
        yield Sample(of=kind, ids=ids, ranks=ranks, values=values, time=time)
