"""GPUs that wait in a collective: they say that they are busy, and draw far less power than in training.

A kernel that spins on a flag keeps a GPU at 100 %. Without a step, that tells a job that hangs from one that loads,
compiles, saves or evaluates, whose GPUs idle or work. A rank that saves alone while the others wait for it looks the
same; so it speaks only where the job announces its pauses.
"""

import statistics

from schemas.telemetry import SampleFrame, is_finite
from schemas.wording import amount
from streams.stages.detect.memory import Attempt, Spinning

BUSY = 0.9
"""Least use of the GPUs, as a mean over a node."""
LITTLE = 0.75
"""Share of the usual power below which busy GPUs do not compute."""
LEARNING = 6
"""Samples of training from which the usual power is known."""
WEIGHT = 1 / 64
FLOOR_SECONDS, FACTOR, LONGEST = 20.0, 16.0, 2.0
"""A standstill with spinning GPUs is called after these seconds, so many usual steps, so often the longest pause."""


def take(attempt: Attempt, frame: SampleFrame) -> None:
    """Take what a node says of its GPUs, without waiting for the others: a standstill is urgent.

    Args:
        attempt: that runs.
        frame: of any kind; those of GPUs are looked at.
    """
    if frame.of != "gpu" or attempt.progress is None or attempt.settled is None:
        return
    util, power = _means(frame)
    if util is None:
        return
    known = attempt.spinning
    if frame.time <= attempt.progress + _usual_step(attempt):
        if power is not None:
            _learn(known, power)
        return
    knows = power is not None and known.usual is not None and known.learned >= LEARNING
    known.nodes[frame.node] = knows and util >= BUSY and (power or 0.0) < LITTLE * (known.usual or 0.0)
    known.power = power or 0.0


def calls(attempt: Attempt, age: float) -> bool:
    """Tell whether a standstill of so many seconds that nothing explains is a hang already.

    Args:
        attempt: that runs.
        age: seconds without a step.
    """
    announces = bool(attempt.phases.ended or attempt.phases.open) or attempt.saves.last_step >= 0
    return announces and _spins(attempt.spinning) and age >= limit(attempt)


def limit(attempt: Attempt) -> float:
    """Give the seconds after which it would be called."""
    return max(FLOOR_SECONDS, FACTOR * _usual_step(attempt), LONGEST * attempt.longest)


def words(attempt: Attempt) -> str:
    """Say that the GPUs spin, "" where they do not."""
    usual = attempt.spinning.usual
    if not _spins(attempt.spinning) or usual is None:
        return ""
    now = amount("power_watts", attempt.spinning.power)
    return f"; its GPUs are busy at {now}, usually {amount('power_watts', usual)}"


def _spins(known: Spinning) -> bool:
    """All nodes that have spoken since the last step, and there are some."""
    return bool(known.nodes) and all(known.nodes.values())


def _means(frame: SampleFrame) -> tuple[float | None, float | None]:
    """Mean use of a node's GPUs, and mean power of those that are busy; None where nobody says so."""
    utils, powers = frame.values.get("gpu_util", []), frame.values.get("power_watts", [])
    used = [float(one) for one in utils if one is not None and is_finite(one)]
    drawn = [
        float(watts)
        for use, watts in zip(utils, powers, strict=False)
        if use is not None and is_finite(use) and use >= BUSY and watts is not None and is_finite(watts)
    ]
    return (statistics.fmean(used) if used else None), (statistics.fmean(drawn) if drawn else None)


def _usual_step(attempt: Attempt) -> float:
    usual = attempt.stalled.typical[0] if attempt.stalled is not None else float("nan")
    return float(usual) if usual == usual else float("inf")


def _learn(known: Spinning, power: float) -> None:
    known.learned += 1
    usual = known.usual
    share = max(WEIGHT, 1.0 / known.learned)
    known.usual = power if usual is None else usual + share * (power - usual)
