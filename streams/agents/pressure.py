"""How long work waited for processors, memory and I/O, from the kernel's pressure counters."""

from collections.abc import Sequence
from pathlib import Path

from schemas.telemetry import Reading
from streams.agents.finding import Sample
from streams.agents.small_file import text_or_none
from streams.clock import monotonic_seconds

_SIGNALS = {
    ("cpu", "some"): "pressure_cpu",
    ("memory", "some"): "pressure_memory",
    ("memory", "full"): "pressure_memory_full",
    ("io", "some"): "pressure_io",
    ("io", "full"): "pressure_io_full",
}


class Pressure:
    """Gives the share of the time since the look before; nothing at the first, and nothing on kernels without it.

    Args:
        root: where /proc is.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._files = {resource: str(root / "proc/pressure" / resource) for resource in ("cpu", "memory", "io")}
        self._before, self._looked = self._read(), monotonic_seconds()

    def __call__(self) -> Sequence[Sample]:
        """Look once."""
        now, looked = self._read(), monotonic_seconds()
        readings = shares(self._before, now, looked - self._looked)
        self._before, self._looked = now, looked
        return [Sample(of="node", values={name: [value] for name, value in readings.items()})] if readings else []

    def _read(self) -> dict[str, float]:
        totals: dict[str, float] = {}
        for resource, file in self._files.items():
            totals |= stalled_seconds(resource, text_or_none(file) or "")  # older kernels have none
        return totals


def stalled_seconds(resource: str, text: str) -> dict[str, float]:
    r"""Read one file of the kernel.

    >>> stalled_seconds("io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=1000000\n")
    {'pressure_io': 2.5, 'pressure_io_full': 1.0}
    """
    found = {}
    for line in text.splitlines():
        words = line.split()
        name = _SIGNALS.get((resource, words[0])) if words else None
        total = words[-1].partition("=")[2] if words else ""
        if name and total.isdecimal():
            found[name] = int(total) / 1e6
    return found


def shares(before: dict[str, float], now: dict[str, float], elapsed: float) -> dict[str, Reading]:
    """Give the share of the time between two looks.

    >>> shares({"pressure_io": 1.0}, {"pressure_io": 1.5, "pressure_cpu": 3.0}, 2.0)
    {'pressure_io': 0.25}
    """
    if elapsed <= 0:
        return {}
    return {name: min(1.0, max(0.0, (now[name] - before[name]) / elapsed)) for name in now if name in before}
