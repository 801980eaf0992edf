"""Drop what was seen before: every source counts its records, so a repetition shows in its number."""

import numpy as np
from msgspec import Struct

from detectors.base import Flags
from schemas.telemetry import Telemetry

WINDOW = 2048
"""Sequence numbers remembered below the highest one of a source."""
MOST_SOURCES = 4096


class Seen(Struct):
    """Sequence numbers of one source: a window below the highest."""

    top: int
    latest: float
    flags: Flags


def is_repeated(seen: dict[str, Seen], record: Telemetry) -> bool:
    """Tell whether a record of this source and number came before, and remember it.

    A number far below the highest is taken as repeated, unless the record is younger than anything the source has sent:
    then the source has started anew without saying so.
    """
    source = f"{record.node}\x1f{record.boot}"
    known = seen.get(source)
    if known is None:
        _forget_oldest(seen)
        known = seen[source] = Seen(top=-1, latest=-1.0, flags=np.zeros(WINDOW, dtype=np.bool_))
    if record.seq <= known.top and _was_seen(known, record.seq):
        if record.time <= known.latest:
            return True
        known.top = -1
        known.flags[:] = False
    _remember(known, record)
    return False


def _was_seen(known: Seen, seq: int) -> bool:
    return known.top - seq >= WINDOW or bool(known.flags[seq % WINDOW])


def _remember(known: Seen, record: Telemetry) -> None:
    if record.seq > known.top:
        gap = record.seq - known.top - 1
        if gap >= WINDOW:
            known.flags[:] = False
        elif gap:
            known.flags[np.arange(known.top + 1, record.seq) % WINDOW] = False
        known.top = record.seq
    known.flags[record.seq % WINDOW] = True
    known.latest = max(known.latest, record.time)


def _forget_oldest(seen: dict[str, Seen]) -> None:
    if len(seen) >= MOST_SOURCES:
        del seen[min(seen, key=lambda source: seen[source].latest)]
