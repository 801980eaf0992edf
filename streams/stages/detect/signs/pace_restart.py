"""A job that is slower for good since it was restarted in another configuration, while a step does as much."""

import re
import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

SETTLING = 10
"""First steps of an attempt, of which nothing is taken: compilation and cold caches."""
LOOKED = 40
"""Steps after those that are compared, both halves for themselves: what warms up is slow in the first only."""
KEPT = 100
FEWEST = 20
WORTH = 0.08
SURE = 5.0
"""Standard deviations of a step's rate that the difference has to reach as well."""
BACK = 0.97
"""Share of the rate before from which the job is no longer slower."""
SAME = 0.02
KEPT_NODES = 0.5
"""Share of the nodes that have to be the same: other machines have another pace."""
WORK = ("tokens", "batch_size", "sequence_length")
COSTS = re.compile(
    "batch|seq|context|length|accum|layer|hidden|model|width|depth|head|expert|parallel|world|recompute|activation"
    "|checkpoint|save|eval|precision|dtype|fp8|bf16|profil|debug|determin|power|clock",
    re.IGNORECASE,
)
"""Fields of a configuration whose change makes steps cost more by right."""


PLACED = re.compile(r"placement|node|host|rack|switch|topolog|rank_?(map|order)|slot|reserv|partition", re.IGNORECASE)
"""Fields whose change means other places for the same work."""
LONGER_WAITS = 0.75
"""Share of the loss of pace that has to lie in the waiting for each other, where only the places are others."""


class Pace(Struct):
    """Work per second of the steps of one attempt, what a step did, and where it ran.

    Attributes:
        rates: of the last steps, oldest first.
        seconds: that they took, and `waits` those of them in which the ranks waited for each other.
        work: signal -> its values in them.
    """

    rates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    work: dict[str, list[float]] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)


class PaceRestartMemory(Struct):
    """The attempt before, and this one.

    Attributes:
        changed: another configuration, whose pace was not judged yet.
        fresh: something was announced after the last step.
        placed: nothing but the places has changed, as far as was announced.
        explained: what was announced makes a step cost more by right.
        skipped: first steps that were left out so far.
        told: a finding is active.
    """

    before: Pace = field(default_factory=Pace)
    here: Pace = field(default_factory=Pace)
    fingerprint: str = ""
    world_size: int = 0
    changed: bool = False
    fresh: bool = False
    placed: bool = False
    explained: bool = False
    comparable: bool = False
    skipped: int = 0
    first_step: int = 0
    first_time: float = 0.0
    told: bool = False


class PaceRestart(Sign[PaceRestartMemory]):
    """Compare work per second after a restart with that before, where a step does as much, or less unannounced."""

    name = "pace_restart"
    memory = PaceRestartMemory

    def event(self, memory: PaceRestartMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note a new attempt, and what was announced."""
        if event.event == "attempt.started":
            _start(memory, scene)
        elif event.event == "config.changed":
            only_placed = bool(event.data) and all(PLACED.search(name) for name in event.data)
            memory.placed = only_placed and (memory.placed or not memory.changed)
            memory.changed = memory.fresh = True
            memory.explained |= any(COSTS.search(name) for name in event.data)
        yield from ()

    def step(self, memory: PaceRestartMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Keep the step's rate; judge when enough of them are there, and say when the job is as fast again."""
        rate = _rate(closed)
        if rate is None or phase:
            return
        memory.fresh = False
        memory.skipped += 1
        if memory.skipped == 1:
            memory.first_step, memory.first_time = closed.step, closed.time
        if memory.skipped <= SETTLING:
            return
        _keep(memory.here, closed, rate)
        if memory.told:
            yield from self._recovered(memory)
        elif memory.changed and memory.comparable and memory.skipped == SETTLING + LOOKED:
            yield from self._judge(memory)

    def _judge(self, memory: PaceRestartMemory) -> Iterator[Seen]:
        before, here = memory.before, memory.here
        explained, memory.explained, memory.changed = memory.explained, False, False
        if explained or not (_alike(before, here) or _does_less(before, here)):
            return
        usual, now = statistics.median(before.rates), _fastest_half(here.rates)
        spread = 1.4826 * statistics.median(abs(one - usual) for one in before.rates)
        if now > (1 - WORTH) * usual or usual - now <= SURE * spread:
            return
        memory.told = True
        memory.placed = memory.placed and _waits_longer(before, here)
        yield self._seen(memory, usual, now)

    def _recovered(self, memory: PaceRestartMemory) -> Iterator[Seen]:
        usual, now = statistics.median(memory.before.rates), statistics.median(memory.here.rates[-FEWEST:])
        if now >= BACK * usual:
            memory.told = False
            yield self._seen(memory, usual, now, over=True)

    def _seen(self, memory: PaceRestartMemory, usual: float, now: float, over: bool = False) -> Seen:
        since = "its ranks have had other places" if memory.placed else "it was restarted in another configuration"
        why = "and its ranks wait longer for each other" if memory.placed else _why(memory.before, memory.here)
        return Seen(
            sign=self.name,
            part="placement" if memory.placed else "",
            onset_time=memory.first_time,
            onset_step=memory.first_step,
            before=usual,
            after=now,
            text=(
                f"the job does {100 * (1 - now / usual):.0f} % less work per second since {since} "
                f"at {step_words(memory.first_step)}, {why}"
            ),
            over=over,
        )


def _start(memory: PaceRestartMemory, scene: Scene) -> None:
    attempt = scene.attempt
    if len(memory.here.rates) >= FEWEST and not memory.told:
        memory.before = memory.here
        memory.changed, memory.explained = memory.changed and memory.fresh, memory.explained and memory.fresh
    known = len(memory.before.rates) >= FEWEST
    memory.here = Pace(nodes=sorted(set(attempt.participants.nodes) - {""}))
    memory.comparable = known and attempt.world_size == memory.world_size and _same_place(memory.before, memory.here)
    if attempt.fingerprint != memory.fingerprint:
        memory.changed, memory.placed = known, False
    memory.fingerprint, memory.world_size = attempt.fingerprint, attempt.world_size
    memory.skipped = 0


def _same_place(before: Pace, here: Pace) -> bool:
    return len(set(before.nodes) & set(here.nodes)) >= KEPT_NODES * max(len(before.nodes), len(here.nodes))


def _rate(closed: ClosedStep) -> float | None:
    """Work per second; None where it is not known how much a step does."""
    if "tokens_per_second" in closed.job and "tokens" in closed.job:
        return closed.job["tokens_per_second"]
    seconds = closed.job.get("step_seconds", 0.0)
    return closed.job["batch_size"] / seconds if seconds > 0 and "batch_size" in closed.job else None


def _keep(pace: Pace, closed: ClosedStep, rate: float) -> None:
    pace.rates = [*pace.rates[1 - KEPT :], rate]
    if "step_seconds" in closed.job and "wait_seconds" in closed.job:
        pace.seconds = [*pace.seconds[1 - KEPT :], closed.job["step_seconds"]]
        pace.waits = [*pace.waits[1 - KEPT :], closed.job["wait_seconds"]]
    for name in WORK:
        if name in closed.job:
            pace.work[name] = [*pace.work.get(name, [])[1 - KEPT :], closed.job[name]]


def _waits_longer(before: Pace, here: Pace) -> bool:
    """Tell whether nearly all that a step takes longer is waiting."""
    if min(len(before.waits), len(here.waits)) < FEWEST:
        return False
    longer = statistics.median(here.seconds) - statistics.median(before.seconds)
    return statistics.median(here.waits) - statistics.median(before.waits) >= LONGER_WAITS * longer > 0


def _alike(before: Pace, here: Pace) -> bool:
    """Tell whether a step does as much as before, by everything that says so."""
    pairs = _medians(before, here).values()
    return before.work.keys() == here.work.keys() and all(abs(now - was) <= SAME * abs(was) for was, now in pairs)


def _does_less(before: Pace, here: Pace) -> bool:
    """Tell whether a step does less than before: then it costs more for what it does, and nobody announced that."""
    pairs = _medians(before, here).values()
    return before.work.keys() == here.work.keys() and all(now <= (1 + SAME) * was for was, now in pairs)


def _why(before: Pace, here: Pace) -> str:
    less = [
        f"{name} {was:,.0f} → {now:,.0f}"
        for name, (was, now) in _medians(before, here).items()
        if now < (1 - SAME) * was
    ]
    return (
        f"and a step does less, which nobody announced: {', '.join(less)}"
        if less
        else "though a step does as much as before"
    )


def _medians(before: Pace, here: Pace) -> dict[str, tuple[float, float]]:
    """What a step did before, and does now."""
    names = before.work.keys() & here.work.keys()
    return {name: (statistics.median(before.work[name]), statistics.median(here.work[name])) for name in sorted(names)}


def _fastest_half(rates: list[float]) -> float:
    half = len(rates) // 2
    return max(statistics.median(rates[:half]), statistics.median(rates[half:]))
