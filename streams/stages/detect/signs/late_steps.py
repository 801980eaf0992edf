"""Steps that were done all along and told late: after a standstill the job's own time catches up within moments."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.wording import amount, count
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

PAUSE_SECONDS = 30.0
"""Steps closer together on the stream's clock are one run; longer than late records and rare samples hold one up."""
LEAST_SECONDS, LEAST_STEPS = 60.0, 5
"""What a run of steps has to make up for, and of how many it has to be."""
FASTER = 10.0
"""So many times faster than the stream's clock its own time has to go."""
PASSES = 20


class LateStepsMemory(Struct):
    """The present run of steps: its own time and the stream's clock, now and at its first step.

    Attributes:
        first: step of the run.
        since: Unix seconds of the last step before it, or of the start; `stood`: seconds from then to the run.
        told: it was said that it makes up for something.
        longest: seconds of the longest standstill of the attempt that a run of steps has made up for.
    """

    attempt: int = -1
    clock: float = 0.0
    time: float = 0.0
    first: int = -1
    since: float = 0.0
    stood: float = 0.0
    first_clock: float = 0.0
    first_time: float = 0.0
    told: bool = False
    longest: float = 0.0


class LateSteps(Sign[LateStepsMemory]):
    """Hold the steps' own times against the stream's clock; a clock that is wrong is so before and after."""

    name = "late_steps"
    memory = LateStepsMemory

    def step(self, memory: LateStepsMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Take a closed step."""
        is_new = memory.attempt != scene.run
        if is_new or scene.clock - memory.clock > PAUSE_SECONDS:
            started = scene.attempt.started if scene.attempt.started is not None else scene.clock
            memory.since, memory.stood = memory.time, scene.clock - memory.clock
            if is_new:
                memory.since, memory.stood, memory.longest = started, scene.clock - started, 0.0
            memory.first, memory.told = closed.step, False
            memory.attempt, memory.first_clock, memory.first_time = scene.run, scene.clock, closed.time
        memory.clock, memory.time = scene.clock, closed.time
        made_up, took = closed.time - memory.first_time, scene.clock - memory.first_clock
        steps = closed.step - memory.first + 1
        least = max(LEAST_SECONDS, FASTER * took)
        if memory.told or steps < LEAST_STEPS or not least <= made_up <= 2 * memory.stood:
            return
        memory.told, memory.longest = True, max(memory.longest, memory.stood)
        yield Seen(
            sign=self.name,
            again=str(memory.first),
            onset_time=memory.since,
            onset_step=memory.first - 1,
            after=made_up,
            passes=PASSES,
            text=(
                f"{count(steps, 'step')} of {amount('interval_seconds', made_up)} were told within "
                f"{amount('interval_seconds', max(took, 1.0))}: the job has trained on meanwhile"
            ),
        )
