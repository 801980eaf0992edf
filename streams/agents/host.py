"""What the node itself is doing: processors, memory, disks, network, from the operating system's counters."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import psutil
from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Sample
from streams.clock import monotonic_seconds

_NO_DISK = ("loop", "ram", "zram", "sr", "fd")
_SATURATED = 0.95
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - it is looked at, nothing is put there

Readings = dict[str, Reading]


class Processor(Struct, frozen=True):
    """Seconds of one processor since the start of the node."""

    busy: float
    waiting: float
    total: float

    def __sub__(self, older: "Processor") -> "Processor":
        return Processor(self.busy - older.busy, self.waiting - older.waiting, self.total - older.total)


class Disk(Struct, frozen=True):
    """What one disk did since the start of the node; `request_seconds` is summed over its requests."""

    busy_seconds: float
    read_bytes: float
    requests: float
    request_seconds: float

    def __sub__(self, older: "Disk") -> "Disk":
        return Disk(
            self.busy_seconds - older.busy_seconds,
            self.read_bytes - older.read_bytes,
            self.requests - older.requests,
            self.request_seconds - older.request_seconds,
        )


class Host:
    """Samples the node; what is a rate or a share is so over the time since the sample before.

    Args:
        allowed_cpus: gives the processors that the jobs of this node may use; none where that is not known.
    """

    def __init__(self, allowed_cpus: Callable[[], Collection[int]] = tuple) -> None:
        self._allowed_cpus = allowed_cpus
        self._processors, self._disks, self._looked = _processors(), _disks(), monotonic_seconds()

    def __call__(self) -> Sequence[Sample]:
        """Look once; what this node does not have is left out."""
        processors, disks, looked = _processors(), _disks(), monotonic_seconds()
        readings = {
            **processor_readings(self._processors, processors, self._allowed_cpus()),
            **disk_readings(self._disks, disks, looked - self._looked),
            **_memory(),
            **_counters(),
        }
        self._processors, self._disks, self._looked = processors, disks, looked
        return [Sample(of="node", values={name: [value] for name, value in readings.items() if value is not None})]


def processor_readings(before: Sequence[Processor], now: Sequence[Processor], allowed: Collection[int]) -> Readings:
    """Give shares of the time between two looks, over all processors and over those the jobs may use.

    >>> before = [Processor(0, 0, 0), Processor(0, 0, 0)]
    >>> readings = processor_readings(before, [Processor(5, 0, 10), Processor(1, 2, 10)], {1})
    >>> readings["cpu_util"], readings["iowait"], readings["allowed_cpu_util"], readings["allowed_cpus"]
    (0.3, 0.1, 0.1, 1.0)
    """
    readings: Readings = {"cpus": float(len(now)), "load": os.getloadavg()[0]}
    usable = [cpu for cpu in allowed if cpu < len(now)]
    if usable:
        readings["allowed_cpus"] = float(len(usable))
    if len(before) == len(now):  # else a processor was added or taken away meanwhile
        spent = [new - old for old, new in zip(before, now, strict=True)]
        total = sum(each.total for each in spent)
        readings["cpu_util"] = _share(sum(each.busy for each in spent), total)
        readings["iowait"] = _share(sum(each.waiting for each in spent), total)
        ours = [spent[cpu] for cpu in usable]
        busy = [_share(each.busy, each.total) or 0.0 for each in ours or spent]
        readings["cpus_saturated"] = float(sum(share >= _SATURATED for share in busy))
        readings["allowed_cpu_util"] = _share(sum(each.busy for each in ours), sum(each.total for each in ours))
    return readings


def disk_readings(before: dict[str, Disk], now: dict[str, Disk], elapsed: float) -> Readings:
    """Give the busiest disk's share, the slowest disk's request time and what all disks read.

    >>> before, now = {"a": Disk(0, 0, 0, 0), "b": Disk(0, 0, 0, 0)}, {"a": Disk(1, 100, 4, 2), "b": Disk(0, 0, 0, 0)}
    >>> disk_readings(before, now, elapsed=2.0)
    {'disk_util': 0.5, 'disk_read_bytes_per_second': 50.0, 'disk_latency_seconds': 0.5}
    """
    spent = [now[disk] - before[disk] for disk in now.keys() & before.keys()]
    if not spent or elapsed <= 0:
        return {}
    waits = [each.request_seconds / each.requests for each in spent if each.requests > 0]
    return {
        "disk_util": min(1.0, max(each.busy_seconds for each in spent) / elapsed),
        "disk_read_bytes_per_second": sum(each.read_bytes for each in spent) / elapsed,
        "disk_latency_seconds": max(waits, default=None),
    }


def _share(part: float, whole: float) -> Reading:
    return min(1.0, max(0.0, part / whole)) if whole > 0 else None


def _processors() -> list[Processor]:
    processors = []
    for times in psutil.cpu_times(percpu=True):
        waiting = getattr(times, "iowait", 0.0)
        # Time of guests is part of the time of users.
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        processors.append(Processor(total - times.idle - waiting, waiting, total))
    return processors


def _disks() -> dict[str, Disk]:
    counters = psutil.disk_io_counters(perdisk=True) or {}
    return {
        name: Disk(
            getattr(each, "busy_time", 0) / 1000,
            each.read_bytes,
            each.read_count + each.write_count,
            (each.read_time + each.write_time) / 1000,
        )
        for name, each in counters.items()
        if not name.startswith(_NO_DISK) and Path("/sys/block", name).exists()  # else it is a partition
    }


def _memory() -> Readings:
    shared = psutil.disk_usage(_SHARED_MEMORY) if os.path.isdir(_SHARED_MEMORY) else None
    memory = psutil.virtual_memory()
    return {
        "memory_available_bytes": float(memory.available),
        "page_cache_bytes": float(memory.cached),
        "swap_used_bytes": float(psutil.swap_memory().used),
        "shm_used_share": shared.used / shared.total if shared and shared.total else None,
    }


def _counters() -> Readings:
    network = psutil.net_io_counters(pernic=True)
    return {
        "nic_errors_total": float(sum(nic.errin + nic.errout for nic in network.values())),
        "oom_kills_total": _counter(Path("/proc/vmstat"), "oom_kill"),
        "retransmits_total": _retransmits(Path("/proc/net/snmp")),
    }


def _counter(path: Path, name: str) -> Reading:
    """Read one `name value` line; None where there is none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)


def _retransmits(path: Path) -> Reading:
    try:
        rows = [line.split() for line in path.read_text().splitlines() if line.startswith("Tcp:")]
    except OSError:
        return None
    return float(dict(zip(rows[0], rows[1], strict=True))["RetransSegs"]) if len(rows) == 2 else None
