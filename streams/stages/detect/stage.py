"""The detect stage itself: which record goes where, and what is said in which order."""

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial

from detectors.base import Alarm
from schemas.detection import Detection
from schemas.events import MOVES_THE_CLOCK
from schemas.telemetry import Event, SampleFrame, StepFrame, Telemetry, Tick
from schemas.topics import Record
from streams.stages.detect import (
    align,
    announced,
    clocks,
    fleet,
    learned,
    mixture,
    peers,
    phases,
    progress,
    reconfigured,
    samples,
    saves,
    series,
    silence,
    spinning,
    utilisation,
    vitals,
    whereabouts,
)
from streams.stages.detect.arrival import put_away
from streams.stages.detect.attempt import begin, is_new_start, is_overtaken, runs_before, says_it_is_done
from streams.stages.detect.derive import ClosedStep, derive
from streams.stages.detect.episodes import Found, end_all, follow, is_of_the_job, note_moment
from streams.stages.detect.freezing import freeze
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.left_over import is_left_over, left_over
from streams.stages.detect.made_by import signed
from streams.stages.detect.memory import Attempt, Entities
from streams.stages.detect.open_steps import OpenStep
from streams.stages.detect.participants import enrol_frame
from streams.stages.detect.repeats import is_repeated
from streams.stages.detect.rewound import begun_anew, is_own_word
from streams.stages.detect.signs import watch as signs
from streams.stages.detect.signs.collective_timeout import SETTLES_SECONDS
from streams.stages.detect.signs.sign import Scene
from streams.stages.stage import Sent

FORGOTTEN_SECONDS = 7 * 86400.0
"""Silence after which a job that has come to rest is no longer remembered."""


class Detect:
    """From telemetry of one job to detections and vitals.

    Args:
        lateness: seconds a record may come late and still be used.
        alarms_per_job_week: false alarms on a job's pace that are borne; None = by the table of signals.
        versions: detector or sign -> version of its code, for the record.
    """

    name = "detect"
    memory = DetectMemory

    def __init__(
        self,
        lateness: float = 10.0,
        alarms_per_job_week: float | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        if not lateness >= 0:
            raise ValueError(f"lateness: seconds, 0 or more, not {lateness}")
        self.lateness, self.borne = lateness, alarms_per_job_week
        self.versions = versions or {}

    def blank(self, key: str) -> DetectMemory:
        """Make the memory of a job that has not been seen yet."""
        return DetectMemory(key=key)

    def feed(self, memory: DetectMemory, record: Record) -> Iterable[Sent]:
        """Take one record of telemetry."""
        return self._tick(memory, record) if isinstance(record, Tick) else self._record(memory, record)

    def put_away(self, memory: DetectMemory, records: Sequence[Record], at: int) -> int:
        """Take records from a place on for as long as nothing follows from them; give how many."""
        return put_away(memory, records, at, self.lateness)

    def _record(self, memory: DetectMemory, record: Record) -> Iterator[Sent]:
        if isinstance(record, Telemetry):
            memory.counters.records += 1
            if is_repeated(memory.seen, record):
                memory.counters.repeated += 1
                return
            known = whereabouts.at_home(memory.whereabouts, record)
            memory.cluster, memory.idle, memory.ticks = known.cluster, 0.0, 0
            yield from self._telemetry(memory, known)
            yield from whereabouts.report(memory.whereabouts, memory.key, known)

    def flush(self, memory: DetectMemory) -> Iterable[Sent]:
        """Nothing more will come: close what waits for late records."""
        if memory.attempt is not None:
            yield from self._advance(memory, memory.attempt, closing=True)
            scene = _scene(memory, memory.attempt, memory.clock + SETTLES_SECONDS)
            yield from self._tell(memory, signs.time(memory.signs, scene))

    def is_over(self, memory: DetectMemory) -> bool:
        """A job that nobody has spoken of for days begins anew when it comes back."""
        return memory.idle > FORGOTTEN_SECONDS

    def _tick(self, memory: DetectMemory, tick: Tick) -> Iterator[Sent]:
        """Let time pass where nobody speaks; the runtime's own absence is not the job's silence."""
        if memory.last_tick is not None:
            memory.idle += min(max(0.0, tick.time - memory.last_tick), 2 * tick.every)
            memory.ticks += 1
        memory.last_tick = tick.time
        if memory.attempt is not None:
            yield from self._advance(memory, memory.attempt)
            scene = _scene(memory, memory.attempt, memory.clock + memory.idle)
            yield from self._tell(memory, signs.time(memory.signs, scene))
        yield Sent("events", memory.key, Tick(time=memory.clock + memory.idle, every=tick.every))

    def _telemetry(self, memory: DetectMemory, record: Telemetry) -> Iterator[Sent]:
        attempt = memory.attempt
        if is_left_over(memory, record):
            yield from left_over(memory, record)
            return
        if attempt is None or record.attempt > attempt.number or is_new_start(record, attempt):
            attempt = yield from self._next_attempt(memory, record)
        elif (start := begun_anew(attempt, record)) is not None:
            attempt = yield from self._next_attempt(memory, start, again=True)
            if is_own_word(start):
                yield from self._pass_on(memory, attempt, start)
        if isinstance(record, Event):
            record = clocks.right_time(record, attempt, memory.clock)
            yield from self._event(memory, attempt, record)
        else:
            yield from self._frame(memory, attempt, record)
        yield from self._advance(memory, attempt)
        yield from self._tell(memory, signs.time(memory.signs, _scene(memory, attempt, memory.clock)))
        if isinstance(record, Event):
            yield from self._pass_on(memory, attempt, record)

    def _pass_on(self, memory: DetectMemory, attempt: Attempt, event: Event) -> Iterator[Sent]:
        yield Sent("events", memory.key, event)
        yield from self._tell(memory, signs.event(memory.signs, _scene(memory, attempt, memory.clock), event))
        yield from fleet.report(memory.fleet, memory.key, attempt, event)

    def _next_attempt(
        self, memory: DetectMemory, record: Telemetry, again: bool = False
    ) -> Generator[Sent, None, Attempt]:
        """End the attempt before, and begin the one this record belongs to; `again` where it has the same number."""
        before = memory.attempt
        runs = runs_before(record, before, again)
        if before is not None and not is_overtaken(record, before):
            yield from self._end(memory, before, record.time)
        memory.attempt = after = begin(record, before)
        after.runs = runs
        return after

    def _end(self, memory: DetectMemory, attempt: Attempt, time: float) -> Iterator[Sent]:
        if attempt.ended is not None:
            return
        for step in align.close_all(attempt.alignment):
            yield from self._close(memory, attempt, step)
        attempt.ended = time
        learned.end_episodes(memory.samples)
        yield from self._tell(memory, end_all(attempt, attempt.alignment.last_closed, time))

    def _event(self, memory: DetectMemory, attempt: Attempt, event: Event) -> Iterator[Sent]:
        if event.event.startswith(MOVES_THE_CLOCK):
            memory.clock = max(memory.clock, event.time)
        if says_it_is_done(event):
            attempt.through = event.time
        silence.told(attempt, event)
        if event.event.startswith(("phase.", "checkpoint.")):
            yield from self._phase(memory, attempt, event)
        elif event.event == "attempt.ended":
            yield from self._end(memory, attempt, event.time)
        elif event.event == "config.changed" or (event.event == "incident.closed" and event.data.get("legitimate")):
            yield from self._reconfigure(memory, attempt, event)
        elif event.event == "history.resumed":
            yield from self._resume(memory, attempt, event.time)

    def _phase(self, memory: DetectMemory, attempt: Attempt, event: Event) -> Iterator[Sent]:
        match event.event:
            case "phase.begin":
                phases.begin(attempt.phases, str(event.data.get("phase", "other")), event.time)
            case "phase.end":
                phases.end(attempt.phases, str(event.data.get("phase", "other")), event.time)
            case "checkpoint.begin":
                saves.begun(attempt.saves, event)
                if saves.is_blocking(event):
                    phases.begin(attempt.phases, "checkpoint", event.time)
            case "checkpoint.end" | "checkpoint.failed":
                phases.end(attempt.phases, "checkpoint", event.time)
                yield from self._follow(memory, attempt, saves.finished(attempt, event))

    def _reconfigure(self, memory: DetectMemory, attempt: Attempt, event: Event) -> Iterator[Sent]:
        """Something else is normal from now on: what was held against the old level has ended, and nothing else."""
        gone = reconfigured.forget(attempt, memory.samples, event)
        yield from self._tell(memory, end_all(attempt, attempt.alignment.last_closed, event.time, gone.__contains__))

    def _resume(self, memory: DetectMemory, attempt: Attempt, time: float) -> Iterator[Sent]:
        """Nobody knows what the job did meanwhile: how long it has been silent or still counts from here."""
        for step in align.close_all(attempt.alignment):
            yield from self._close(memory, attempt, step)
        memory.clock = max(memory.clock, time)
        attempt.alignment.last_time = 0.0
        progress.resumed(attempt, memory.clock)
        silence.resumed(attempt.voices, memory.clock)

    def _frame(self, memory: DetectMemory, attempt: Attempt, frame: Telemetry) -> Iterator[Sent]:
        memory.clock = silence.clock_with(attempt.voices, frame, memory.clock)
        if memory.clock >= silence.due(attempt):
            yield from self._follow(memory, attempt, silence.watch(attempt, frame.node, memory.clock))
        silence.heard(attempt.voices, frame, memory.clock)
        if isinstance(frame, StepFrame):
            places = enrol_frame(attempt.participants, frame)
            progress.advanced(attempt, frame.step, memory.clock)
            memory.counters.late += not align.add(attempt.alignment, frame, places, memory.clock)
        elif isinstance(frame, SampleFrame):
            fleet.sample(memory.fleet, frame)
            spinning.take(attempt, frame)
            memory.counters.late += not samples.add(memory.samples, frame)

    def _advance(self, memory: DetectMemory, attempt: Attempt, closing: bool = False) -> Iterator[Sent]:
        """Close what the stream's clock has passed, and look for what should have come by now."""
        now = math.inf if closing else memory.clock + memory.idle
        for step in align.close_ready(attempt.alignment, now, self.lateness):
            yield from self._close(memory, attempt, step)
        for number, frames in samples.close_ready(memory.samples, now, self.lateness):
            for of in sorted({frame.of for frame in frames}):
                kind = memory.samples.kinds.setdefault(of, Entities())
                moment = samples.Moment(number, of, kind, [frame for frame in frames if frame.of == of])
                yield from self._moment(memory, attempt, moment)
        if not closing and memory.ticks != 1 and now >= silence.due(attempt):
            yield from self._follow(memory, attempt, silence.watch(attempt, "", now))
        if not closing and now >= progress.due(attempt):
            for watch in (saves.overrun, progress.watch):
                yield from self._follow(memory, attempt, watch(attempt, now))

    def _close(self, memory: DetectMemory, attempt: Attempt, step: OpenStep) -> Iterator[Sent]:
        previous = attempt.moments.steps[-1] if attempt.moments.steps else step.step - 1
        width, steps = len(attempt.participants.ranks), max(1, step.step - previous)
        closed = derive(step, width, attempt.alignment.last_time, steps)
        phase = phases.covering(attempt.phases, attempt.alignment.last_time or closed.time, closed.time)
        phase = phase or saves.beside(attempt, closed)
        attempt.alignment.last_time = closed.time
        note_moment(attempt.moments, closed.step, closed.time)
        yield from self._saved(memory, attempt, closed)
        if announced.stage_begins(attempt, closed.step):
            series.forget(attempt.series)
            yield from self._tell(memory, end_all(attempt, closed.step, closed.time, is_of_the_job))
        freeze(memory, attempt)
        for watch in (partial(series.watch, borne=self.borne), peers.watch, mixture.watch):
            yield from self._follow(memory, attempt, watch(attempt, closed, bool(phase)))
        phases.step_closed(attempt.phases, closed.time)
        scene = _scene(memory, attempt, memory.clock)
        yield from self._tell(memory, signs.step(memory.signs, scene, closed, phase))
        attempt.made_up = memory.signs.late_steps.longest
        fleet.step(memory.fleet, closed)
        utilisation.add(attempt, closed)
        yield Sent("vitals", memory.key, vitals.of_step(memory, attempt, closed, phase))

    def _saved(self, memory: DetectMemory, attempt: Attempt, closed: ClosedStep) -> Iterator[Sent]:
        """A pause reported by the trainer's frames, where no event told of it; and the pause as a value of the step."""
        seconds = closed.job.get("checkpoint_seconds", 0.0)
        if seconds > 0 and attempt.saves.last_step < closed.step - 1:
            yield from self._follow(memory, attempt, saves.paused(attempt, closed.step, closed.time, seconds))
        closed.job["checkpoint_seconds"] = max(seconds, attempt.saves.pause)
        attempt.saves.pause = 0.0

    def _moment(self, memory: DetectMemory, attempt: Attempt, moment: samples.Moment) -> Iterator[Sent]:
        values: dict[str, float | None] = {}
        yield from self._follow(memory, attempt, samples.watch(attempt, moment, values))
        progress.gpus(attempt, values)
        yield from self._tell(memory, signs.moment(memory.signs, _scene(memory, attempt, memory.clock), moment))
        yield Sent("vitals", memory.key, vitals.of_moment(memory, attempt, moment, values))

    def _follow(
        self, memory: DetectMemory, attempt: Attempt, findings: Iterable[tuple[Alarm, Found]]
    ) -> Iterator[Sent]:
        for alarm, found in findings if attempt.ended is None else ():  # what has ended is nobody's trouble
            for detection in follow(memory.key, memory.cluster, attempt, alarm, found):
                yield self._found(memory, detection)

    def _found(self, memory: DetectMemory, detection: Detection) -> Sent:
        return Sent("detections", memory.key, signed(detection, self.versions, self.borne))

    def _tell(self, memory: DetectMemory, detections: Iterable[Detection]) -> Iterator[Sent]:
        for detection in detections:
            yield self._found(memory, detection)


def _scene(memory: DetectMemory, attempt: Attempt, clock: float) -> Scene:
    return Scene(job=memory.key, cluster=memory.cluster, attempt=attempt, clock=clock)
