"""One source's clock that leaps ahead: the time it skips is no silence of the others, who speak on by the right one.

After a leap the next word of another source decides: by the old time, the leap was one clock's alone; by the new time,
or where nobody else speaks, there was indeed nothing to be heard in between.
"""

from msgspec import Struct

LEAST_SECONDS, TIMES = 60.0, 5.0
"""So far one record moves the stream's clock in a leap, and so many times as far as the usual distance of words."""
PATIENCE_SECONDS = 30.0
"""So long after it nobody is called silent before another source has spoken."""


class Leap(Struct):
    """The source that moved the stream's clock so far at once, when it had spoken before, and to what time.

    All times in Unix seconds.
    """

    node: str
    before: float
    to: float


def noted(known: Leap | None, node: str, time: float, clock: float, before: float, usual: float) -> Leap | None:
    """Give the leap that is in question once a source has spoken.

    Args:
        known: before.
        node: that speaks.
        time: of its word, Unix seconds.
        clock: the stream's, before that word.
        before: when it last spoke.
        usual: seconds between two words of the source that speaks least often; infinite where that is not known.
    """
    if known is None:
        return Leap(node, before, time) if time - clock > max(LEAST_SECONDS, TIMES * usual) else None
    return known if node == known.node and time <= known.to + PATIENCE_SECONDS else None


def is_alone(known: Leap | None, node: str, time: float) -> bool:
    """Tell whether a word of another source shows that the leap was one clock's alone.

    >>> leap = Leap("n1", before=1000.0, to=1300.0)
    >>> is_alone(leap, "n2", 1003.0), is_alone(leap, "n2", 1301.0)
    (True, False)
    """
    return known is not None and node != known.node and time < known.to - LEAST_SECONDS / 2
