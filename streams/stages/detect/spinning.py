"""GPUs that wait in a collective: they say that they are busy, and get far less done than in training.

A kernel that spins on a flag keeps a GPU at 100 %. Without a step, that tells a job that hangs from one that loads,
compiles, saves or evaluates, whose GPUs idle or work. A rank that saves alone while the others wait for it looks nearly
the same, but for its own GPU, which idles: so it speaks early where the job announces its pauses, or where the ranks
that did not end the step are known, and later where neither is so and the GPUs' units were seen at rest.
"""

import statistics

from msgspec import Struct

from schemas.telemetry import Reading, SampleFrame, is_finite
from schemas.wording import amount
from streams.stages.detect import phases
from streams.stages.detect.memory import Attempt, Spinning, Work
from streams.stages.detect.participants import left_behind

BUSY = 0.9
"""Least use of the GPUs, as a mean over a node."""
IDLE = 0.5
"""A GPU that is used less is not in a collective: its rank does something on the host."""
LITTLE = {"power_watts": 0.75, "sm_active": 0.5, "tensor_active": 0.25, "hbm_active": 0.35}
"""What tells how much a busy GPU gets done, and the share of its usual level below which it does not compute."""
LEARNING = 6
"""Samples of training from which a usual level is known."""
WEIGHT = 1 / 64


class Patience(Struct, frozen=True):
    """A standstill with spinning GPUs is called after these seconds, usual steps, and times the longest pause."""

    seconds: float
    steps: float
    pauses: float


SHORT, LONG = Patience(20.0, 16.0, 2.0), Patience(60.0, 32.0, 3.0)


def take(attempt: Attempt, frame: SampleFrame) -> None:
    """Take what a node says of its GPUs, without waiting for the others: a standstill is urgent.

    Args:
        attempt: that runs.
        frame: of any kind; those of GPUs are looked at.
    """
    if frame.of != "gpu" or attempt.progress is None or attempt.settled is None:
        return
    utils = [use if is_finite(use) else None for use in frame.values.get("gpu_util", [])]
    used = [use for use in utils if use is not None]
    if not used:
        return
    known, done = attempt.spinning, _done(frame, utils)
    if frame.time <= attempt.progress + _usual_step(attempt):
        _learn(known, done)
        if frame.node not in known.seen:
            known.seen.append(frame.node)
        return
    for name, level in done.items():
        if name in known.work:
            known.work[name].now = level
    known.nodes[frame.node] = statistics.fmean(used) >= BUSY and _is_little(known, done)
    known.idled = known.idled or _idles(attempt, frame, utils)


def calls(attempt: Attempt, age: float) -> bool:
    """Tell whether a standstill of so many seconds that nothing explains is a hang already.

    Args:
        attempt: that runs.
        age: seconds without a step.
    """
    known = attempt.spinning
    if not _spins(known) or age < limit(attempt):
        return False
    return _all_spin(known) and (_announces(attempt) or _stopped_known(attempt) or _is_measured(known))


def limit(attempt: Attempt) -> float:
    """Give the seconds after which it would be called."""
    patience = SHORT if _announces(attempt) or _stopped_known(attempt) else LONG
    return max(patience.seconds, patience.steps * _usual_step(attempt), patience.pauses * attempt.longest)


def forget(attempt: Attempt) -> None:
    """The job goes on: what its GPUs did meanwhile has passed."""
    known = attempt.spinning
    if known.nodes:
        known.nodes, known.idled = {}, False


def words(attempt: Attempt) -> str:
    """Say that the GPUs spin, "" where they do not."""
    known = attempt.spinning
    if not _spins(known):
        return ""
    name, work = next((name, known.work[name]) for name in LITTLE if name in known.work)
    what = "" if name == "power_watts" else f"{name} of "
    return f"; its GPUs are busy at {what}{amount(name, work.now)}, usually {amount(name, work.usual)}"


def _announces(attempt: Attempt) -> bool:
    """It has told of a pause; a warm-up, in which steps go on, is none."""
    told = [*attempt.phases.ended, *attempt.phases.open.values()]
    return attempt.saves.last_step >= 0 or any(phase.name not in phases.STEPPING for phase in told)


def _spins(known: Spinning) -> bool:
    """All nodes that have spoken since the last step, and there are some."""
    return bool(known.nodes) and all(known.nodes.values())


def _all_spin(known: Spinning) -> bool:
    """Every node has spoken, and none has shown an idle GPU: whoever saves or loads alone would have one."""
    return not known.idled and known.nodes.keys() >= set(known.seen)


def _stopped_known(attempt: Attempt) -> bool:
    """The ranks are known that did not end the step; the first rank may be saving before it says so."""
    ranks = left_behind(attempt.participants)
    return bool(ranks) and 0 not in ranks


def _is_measured(known: Spinning) -> bool:
    """Units, tensor cores or memory were seen at rest: little power alone may be a model that generates."""
    return any(_is_known(work) for name, work in known.work.items() if name != "power_watts")


def _done(frame: SampleFrame, utils: list[float | None]) -> dict[str, float]:
    """How much the busy GPUs of a node get done, as means."""
    busy = [use is not None and use >= BUSY for use in utils]
    done = {}
    for name in LITTLE:
        readings: list[Reading] = frame.values.get(name, [])
        told = [one for one, is_busy in zip(readings, busy, strict=False) if is_busy and is_finite(one)]
        if told:
            done[name] = statistics.fmean(one for one in told if one is not None)
    return done


def _is_little(known: Spinning, done: dict[str, float]) -> bool:
    """Everything that is seen, and something is, says so."""
    usual = {name: known.work[name].usual for name in done if name in known.work and _is_known(known.work[name])}
    return bool(usual) and all(done[name] < LITTLE[name] * level for name, level in usual.items())


def _is_known(work: Work) -> bool:
    return work.learned >= LEARNING and work.usual > 0


def _idles(attempt: Attempt, frame: SampleFrame, utils: list[float | None]) -> bool:
    """Some GPU idles, of another rank than those that did not end the step."""
    idle = {place for place, use in enumerate(utils) if use is not None and use < IDLE}
    if not idle:
        return False
    left = left_behind(attempt.participants)
    return any(place >= len(frame.ranks) or frame.ranks[place] not in left for place in idle)


def _usual_step(attempt: Attempt) -> float:
    usual = attempt.stalled.typical[0] if attempt.stalled is not None else float("nan")
    return float(usual) if usual == usual else float("inf")


def _learn(known: Spinning, done: dict[str, float]) -> None:
    for name, level in done.items():
        work = known.work.setdefault(name, Work(usual=level))
        work.learned += 1
        work.usual += max(WEIGHT, 1.0 / work.learned) * (level - work.usual)
