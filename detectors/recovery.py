"""Whether a run that was resumed is the run that failed: its values against those of the same steps before."""

import numpy as np
from msgspec import Struct

from detectors.base import Floats, Ints

FEWEST = 8
"""Steps that both must have, or the run before is carried on as a line."""
LINE = 64
"""Last steps of the run before that such a line goes through."""
BENT = 0.5
"""Share of what is worth an alarm that the line may fall within the steps compared: a steeper one is no forecast."""


class Equivalence(Struct, frozen=True):
    """How far two runs are apart.

    Attributes:
        apart: median difference, relative to the level before; negative where the resumed run is lower.
        limit: what it was held against: worth an alarm, and beyond chance.
        steps: steps compared.
        paired: the same steps were compared, and not a line through those before.
    """

    apart: float
    limit: float
    steps: int
    paired: bool

    @property
    def equal(self) -> bool:
        """Nothing says that it is another run."""
        return abs(self.apart) <= self.limit


def equivalence(
    steps: Ints, before: Floats, resumed_steps: Ints, resumed: Floats, worth: float = 0.02, sure: float = 5.0
) -> Equivalence | None:
    """Compare a resumed run with the one before, step by step where both have the same steps.

    A pair of losses at the same step differs by the chance of the batch at most, and by nothing where the data come in
    the same order; so a small difference shows in few steps, however steeply the loss falls.

    Args:
        steps: of the run before, growing; `before` has its values, in any unit.
        before: values, more than 0; NaN = not known.
        resumed_steps: of the resumed run; `resumed` has its values.
        resumed: likewise.
        worth: smallest relative difference worth an alarm.
        sure: standard errors that it has to pass as well.

    Returns:
        None where there is too little to compare, the line before is too steep to be carried on, or the run before had
        left its course in these very steps, so that nobody wants to be equal to it.

    >>> steps = np.arange(100, 160)
    >>> loss = 3.0 - 0.01 * (steps - 100)
    >>> same = equivalence(steps, loss, steps[30:50], loss[30:50])
    >>> other = equivalence(steps, loss, steps[30:50], loss[30:50] + 0.15)
    >>> same and same.equal, other and (round(other.apart, 3), other.equal)
    (True, (0.058, False))
    """
    known = {int(step): float(value) for step, value in zip(steps, before, strict=True) if value > 0}
    fresh = [(int(step), float(value)) for step, value in zip(resumed_steps, resumed, strict=True) if value > 0]
    pairs = [(known[step], value) for step, value in fresh if step in known]
    paired = len(pairs) >= FEWEST
    if not paired:
        pairs = _carried_on(known, fresh, worth)
    if len(pairs) < FEWEST:
        return None
    were, are = np.array(pairs).T
    apart = are / were - 1
    middle = float(np.median(apart))
    spread = 1.4826 * float(np.median(np.abs(apart - middle)))
    if not paired:  # a step of the line has no chance of its own; one of the run before has
        spread *= np.sqrt(2.0)
    limit = max(worth, sure * 1.2533 * float(spread) / len(pairs) ** 0.5)
    earlier = [known[step] for step in sorted(known) if step < fresh[0][0]][-LINE:]
    if paired and len(earlier) >= FEWEST and np.median(were) > (1 + limit) * np.median(earlier):
        return None
    return Equivalence(apart=middle, limit=limit, steps=len(pairs), paired=paired)


def _carried_on(known: dict[int, float], fresh: list[tuple[int, float]], worth: float) -> list[tuple[float, float]]:
    """Pair the resumed steps with a line through the last ones before; nothing where there is no such line."""
    last = sorted(known)[-LINE:]
    if len(last) < 2 * FEWEST or not fresh or fresh[0][0] <= last[-1] - FEWEST or fresh[0][0] > last[-1] + LINE:
        return []
    values = np.array([known[step] for step in last])
    half = len(last) // 2
    early, late = np.median(values[:half]), np.median(values[half:])
    apart = np.median(last[half:]) - np.median(last[:half])
    slope = float((late - early) / apart)
    if abs(slope) * (fresh[-1][0] - last[-1]) > BENT * worth * float(late):
        return []
    middle = float(np.median(last[half:]))
    return [(float(late) + slope * (step - middle), value) for step, value in fresh]


def distance(before: Floats, after: Floats) -> float:
    """Give the share of the data that is of other sources than before: half the sum of the differences of all shares.

    >>> round(distance(np.array([0.5, 0.5]), np.array([0.35, 0.65])), 3)
    0.15
    """
    return float(np.abs(after - before).sum() / 2)
