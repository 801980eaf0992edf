"""Series that need more than a factor: shares of time, latencies, space, and codes that stick."""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from schemas.telemetry import Reading
from streams.agents.finding import Happening
from streams.agents.gpu_readings import LOADED, throttles
from streams.agents.series.series import Series

Readings = dict[str, Reading]
Growth = Callable[[Series], float | None]
"""Gives by how much a counter grew since the look before; None at the first look, and where it began anew."""

_PROFILED = ("sm_active", "tensor_active", "hbm_active")
_BUSY = 0.5
_EVENT_FLAGS = {
    "power_cap": "throttle_sw_power_cap",
    "hw_slowdown": "throttle_hw_slowdown",
    "sw_thermal": "throttle_sw_thermal",
    "hw_thermal": "throttle_hw_thermal",
    "hw_power_brake": "throttle_hw_power_brake",
}
DERIVED = frozenset(
    {
        "node_cpu_seconds_total",
        "node_disk_io_time_seconds_total",
        "node_disk_read_time_seconds_total",
        "node_disk_write_time_seconds_total",
        "node_disk_reads_completed_total",
        "node_disk_writes_completed_total",
        "node_filesystem_size_bytes",
        "node_filesystem_avail_bytes",
        "node_infiniband_state_id",
        "node_boot_time_seconds",
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
        "DCGM_EXP_CLOCK_EVENTS_COUNT",
        "DCGM_EXP_XID_ERRORS_COUNT",
    }
)


class Codes(Struct):
    """The codes that stuck at the last look, by GPU; and when nodes started."""

    last: dict[str, int] = field(default_factory=dict)
    counts: dict[tuple[str, int], float] = field(default_factory=dict)
    boots: dict[str, float] = field(default_factory=dict)


def processors(series: Sequence[Series], growth: Growth) -> Readings:
    """Give busy share and waiting share of all processors of a node from their seconds by mode."""
    spent: dict[str, float] = {}
    cpus: set[str] = set()
    for one in series:
        grew = growth(one)
        cpus.add(one.labels.get("cpu", ""))
        if grew is not None:
            mode = one.labels.get("mode", "")
            spent[mode] = spent.get(mode, 0.0) + grew
    total = sum(spent.values())
    readings: Readings = {"cpus": float(len(cpus))} if cpus else {}
    if total > 0:
        waiting = spent.get("iowait", 0.0)
        readings["iowait"] = waiting / total
        readings["cpu_util"] = (total - waiting - spent.get("idle", 0.0)) / total
    return readings


def disks(series: Sequence[Series], growth: Growth, elapsed: float | None) -> Readings:
    """Give the busiest disk's share and the slowest disk's time of a request."""
    grown: dict[str, dict[str, float]] = {}
    for one in series:
        grew = growth(one)
        if grew is not None:
            grown.setdefault(one.labels.get("device", ""), {})[one.name] = grew
    readings: Readings = {}
    busy = [
        each["node_disk_io_time_seconds_total"] for each in grown.values() if "node_disk_io_time_seconds_total" in each
    ]
    if busy and elapsed:
        readings["disk_util"] = min(1.0, max(busy) / elapsed)
    latencies = [latency for each in grown.values() if (latency := _latency(each)) is not None]
    if latencies:
        readings["disk_latency_seconds"] = max(latencies)
    return readings


def _latency(grown: dict[str, float]) -> float | None:
    requests = grown.get("node_disk_reads_completed_total", 0.0) + grown.get("node_disk_writes_completed_total", 0.0)
    seconds = grown.get("node_disk_read_time_seconds_total", 0.0) + grown.get("node_disk_write_time_seconds_total", 0.0)
    return seconds / requests if requests > 0 else None


_LARGEST_MASK = 1 << 53


def gpu_flags(series: Sequence[Series]) -> Readings:
    """Give why the clocks of one GPU are low, from a mask of reasons or from counts of events in a window."""
    readings: Readings = {}
    for one in series:
        if one.name in {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"}:
            if 0 <= one.value < _LARGEST_MASK:
                readings |= throttles(int(one.value))
        elif one.name == "DCGM_EXP_CLOCK_EVENTS_COUNT":
            flag = _EVENT_FLAGS.get(one.labels.get("clock_event", ""))
            if flag is not None:
                readings[flag] = float(one.value > 0)
    return readings


def believable(readings: Readings) -> Readings:
    """Leave out what an exporter says by mistake or by design.

    Profiling fields read 0 on a busy GPU where another profiler holds the counters. A link slows down while idle.

    >>> believable({"gpu_util": 0.9, "sm_active": 0.0, "tensor_active": 0.0, "pcie_width": 16.0})
    {'gpu_util': 0.9, 'pcie_width': 16.0}
    >>> believable({"gpu_util": 0.0, "sm_active": 0.0, "pcie_generation": 1.0})
    {'gpu_util': 0.0, 'sm_active': 0.0}
    """
    used = readings.get("gpu_util")
    kept = dict(readings)
    if used is not None and used >= _BUSY and kept.get("sm_active") == 0.0:
        kept = {name: value for name, value in kept.items() if name not in _PROFILED}
    if used is None or used < LOADED:
        kept.pop("pcie_generation", None)
        kept.pop("pcie_width", None)
    return kept


_LARGEST_CODE = 1 << 31
_LONGEST_CODE = 10


def xid_events(gpu: str, readings: Readings, series: Sequence[Series], codes: Codes) -> list[Happening]:
    """Tell an Xid when the code that sticks changes, or a count in a window grows; the first look is history."""
    found: set[int] = set()
    said = readings.get("xid_last") or 0.0
    code = int(said) if 0 <= said < _LARGEST_CODE else 0
    if gpu in codes.last and code and code != codes.last[gpu]:
        found.add(code)
    if "xid_last" in readings:
        codes.last[gpu] = code
    for one in series:
        label = one.labels.get("xid", "")
        if one.name == "DCGM_EXP_XID_ERRORS_COUNT" and label.isdecimal() and len(label) < _LONGEST_CODE:
            key = (gpu, int(label))
            if one.value > codes.counts.get(key, one.value):
                found.add(int(label))
            codes.counts[key] = one.value
    return [
        Happening(event="xid", subject=gpu, data={"code": each}, text=f"the exporter reports Xid {each}")
        for each in sorted(found)
    ]
