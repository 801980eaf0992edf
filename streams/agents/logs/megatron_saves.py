"""Saves of Megatron-LM: how long they took, and how long training stood still for one in the background."""

from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_MOST = 64
"""Saves that began and were not heard of again."""
Data = dict[str, float | int | str]


class Saves:
    """Follows the saves of one log."""

    def __init__(self) -> None:
        self._begun: dict[int, float] = {}
        self._paused: dict[int, float] = {}
        self._saved: int | None = None

    def told(self, word: str, step: int, line: Line) -> Sequence[Finding]:
        """Take a line: `saving`, `scheduled`, which lets training go on, or `saved`."""
        now = line.moment
        if word == "saving":
            while len(self._begun) >= _MOST:
                self._begun.pop(next(iter(self._begun)))
            self._begun[step], self._saved = now, None
            return [Happening(event="checkpoint.begin", data={"step": step, "mode": "sync"}, time=line.time)]
        if word == "scheduled":
            if step in self._begun:
                self._paused = {step: now - self._begun[step]}
            return []
        return [self._end(step, now, line)]

    def timed(self, seconds: float, line: Line) -> Sequence[Finding]:
        """Take the time of a timer, for a save whose two lines came at once."""
        if self._saved is None:
            return []
        data: Data = {"step": self._saved, "mode": "sync", "seconds": seconds, "pause_seconds": seconds}
        self._saved = None
        return [Happening(event="checkpoint.end", data=data, time=line.time)]

    def _end(self, step: int, now: float, line: Line) -> Happening:
        spent, paused = now - self._begun.pop(step, now), self._paused.pop(step, None)
        data: Data = {"step": step, "mode": "sync" if paused is None else "async"}
        if spent > 0:
            data["seconds"] = round(spent, 3)
            if paused is None or paused > 0:
                data["pause_seconds"] = round(spent if paused is None else paused, 3)
        elif paused is None:
            self._saved = step  # both lines came at once: the timer's line may tell
        return Happening(event="checkpoint.end", data=data, time=line.time)
