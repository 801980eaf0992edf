"""Numbers in words: the one way in which values of signals are written for people."""

import math
from collections.abc import Callable, Sequence

from schemas.signals import signal_named
from schemas.telemetry import Reading

_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
NAMED = 4
"""Names that are read out of a long list."""
FOLD = 1e6
"""Beyond so many times the old value, the new one says more than its multiple."""


def amount(name: str, value: Reading) -> str:
    """Write a value of a signal with its unit, in three significant digits.

    >>> amount("tokens_per_second", 1_020_000.0), amount("loader_share", 0.1834), amount("step_seconds", 1.0312)
    ('1.02M tokens/s', '18.3 %', '1.03 s')
    >>> amount("storage_latency_seconds", 0.004), amount("interval_seconds", 5422.0), amount("sm_clock_mhz", 1755.0)
    ('4 ms', '1 h 30 min', '1,755 MHz')
    >>> amount("memory_available_bytes", 8.66e11), amount("temperature_c", 84.25), amount("storage_retries_total", 0.0)
    ('866 GB', '84.2 °C', '0')
    >>> amount("loss", math.nan), amount("loss", None)
    ('NaN', 'absent')
    """
    if value is None:
        return "absent"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("infinite" if value > 0 else "minus infinite")
    unit = signal_named(name).unit
    write = _BY_UNIT.get(unit)
    return write(value) if write is not None else f"{_short(value)} {unit}".rstrip()


def change(name: str, before: Reading, after: Reading) -> str:
    """Write how a signal moved, with the relative change where it has a meaning.

    >>> change("tokens_per_second", 1.02e6, 0.69e6)
    '1.02M tokens/s → 690k tokens/s (−32 %)'
    >>> change("storage_retries_total", 0.0, 12.0)
    '0 → 12'
    """
    words = f"{amount(name, before)} → {amount(name, after)}".replace("-", "−")
    if before is None or after is None or not math.isfinite(before) or not math.isfinite(after) or before == 0:
        return words
    ratio = after / before
    percent = 100 * (ratio - 1) * (1 if before > 0 else -1)
    if abs(percent) < 1000:
        return f"{words} ({percent:+.0f} %)".replace("-", "−")
    return f"{words} (×{_short(ratio)})" if 0 < ratio < FOLD else words


def count(number: int, thing: str) -> str:
    """Write a number of things.

    >>> count(1, "rank"), count(3, "rank"), count(2, "hypothesis")
    ('1 rank', '3 ranks', '2 hypotheses')
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number} {thing[:-2]}es" if thing.endswith("is") else f"{number} {thing}s"


def step_words(step: int | None) -> str:
    """Write a step the way people read it.

    >>> step_words(18046), step_words(None)
    ('step 18,046', 'no step')
    """
    return "no step" if step is None else f"step {step:,}"


def _short(value: float) -> str:
    value = _three_digits(value)
    if abs(value) < 1e15:
        for scale, letter in _SCALES:
            if abs(value) >= scale:
                return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


def _three_digits(value: float) -> float:
    """Round before the scale is chosen: 999.7 is 1k, not 1e+03."""
    return float(f"{value:.3g}")


def _share(value: float) -> str:
    return f"{_short(100 * value)} %"


def _duration(seconds: float) -> str:
    size, sign = abs(seconds), "-" if seconds < 0 else ""
    if size >= 3600:
        return f"{sign}{int(size // 3600)} h {int(size % 3600 // 60)} min"
    if size >= 300:
        return f"{sign}{int(size // 60)} min {int(size % 60)} s"
    size = _three_digits(size)
    if size >= 1 or size == 0:
        return f"{sign}{size:.3g} s"
    return f"{sign}{1e3 * size:.3g} ms" if size >= 1e-3 else f"{sign}{1e6 * size:.3g} µs"


def _bytes(value: float) -> str:
    value = _three_digits(value)
    for scale, letter in _SCALES:
        if abs(value) >= scale:
            return f"{value / scale:.3g} {letter.upper() if letter != 'k' else letter}B"
    return f"{value:.3g} B"


_BY_UNIT: dict[str, Callable[[float], str]] = {
    "share": _share,
    "s": _duration,
    "bytes": _bytes,
    "bytes/s": lambda value: f"{_bytes(value)}/s",
    "MHz": lambda value: f"{value:,.0f} MHz",
    "Celsius": lambda value: f"{_three_digits(value):g} °C",
}


def some(names: Sequence[str], of: int = 0) -> str:
    """Name the first of many.

    Args:
        names: those that are known.
        of: how many there are, where that is more.

    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e", "f"]), some(["a"], 1200), some([])
    ('a, b', 'a, b, c, d and 2 more', 'a and 1,199 more', '')
    """
    shown = names[:NAMED]
    more = max(of, len(names)) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
