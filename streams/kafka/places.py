"""Places in the feed, handed out so that no reader ever passes one that is still to come.

Several copies of the log are made side by side, each in an order of its own, and agree on the place of every record.
A copy may therefore know place 12 before place 11. It shows nothing above the last place below which it knows all.
"""

import heapq
import logging

_log = logging.getLogger(__name__)
HOLE_SECONDS = 30.0
"""A place that has not come by then is taken to belong to a record that the log no longer holds."""


class Ceiling:
    """The highest place that may be shown.

    Args:
        shown: the highest that was shown before; the copy knows everything up to it.
    """

    def __init__(self, shown: int) -> None:
        self.height = shown
        self._above: list[int] = []
        self._waiting_since: float | None = None
        self.holes = 0

    def start(self, known: int) -> None:
        """Everything the log holds has been copied: nothing up to `known` is still to come."""
        self.height = max(self.height, known)
        self._climb()

    def add(self, places: list[int], now: float) -> None:
        """Take note of places that were copied.

        Args:
            now: seconds of a clock that never goes back.

        >>> ceiling = Ceiling(10)
        >>> ceiling.add([12], 0.0); ceiling.height
        10
        >>> ceiling.add([11], 1.0); ceiling.height
        12
        """
        for place in places:
            if place > self.height:
                heapq.heappush(self._above, place)
        self._climb()
        if not self._above:
            self._waiting_since = None
        elif self._waiting_since is None:
            self._waiting_since = now
        elif now - self._waiting_since > HOLE_SECONDS:
            _log.warning("places %d to %d of the feed belong to nothing", self.height + 1, self._above[0] - 1)
            self.holes += 1
            self.height, self._waiting_since = self._above[0] - 1, None
            self._climb()

    def _climb(self) -> None:
        moved = False
        while self._above and self._above[0] <= self.height + 1:
            self.height = max(self.height, heapq.heappop(self._above))
            moved = True
        if moved:
            self._waiting_since = None
