"""What the node itself is doing: processors, memory, disks, network, from the operating system's counters."""

import os
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from schemas.telemetry import Reading
from streams.agents import kernel_counters as kernel
from streams.agents.finding import Sample
from streams.agents.kernel_counters import Disk, Processor
from streams.agents.small_file import text_or_none
from streams.clock import monotonic_seconds

_NO_DISK = ("loop", "ram", "zram", "sr", "fd")
_SATURATED = 0.95
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - it is looked at, nothing is put there
_TICKS = float(os.sysconf("SC_CLK_TCK"))

Readings = dict[str, Reading]


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
    readings: Readings = {"cpus": float(len(now)) if now else None, "load": os.getloadavg()[0]}
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
    return kernel.processors(text_or_none("/proc/stat") or "", _TICKS)


def _disks() -> dict[str, Disk]:
    found = kernel.disks(text_or_none("/proc/diskstats") or "")
    return {name: disk for name, disk in found if _is_disk(name)}


@lru_cache(maxsize=1024)
def _is_disk(name: str) -> bool:
    return not name.startswith(_NO_DISK) and os.path.exists(f"/sys/block/{name}")  # else it is a partition


def _memory() -> Readings:
    return {**kernel.memory(text_or_none("/proc/meminfo") or ""), "shm_used_share": _used_share(_SHARED_MEMORY)}


def _used_share(place: str) -> Reading:
    try:
        state = os.statvfs(place)
    except OSError:
        return None
    return 1.0 - state.f_bfree / state.f_blocks if state.f_blocks else None


def _counters() -> Readings:
    return {
        "nic_errors_total": kernel.interface_errors(text_or_none("/proc/net/dev") or ""),
        "oom_kills_total": kernel.line_of(text_or_none("/proc/vmstat") or "", "oom_kill"),
        "retransmits_total": kernel.retransmits(text_or_none("/proc/net/snmp") or ""),
    }
