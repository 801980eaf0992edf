"""When a line was printed: the time stamps of trainers, watchdogs, system logs and kernels, most of them incomplete."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

_LOOK_AT = 160
"""Characters at the beginning of a line in which a time stamp stands."""
_NEXT = 48
"""Characters after a stamp in which a second one stands, if the line was printed through another logger."""
_FULL = re.compile(
    r"20(?P<year>\d\d)-?(?P<month>[01]\d)-?(?P<day>[0-3]\d)[T ,_](?P<hms>[0-2]\d:[0-5]\d:[0-6]\d)"
    r"(?P<part>[.,]\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_CLOCK = re.compile(r"\d:\d\d:\d\d")
"""What all stamps have in them."""
_GLOG = re.compile(r"[EWIF](?P<md>\d{3,4}) (?P<hms>\d\d:\d\d:\d\d)(?P<part>\.\d{1,9})?")
_SYSLOG = re.compile(
    r"(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(?P<day>\d{1,2}) (?P<hms>\d\d:\d\d:\d\d)"
    r"(?: (?P<year>20\d\d))?"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_AHEAD = timedelta(days=1)


def moment(text: str, arrived: float, zone: tzinfo) -> float | None:
    """Read the last time stamp at the beginning of a line, the one nearest to the message; None without one.

    Args:
        text: the line.
        arrived: Unix seconds at which it was read; gives the year where the line does not.
        zone: of times that do not name theirs.

    >>> moment("[2026-01-12 07:40:11] iteration", 0.0, UTC)
    1768203611.0
    >>> moment("E303 00:15:01.5 ProcessGroupNCCL", 1741000000.0, UTC)
    1740960901.5
    >>> moment("no time", 0.0, UTC)
    """
    if _CLOCK.search(text, 0, _LOOK_AT) is None:
        return None  # most lines of many trainers: one look instead of three
    found = _FULL.search(text, 0, _LOOK_AT)
    if found is not None:
        found = _FULL.search(text, found.end(), found.end() + _NEXT) or found
        day = f"20{found[1]}-{found[2]}-{found[3]}T{found[4]}{_offset(found[6])}"
        inner = None if found[6] else _GLOG.search(text, found.end(), found.end() + _NEXT)
        return _glog(inner, arrived, zone) if inner else _seconds(day, zone, found[5])
    if found := _GLOG.search(text, 0, _LOOK_AT):
        return _glog(found, arrived, zone)
    found = _SYSLOG.search(text, 0, _LOOK_AT)
    return _syslog(found, arrived, zone) if found else None


def _glog(found: re.Match[str], arrived: float, zone: tzinfo) -> float | None:
    month, date = int(found["md"][:-2]), int(found["md"][-2:])
    return _without_year(month, date, found["hms"], found["part"], arrived, zone)


def _syslog(found: re.Match[str], arrived: float, zone: tzinfo) -> float | None:
    month, day = _MONTHS.index(found["name"]) + 1, int(found["day"])
    if found["year"]:
        return _seconds(f"{found['year']}-{month:02d}-{day:02d}T{found['hms']}", zone, None)
    return _without_year(month, day, found["hms"], None, arrived, zone)


def _offset(zone: str | None) -> str:
    return "" if not zone else "+00:00" if zone == "Z" else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"


def _without_year(month: int, day: int, hms: str, part: str | None, arrived: float, zone: tzinfo) -> float | None:
    """Take the last year in which that moment was not ahead of the reader's clock."""
    latest = datetime.fromtimestamp(arrived, UTC) + _AHEAD
    for year in (latest.year, latest.year - 1):
        seconds = _seconds(f"{year}-{month:02d}-{day:02d}T{hms}", zone, part)
        if seconds is not None and seconds <= latest.timestamp():
            return seconds
    return None


def _seconds(text: str, zone: tzinfo, part: str | None) -> float | None:
    begin = second(text, zone)
    return begin + float(f"0.{part[1:]}") if begin is not None and part else begin


@lru_cache(maxsize=512)
def second(text: str, zone: tzinfo) -> float | None:
    """Read a whole second in ISO's format; None where there is no such moment."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=zone)).timestamp()
