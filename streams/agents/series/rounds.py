"""Series that come in several deliveries: those of one scrape share one time, and are read together."""

from collections.abc import Iterable

from streams.agents.series.series import Series

PATIENCE_SECONDS = 6.0
"""From the first series of a scrape to its reading; a sender splits it over deliveries of up to five seconds."""
_MOST_ROUNDS = 5000


class Rounds:
    """Gathers series by their time until all of a scrape are there."""

    def __init__(self) -> None:
        self._rounds: dict[int, tuple[float, list[Series]]] = {}

    def add(self, series: Iterable[Series], now: float) -> None:
        """Take series; `now` is the time of their arrival."""
        for one in series:
            moment = int((now if one.time is None else one.time) * 1000)
            self._rounds.setdefault(moment, (now, []))[1].append(one)

    def due(self, now: float) -> list[list[Series]]:
        """Give the rounds that have waited long enough, oldest first."""
        ready = sorted(moment for moment, (since, _) in self._rounds.items() if now - since >= PATIENCE_SECONDS)
        if len(self._rounds) > _MOST_ROUNDS:
            ready = sorted(self._rounds)
        return [self._rounds.pop(moment)[1] for moment in ready]
