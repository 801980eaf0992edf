"""Which of the progress bars in a log is the training's: evaluations and loading draw bars of their own."""

import re

_BAR = re.compile(r"(?:^|\D)\d{1,3}%\|?.{0,400}?(\d{1,12})/(\d{1,12}) \[")
_DESCRIBED = re.compile(r"[A-Za-z][\w ()=./-]{0,80}:$")
_HOST = re.compile(r"\S{0,40}\d\S{0,40}:")
"""A launcher's prefix: one word with a number in it."""
_LOOK_BEFORE = 90
_MOST_BARS = 16


class TrainingBar:
    """Knows the step of a Hugging Face log.

    Bars are told apart by their totals, for nothing else is on them. That of the training is the one that a loss
    follows, and before the first loss the one that came first. Bars with a description are of something else.

    Attributes:
        at: step of the training's bar; None where there is none in the log.
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._last = self._training = -1

    def look(self, text: str) -> None:
        """Take the bars of one line."""
        for bar in _BAR.finditer(text):
            before = text[max(0, bar.start() - _LOOK_BEFORE) : bar.start() + 1].strip()
            if _described(before):
                continue
            self._last = int(bar[2])
            if len(self._places) < _MOST_BARS or self._last in self._places:
                self._places[self._last] = int(bar[1])

    def at_loss(self) -> int | None:
        """Give the step of a loss, which follows the training's bar: one that is complete may be an evaluation's."""
        place = self._places.get(self._last)
        if self._training < 0 or (place is not None and place < self._last):
            self._training = self._last if place is not None else self._training
        return self._places.get(self._training)

    def at_evaluation(self) -> int | None:
        """Give the step of an evaluation."""
        if self._training >= 0:
            return self._places.get(self._training)
        return next(iter(self._places.values()), None)


def _described(before: str) -> bool:
    """Tell whether words before a bar say what it is of.

    >>> _described("Loading checkpoint shards:"), _described("[rank0]:"), _described("n05:"), _described("")
    (True, False, False, False)
    """
    found = _DESCRIBED.search(before)
    return found is not None and _HOST.fullmatch(found[0]) is None
