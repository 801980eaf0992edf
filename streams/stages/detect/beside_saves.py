"""Steps that are slow while a save is written beside them, and as before when it is done: that is the save's doing.

Such a step neither teaches nor alarms. The slowness has to come with the save's begin and to go with its end: what was
there before, begins in the middle or outlasts it is judged like any other.

A trainer that wants to save again while the save before is still written waits for its end, between two steps: that is
the saves' doing as well.
"""

import math
import statistics

from msgspec import Struct, field

LEARNED, KEPT = 10, 40
"""Steps that tell how long one usually is, and the most that are kept of them."""
SLOW = 1.05
"""Times the usual step from which one is slow."""
WITH_IT = 3
"""So many steps after its begin a save is still the first suspect, and so many usual ones in a row end its doing."""
LONG = 0.25
"""Share of the usual distance between steps by which one is longer where the job has waited for a save's end."""
SOON = 1.5
"""Usual distances after the save's end within which the step has to be done: it had only waited for that."""
AFTER = 2
"""So many steps after its end may still be slow."""
MOST_SECONDS = 300.0
"""What lasts longer is told, whatever it comes from, unless earlier saves have done the same for as long."""
KNOWN, LONGER = 2, 1.5
"""Saves that show how long one may slow the job down, and times the longest of them."""
SAVES = 16


class Window(Struct):
    """A save: Unix seconds of its begin and end, infinite while it lasts, and what came of it.

    Attributes:
        inside, after: steps that closed beside it, and after its end.
        fast: usual ones among them in a row.
        dragged: seconds that the slow ones took longer than usual, and `waited` those between steps.
        waits: the job may have to wait for its end: it does not block by itself.
        drags: it is slow now, because of the save.
    """

    step: int
    begin: float
    end: float = float("inf")
    inside: int = 0
    after: int = 0
    fast: int = 0
    dragged: float = 0.0
    waited: float = 0.0
    waits: bool = False
    drags: bool = False


class Drag(Struct):
    """What a save that has ended cost: seconds lost, those of them between steps, and seconds for which it lasted."""

    step: int
    time: float
    seconds: float
    lasted: float
    waited: float = 0.0


class BesideSaves(Struct):
    """Saves that may still slow a step down, the last usual steps, and what earlier saves did.

    Attributes:
        paces: seconds from step to step, of those between which nobody waited for a save.
        count: saves that have been judged.
        lately: slow steps in a row that no save explains.
    """

    windows: list[Window] = field(default_factory=list)
    usual: list[float] = field(default_factory=list)
    paces: list[float] = field(default_factory=list)
    drags: list[Drag] = field(default_factory=list)
    count: int = 0
    lately: int = 0


def begun(memory: BesideSaves, step: int, time: float, waits: bool = False) -> None:
    """A save begins; several ranks may say so of the same one. `waits`: see `Window`."""
    if not any(one.step == step and one.end > time for one in memory.windows):
        memory.windows = [*memory.windows[-3:], Window(step, time, waits=waits)]


def ended(memory: BesideSaves, step: int, time: float) -> None:
    """A save ends; the last word counts."""
    for one in memory.windows:
        if one.step == step:
            one.end = time


def explains(memory: BesideSaves, previous: float, time: float, seconds: float) -> bool:
    """Tell whether a step is slow because of a save that is written beside it.

    Args:
        memory: changed in place.
        previous: Unix seconds at which the step before ended.
        time: Unix seconds at which this one did.
        seconds: its length; not finite where nobody said.
    """
    if not math.isfinite(seconds):
        return False
    usual = statistics.median(memory.usual) if len(memory.usual) >= LEARNED else float("inf")
    slow = seconds >= SLOW * usual
    patience, fresh = _patience(memory), memory.lately < WITH_IT - 1
    found = [_step(one, previous, slow, fresh, time - patience) for one in memory.windows if one.begin < time]
    for one in [one for one in memory.windows if _is_done(one, previous, slow)]:
        _settle(memory, one, slow)
    if any(found):
        window = next(one for one in memory.windows if one.drags)
        window.dragged += seconds - usual
        return True
    memory.lately = memory.lately + 1 if slow else 0
    memory.usual = [*memory.usual[1 - KEPT :], seconds]
    return False


def has_waited(memory: BesideSaves, previous: float, time: float, interval: float, seconds: float) -> bool:
    """Tell whether the job has waited before a step for the end of an earlier save; to be asked before `explains`.

    Args:
        memory: changed in place.
        previous: Unix seconds at which the step before ended.
        time: Unix seconds at which this one did.
        interval: seconds from one to the other, per step.
        seconds: the step's own length, which does not hold the waiting; NaN where it is not known.
    """
    if not math.isfinite(interval):
        return False
    usual = statistics.median(memory.paces) if len(memory.paces) >= LEARNED else math.inf
    step = statistics.median(memory.usual) if len(memory.usual) >= LEARNED else math.inf
    longer = interval - usual
    for one in memory.windows:
        ends_here = one.waits and one.begin < previous < one.end <= time <= one.end + SOON * usual
        if ends_here and longer >= LONG * usual and not seconds > SLOW * step:
            one.dragged += longer
            one.waited += longer
            return True
    memory.paces = [*memory.paces[1 - KEPT :], interval]
    return False


def _patience(memory: BesideSaves) -> float:
    """Seconds for which a save may slow the job down."""
    known = [one.lasted for one in memory.drags if one.seconds > 0]
    return max([MOST_SECONDS, *(LONGER * one for one in known)]) if len(known) >= KNOWN else MOST_SECONDS


def _step(window: Window, previous: float, slow: bool, fresh: bool, oldest: float) -> bool:
    """Take a step that ends after the begin of a save; tell whether the save is why it is slow.

    Steps that were slow before it are none of its doing: then they are not `fresh`. Nor are those of a save that began
    before `oldest`.
    """
    if window.end > previous:
        window.inside += 1
    else:
        window.after += 1
    window.fast = 0 if slow else window.fast + 1
    if window.fast >= WITH_IT or window.after > AFTER or window.begin < oldest:
        window.drags = False
    elif slow and fresh and window.inside <= WITH_IT and not window.after:
        window.drags = True
    return slow and window.drags


def _is_done(window: Window, previous: float, slow: bool) -> bool:
    """A save has been judged when a usual step follows its end, or too many slow ones."""
    return window.end <= previous and window.after > 0 and (not slow or window.after > AFTER)


def _settle(memory: BesideSaves, window: Window, slow: bool) -> None:
    """Note what a save did; what outlasts it was not its doing."""
    memory.windows.remove(window)
    memory.count += 1
    lost = window.waited if slow else window.dragged
    drag = Drag(window.step, window.begin, lost, window.end - window.begin, window.waited)
    memory.drags = [*memory.drags[1 - SAVES :], drag]
