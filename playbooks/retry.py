"""How one try ended, and when the next may follow.

An action or a sink only classifies what it met; one loop in `streams.acting.runner` repeats.
"""

from typing import Annotated

from msgspec import Meta, Struct


class Finished(Struct, frozen=True):
    """It was done; `detail` says what, for the record."""

    detail: str


class Delivered(Struct, frozen=True):
    """The message arrived."""

    detail: str = ""


class Retry(Struct, frozen=True):
    """It could not be done now.

    Attributes:
        reason: what stood in the way; holds no secret.
        after: seconds the other side asks us to wait; None where it says nothing.
    """

    reason: str
    after: float | None = None


class Refused(Struct, frozen=True):
    """It must not be done, or will never work; `reason` holds no secret."""

    reason: str


class Disabled(Refused, frozen=True):
    """The receiver wants nothing more, ever."""


Ending = Finished | Retry | Refused
Delivery = Delivered | Retry | Refused


class Schedule(Struct, frozen=True, kw_only=True):
    """Waits that grow by a factor up to a longest one, capped in number and in time.

    Attributes:
        tries: how often at most, the first included.
        first: seconds between the first try and the second.
        factor: by which each wait is longer than the one before.
        longest: seconds, the longest wait of our own choice.
        seconds: from the first try to the last, at most.

    >>> schedule = Schedule(tries=4, first=1.0, factor=3.0, longest=5.0, seconds=60.0)
    >>> [schedule.wait(tries, 0.0) for tries in (1, 2, 3, 4)]
    [1.0, 3.0, 5.0, None]
    >>> schedule.wait(1, 0.0, asked=20.0), schedule.wait(1, 0.0, asked=61.0)
    (20.0, None)
    """

    tries: Annotated[int, Meta(ge=1, le=100)] = 6
    first: Annotated[float, Meta(gt=0)] = 1.0
    factor: Annotated[float, Meta(ge=1, le=10)] = 3.0
    longest: Annotated[float, Meta(gt=0)] = 60.0
    seconds: Annotated[float, Meta(gt=0)] = 300.0

    def wait(self, tries: int, elapsed: float, asked: float | None = None) -> float | None:
        """Give the seconds until the next try, None when there shall be none.

        Args:
            tries: how often it was tried so far, at least once.
            elapsed: seconds since the first try.
            asked: seconds the other side wants; we wait at least that long.
        """
        if tries >= self.tries:
            return None
        own = min(self.longest, self.first * self.factor ** (tries - 1))
        wait = max(own, asked or 0.0)
        return wait if elapsed + wait <= self.seconds else None
