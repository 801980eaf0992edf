"""Numbers as logs print them: with commas, suffixes, units, percent signs, as NaN, or as a pair of now and mean."""

import re

from schemas.telemetry import Reading

_UNITS = {
    "": 1.0,
    "%": 0.01,
    "k": 1e3,
    "M": 1e6,
    "B": 1e9,
    "T": 1e12,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
    "ms": 1e-3,
    "s": 1.0,
    "TFLOPS": 1.0,
}
_DIGITS = frozenset("0123456789")
_SHAPE = re.compile(r"([+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Z%]*)")


def number(text: str) -> Reading:
    """Read a number; None where there is none.

    >>> number("2.117073E+00"), number("26,668"), number("27.8M"), number("14.03%"), number("nan")
    (2.117073, 26668.0, 27800000.0, 0.1403, nan)
    >>> number("49.66GiB(52.28%)") == 49.66 * 2**30, number("13372.8/13364.7"), number("abc")
    (True, 13372.8, None)
    """
    if text[-1:] in _DIGITS and "," not in text and "/" not in text:
        try:
            return float(text)
        except ValueError:
            return None
    return _with_unit(text)


def _with_unit(text: str) -> Reading:
    word = text.strip().lower()
    if word.lstrip("+-") in {"nan", "inf", "infinity"}:
        return float(word)
    found = _SHAPE.match(text.strip())
    if found is None or found[2] not in _UNITS:
        return None
    return float(found[1].replace(",", "")) * _UNITS[found[2]]


def whole(text: str) -> int | None:
    """Read a whole number that can count something; logs print large ones as `1.82e+4` or `4.000`.

    >>> whole("1,034"), whole("4.000"), whole("-1"), whole("nan"), whole("1e99")
    (1034, 4, None, None, None)
    """
    value = number(text)
    return int(value) if value is not None and 0 <= value <= 1 << 53 else None
