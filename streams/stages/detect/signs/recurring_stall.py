"""Single steps that are long again and again, all by the same part of the work."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from detectors.base import Floats
from schemas.wording import amount, count, step_words
from streams.stages.detect.derive import OWN_PARTS, ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

WINDOW = 200
"""Steps that are looked back on."""
LEARNED = 20
LONG = 1.3
"""Times the usual step from which a step has stalled."""
EXPLAINS = 0.5
"""Share of the excess that a part has to hold."""
FEWEST, FEWEST_GRAVE = 5, 3
SHARE, GRAVE = 0.03, 0.10
"""Share of the time lost from which stalls count: so many of them, or fewer where it is grave."""
CROWD = 0.35
"""Share of the steps above which long steps are a pattern of the job and no stalls."""
CLEAR, CLEARER = 3.0, 5.0
"""Times the spread of the other steps by which stalls have to stand out: a long tail is no stall. The larger counts for
what grows with the length of sequences and comes at no fixed distance: more to do is no stall either."""
GROWS = ("compute", "h2d", "host_prep")
"""Parts of the work that take longer where there is more to do."""
IN_A_ROW = 3
"""So many long steps in a row are another level and no stalls."""
ALONE, BESIDE = 1.15, 0.25
"""Times the usual step from which one has stalled for a single rank, whose peers have at most so much of its excess."""
FEWEST_ALONE, RANKS_ALONE, SHARE_ALONE = 6, 4, 0.01
"""Such stalls that count although little time is lost: so many, of so many ranks in turn, and so much of the time."""
PROGRAMS = ("compute", "host_prep")
"""Parts of the work in which a program that stops is seen."""
CALM = 3.0
"""Times the usual distance without another stall until it is over."""


class Stall(Struct):
    """One long step."""

    step: int
    time: float
    excess: float
    part: str
    rank: int | None


class RecurringStallMemory(Struct):
    """The last steps, the last readings of every part, and the stalls among them.

    Attributes:
        seconds: length of the last steps.
        parts: part -> the same of the slowest rank's part.
        alone: stalls of single ranks among the last steps, those that are slight included.
        told: step of the first stall of the open finding, None where none is open.
        evaluated: the step before brought the loss of an evaluation.
    """

    seconds: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)
    stalls: list[Stall] = field(default_factory=list)
    told: int | None = None
    part: str = ""
    attempt: int = 0
    evaluated: bool = False
    alone: list[Stall] = field(default_factory=list)


class RecurringStall(Sign[RecurringStallMemory]):
    """Find stalls that come back: a loader that starves once per pass over its workers, collections, slow gathers."""

    name = "recurring_stall"
    memory = RecurringStallMemory

    def step(self, memory: RecurringStallMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Judge one step; those inside a legitimate phase are left out."""
        if memory.attempt != scene.run:
            _begin(memory, scene.run)
        seconds = closed.job.get("step_seconds")
        planned, memory.evaluated = _is_planned(memory, closed), "valid_loss" in closed.readings
        if phase or planned or seconds is None:
            return
        stall, alone = self._stalls(memory, scene, closed, seconds)
        _remember(memory, closed, seconds)
        memory.stalls = [one for one in memory.stalls if one.step > closed.step - WINDOW]
        memory.alone = [*(one for one in memory.alone if one.step > closed.step - WINDOW), *([alone] if alone else [])]
        if stall is not None:
            memory.stalls.append(stall)
            _settle_on_new_level(memory)
            yield from self._recur(memory, scene.attempt.announced.loader_workers)
        if alone is not None:
            yield from self._recur_alone(memory)
        elif stall is None and memory.told is not None:
            yield from self._calm(memory, closed.step)

    def _stalls(
        self, memory: RecurringStallMemory, scene: Scene, closed: ClosedStep, seconds: float
    ) -> tuple[Stall | None, Stall | None]:
        """Give the step as a stall if it is one, and as the stall of a single rank if it is that."""
        usual = float(np.median(memory.seconds)) if len(memory.seconds) >= LEARNED // 4 else np.inf
        if seconds < ALONE * usual:
            return None, None
        part, row = _explaining(memory, closed, seconds - usual)
        place = int(np.nanargmax(row)) if row is not None else -1
        rank = scene.attempt.participants.ranks[place] if row is not None else None
        stall = Stall(closed.step, closed.time, seconds - usual, part, rank)
        alone = row is not None and part in PROGRAMS and _is_alone(row, memory.parts[f"{part}_seconds"])
        alone = alone and not _has_more_to_do(closed, place)
        return stall if seconds >= LONG * usual else None, stall if alone else None

    def _recur(self, memory: RecurringStallMemory, workers: int) -> Iterator[Seen]:
        parts = Counter(one.part for one in memory.stalls if one.part)
        if not parts or len(memory.seconds) < LEARNED:
            return
        part = memory.part if memory.told is not None else parts.most_common(1)[0][0]
        stalls = [one for one in memory.stalls if one.part == part]
        held = [one for one in stalls if one.step > memory.stalls[-1].step - len(memory.seconds)]
        lost = sum(one.excess for one in held) / max(sum(memory.seconds), 1e-9)
        enough = (len(stalls) >= FEWEST and lost >= SHARE) or (len(stalls) >= FEWEST_GRAVE and lost >= GRAVE)
        crowded = len(memory.stalls) > CROWD * len(memory.seconds)
        if memory.told is None and (not enough or crowded or not _stand_out(memory, stalls, LONG)):
            return
        if memory.told is None:
            memory.told, memory.part = stalls[0].step, part
            yield self._told(memory, stalls, lost, workers if part == "loader" else 0)

    def _recur_alone(self, memory: RecurringStallMemory) -> Iterator[Seen]:
        """Stalls of one rank after the other are no jitter, also where they cost little: a program stops at times."""
        part = Counter(one.part for one in memory.alone).most_common(1)[0][0]
        stalls = [one for one in memory.alone if one.part == part]
        often = len(stalls) >= FEWEST_ALONE and len({one.rank for one in stalls}) >= RANKS_ALONE
        if memory.told is not None or not often or len(memory.alone) > CROWD * len(memory.seconds):
            return
        lost = sum(one.excess for one in stalls) / max(sum(memory.seconds), 1e-9)
        if lost >= SHARE_ALONE and _stand_out(memory, stalls, ALONE):
            memory.told, memory.part = stalls[0].step, part
            yield self._told(memory, stalls, lost, 0)

    def _told(self, memory: RecurringStallMemory, stalls: list[Stall], lost: float, workers: int) -> Seen:
        first = stalls[0]
        period = _period(stalls)
        usual, excess = float(np.median(memory.seconds)), float(np.median([one.excess for one in stalls]))
        ranks = {one.rank for one in stalls if one.rank is not None}
        how = f"every {period} steps" if period else f"{count(len(stalls), 'time')} so far"
        how += " (as many as a loader has workers)" if period and period == workers else ""
        return Seen(
            sign=self.name,
            again=str(memory.told),
            part=memory.part,
            onset_time=first.time,
            onset_step=first.step,
            before=usual,
            after=usual + excess,
            numbers={
                "stalls": len(stalls),
                "lost_share": lost,
                "period": period,
                "ranks": len(ranks),
                **({"loader_workers": workers} if workers else {}),
            },
            text=(
                f"steps stall {how} since {step_words(first.step)}: {amount('step_seconds', usual + excess)}, not "
                f"{amount('step_seconds', usual)}, {memory.part} explains it, {lost:.0%} of the time"
            ),
        )

    def _calm(self, memory: RecurringStallMemory, step: int) -> Iterator[Seen]:
        stalls = sorted((*memory.stalls, *memory.alone), key=lambda one: one.step)
        steps = sorted({one.step for one in stalls if one.part == memory.part})
        usual = float(np.median(np.diff(steps))) if len(steps) > 1 else 0.0
        if steps and step - steps[-1] <= max(CALM * usual, 2 * LEARNED):
            return
        last = [one for one in stalls if one.part == memory.part][-1:]
        yield Seen(
            sign=self.name,
            again=str(memory.told),
            part=memory.part,
            onset_time=last[0].time if last else 0.0,
            over=True,
            end_step=last[0].step if last else None,
        )
        memory.told, memory.part = None, ""


def _is_planned(memory: RecurringStallMemory, closed: ClosedStep) -> bool:
    """A step that evaluates or saves is long by plan, also where nobody has announced it.

    A log that repeats the last evaluation's loss in every line says nothing of when it was.
    """
    evaluates = "valid_loss" in closed.readings and not memory.evaluated
    return evaluates or closed.job.get("checkpoint_seconds", 0.0) > 0


def _is_alone(row: Floats, usual: list[float]) -> bool:
    """Tell whether one rank holds the excess and the next one next to nothing of it."""
    given = np.sort(row[np.isfinite(row)])
    longest = float(np.median(usual))
    return len(given) > 1 and float(given[-2]) - longest <= BESIDE * (float(given[-1]) - longest)


def _has_more_to_do(closed: ClosedStep, place: int) -> bool:
    """Tell whether a rank's batch is larger than those of the others, where ranks say how large theirs are."""
    rows = [closed.ranks[name] for name in ("tokens", "sequence_length") if name in closed.ranks]
    return any(float(row[place]) > 1.05 * float(np.nanmedian(row)) for row in rows if place < len(row))


def _stand_out(memory: RecurringStallMemory, stalls: list[Stall], long: float) -> bool:
    """Tell whether stalls are a kind of their own, and not the far end of steps of uneven length.

    Where few ranks take part, that end is thin: a step is as long as the longest of few sequences, and nearly all of
    them are short. How uneven they are is seen below the usual step as well.
    """
    usual = float(np.median(memory.seconds))
    others = [one for one in memory.seconds if one < long * usual]
    least, most = np.quantile(others, (0.02, 0.98))
    varies = stalls[0].part in GROWS and not _period(stalls)
    needed = CLEARER * max(most - usual, usual - least) if varies else CLEAR * (most - usual)
    return float(np.quantile([one.excess for one in stalls], 0.2)) >= float(needed)


def _settle_on_new_level(memory: RecurringStallMemory) -> None:
    last = [one.step for one in memory.stalls[-IN_A_ROW:]]
    if len(last) == IN_A_ROW and last[-1] - last[0] < IN_A_ROW:
        del memory.stalls[-IN_A_ROW:]
        memory.seconds = memory.seconds[-IN_A_ROW:]
        memory.parts = {name: values[-IN_A_ROW:] for name, values in memory.parts.items()}


def _begin(memory: RecurringStallMemory, attempt: int) -> None:
    memory.attempt, memory.told, memory.part = attempt, None, ""
    memory.seconds, memory.parts, memory.stalls, memory.alone = [], {}, [], []


def _remember(memory: RecurringStallMemory, closed: ClosedStep, seconds: float) -> None:
    memory.seconds = [*memory.seconds[1 - WINDOW :], seconds]
    for name in OWN_PARTS:
        longest = _longest(closed, name)
        if longest is not None:
            memory.parts[name] = [*memory.parts.get(name, [])[1 - WINDOW :], longest]


def _longest(closed: ClosedStep, name: str) -> float | None:
    """The slowest rank's part of a step; where ranks do not tell theirs, what a line of the whole job says."""
    row = closed.ranks.get(name)
    if row is None:
        return closed.job.get(name)
    return float(np.nanmax(row)) if np.isfinite(row).any() else None


def _explaining(memory: RecurringStallMemory, closed: ClosedStep, excess: float) -> tuple[str, Floats | None]:
    """Name the part of the work whose slowest rank explains the excess, and give its row."""
    best, held, found = "", EXPLAINS * excess, None
    for name, usual in memory.parts.items():
        longest = _longest(closed, name)
        if longest is None or not usual:
            continue
        more = longest - float(np.median(usual))
        if more >= held:
            best, held, found = name.removesuffix("_seconds"), more, closed.ranks.get(name)
    return best, found


def _period(stalls: list[Stall]) -> int:
    """The distance from stall to stall where it is always the same, else 0."""
    gaps = np.diff([one.step for one in stalls])
    return int(np.median(gaps)) if len(gaps) >= 2 and np.ptp(gaps) <= 0.1 * np.median(gaps) else 0
