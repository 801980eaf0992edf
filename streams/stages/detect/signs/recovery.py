"""Whether a resumed run proves to be the one that failed: loss, throughput and data against those before."""

import statistics
from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from detectors.base import Floats, Ints
from detectors.recovery import Equivalence, distance, equivalence
from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOKED = 24
"""Steps of the resumed run that are compared."""
SETTLING = 5
"""First steps, whose times say nothing of the throughput."""
KEPT = 1000
SHARES = "source_share."


class Course(Struct):
    """The steps of one attempt, oldest first: values by step, and the shares of sources.

    Attributes:
        pace: tokens per second.
        shares: source -> share of the last steps.
    """

    loss: dict[int, float] = field(default_factory=dict)
    pace: dict[int, float] = field(default_factory=dict)
    shares: dict[str, dict[int, float]] = field(default_factory=dict)
    first_time: float = 0.0


class RecoveryMemory(Struct):
    """The attempt before, and this one; `resumed`: it goes on in the same configuration and was not judged yet."""

    before: Course = field(default_factory=Course)
    here: Course = field(default_factory=Course)
    fingerprint: str = ""
    world_size: int = 0
    resumed: bool = False


class Recovery(Sign[RecoveryMemory]):
    """Compare the first steps after a resume with the same steps before it, and say whether it is the same run."""

    name = "recovery"
    memory = RecoveryMemory

    def event(self, memory: RecoveryMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note where a new attempt goes on, and that a change was announced."""
        if event.event == "attempt.started":
            now = (scene.attempt.fingerprint, scene.attempt.world_size)
            memory.resumed = bool(memory.here.loss) and bool(now[0]) and now == (memory.fingerprint, memory.world_size)
            memory.fingerprint, memory.world_size = now
            memory.before, memory.here = memory.here if memory.here.loss else memory.before, Course()
        elif event.event == "config.changed":
            memory.resumed = False
        yield from ()

    def step(self, memory: RecoveryMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Keep the step; judge when enough of them are there."""
        loss = closed.job.get("loss")
        if loss is None:
            return
        here = memory.here
        if not here.loss:
            here.first_time = closed.time
        _keep(here.loss, closed.step, loss)
        if "tokens_per_second" in closed.job and not phase:
            _keep(here.pace, closed.step, closed.job["tokens_per_second"])
        for name in closed.job:
            if name.startswith(SHARES):
                _keep(here.shares.setdefault(name, {}), closed.step, closed.job[name])
        if memory.resumed and len(here.loss) == LOOKED:
            memory.resumed = False
            yield from self._judge(memory)

    def _judge(self, memory: RecoveryMemory) -> Iterator[Seen]:
        before, here = memory.before, memory.here
        compared = equivalence(*_columns(before.loss), *_columns(here.loss))
        if compared is None:
            return
        first = next(iter(here.loss))
        numbers = {"loss_apart": compared.apart, "limit": compared.limit, "steps": float(compared.steps)}
        pace, mixed = _pace(before, here), _mixed(before, here)
        numbers |= {"throughput": pace} if pace is not None else {}
        numbers |= {"data_apart": mixed} if mixed is not None else {}
        yield Seen(
            sign=self.name,
            again=str(first),
            part="equal" if compared.equal else "apart",
            onset_time=here.first_time,
            onset_step=first,
            before=0.0,
            after=compared.apart,
            numbers=numbers,
            text=_sentence(compared, first, pace, mixed),
            passes=LOOKED if compared.equal else 0,
        )


def _keep(values: dict[int, float], step: int, value: float) -> None:
    values[step] = value
    if len(values) > KEPT:
        del values[next(iter(values))]


def _columns(values: dict[int, float]) -> tuple[Ints, Floats]:
    return np.array(list(values), dtype=np.int64), np.array(list(values.values()), dtype=np.float64)


def _pace(before: Course, here: Course) -> float | None:
    """Tokens per second over those of as many last steps before."""
    now = list(here.pace.values())[SETTLING:]
    then = list(before.pace.values())[-len(now) :] if now else []
    usual = statistics.median(then) if then else 0.0
    return statistics.median(now) / usual if usual > 0 else None


def _mixed(before: Course, here: Course) -> float | None:
    """Share of the data that comes from other sources than in as many last steps before."""
    names = sorted(set(before.shares) & set(here.shares))
    if not names:
        return None
    means = [[statistics.fmean(list(one.shares[name].values())[-LOOKED:]) for name in names] for one in (before, here)]
    return distance(np.array(means[0]), np.array(means[1]))


def _sentence(compared: Equivalence, first: int, pace: float | None, mixed: float | None) -> str:
    against = f"the same {compared.steps} steps" if compared.paired else "the last steps"
    verdict = "is the run from before" if compared.equal else "is not the run from before"
    text = (
        f"the run resumed at {step_words(first)} {verdict}: loss {100 * compared.apart:+.1f} % against {against} "
        f"(limit {100 * compared.limit:.1f} %)"
    ).replace("-", "−")
    text += f", throughput {100 * pace:.0f} %" if pace is not None else ""
    return text + (f", {100 * mixed:.0f} % of the data from other sources" if mixed is not None else "")
