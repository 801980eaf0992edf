"""What GPUs, nodes, NICs, disks and mounts report between the steps.

Samples are gathered into moments of five seconds; a moment closes when the stream's clock has passed it by the allowed
lateness, so that order of arrival does not matter. Of several readings in one moment the last counts; counters become
rates per second.
"""

import math
from collections.abc import Iterator

import numpy as np
from msgspec import structs

from detectors.base import Alarm, Floats, grow
from schemas.signals import Over, signal_named
from schemas.telemetry import LARGEST, Reading, SampleFrame, is_finite
from streams.stages.detect import counts, exhaustion, phases, watched
from streams.stages.detect.derive import by_rule
from streams.stages.detect.episodes import Found, step_at
from streams.stages.detect.learned import rate_name
from streams.stages.detect.memory import Attempt, Entities, EntitySignal, Samples

MOMENT_SECONDS = 5.0
BUSY_UTIL = 0.2


def add(samples: Samples, frame: SampleFrame) -> bool:
    """Put a frame to its moment; False when that moment is closed already."""
    moment = int(frame.time // MOMENT_SECONDS)
    if moment <= samples.closed:
        return False
    samples.waiting.setdefault(moment, []).append(frame)
    return True


def due(samples: Samples, lateness: float) -> float:
    """Give the time at which a moment will have waited long enough; infinite where none waits."""
    return (min(samples.waiting) + 1) * MOMENT_SECONDS + lateness if samples.waiting else math.inf


def close_ready(samples: Samples, now: float, lateness: float) -> Iterator[tuple[int, list[SampleFrame]]]:
    """Close, in order, the moments that have waited long enough; frames in the order of their time.

    Args:
        now: the stream's clock, Unix seconds; infinite to close everything.
        lateness: seconds a sample may come late.
    """
    while samples.waiting:
        moment = min(samples.waiting)
        if (moment + 1) * MOMENT_SECONDS + lateness > now:
            return
        frames = samples.waiting.pop(moment)
        samples.closed = moment
        yield moment, sorted(frames, key=lambda frame: (frame.time, frame.node, frame.seq))


class Moment:
    """The readings of one moment, one row per signal over all reporters of a kind."""

    def __init__(self, number: int, of: str, entities: Entities, frames: list[SampleFrame]) -> None:
        """Gather the rows.

        Args:
            number: of the moment.
            of: the kind.
            entities: of that kind; new ones are enrolled.
            frames: of that kind, in order of time.
        """
        self.number = number
        self.of = of
        self.time = max(frame.time for frame in frames)
        self.entities = entities
        places = [_enrol_frame(entities, of, frame) for frame in frames]
        width = len(entities.reporters)
        self.rows: dict[str, Floats] = {}
        self.times = np.full(width, np.nan)
        for frame, at in zip(frames, places, strict=True):
            self.times[at] = frame.time
            for signal, readings in frame.values.items():
                row = self.rows.setdefault(signal, np.full(width, np.nan))
                row[at] = [np.nan if not is_finite(reading) else reading for reading in readings]

    def entity(self, place: int) -> tuple[str, str, int]:
        """Name, node and rank of what a place of a row speaks of; "" and -1 where there are several or none."""
        at = self.entities.entity[place]
        return self.entities.names[at], self.entities.nodes[at], self.entities.ranks[at]


def watch(attempt: Attempt, moment: Moment, vitals: dict[str, Reading]) -> Iterator[tuple[Alarm, Found]]:
    """Feed one moment to the detectors of its signals, and put the job's values into `vitals`."""
    quiet = _is_quiet(attempt, moment)
    _drop_idle_links(moment)
    _take_used(moment)
    _take_busy(moment, vitals)
    for name, raw in sorted(moment.rows.items()):
        signal = signal_named(name)
        known = moment.entities.signals.setdefault(name, EntitySignal())
        is_counter = signal.kind == "counter"
        if is_counter:
            _count_anew(attempt, moment, name, known)
        row = _per_second(known, raw, moment.times) if is_counter else raw
        if np.isfinite(row).any():
            vitals[rate_name(name) if is_counter else name] = by_rule(signal.over, row)
        if is_counter and moment.of != "mount" and watched.counts_errors(signal, name):
            yield from _count(attempt, moment, name, known, quiet)
        elif not quiet:
            merged = _per_entity(moment.entities, signal.over, row)
            if name in watched.RUNS_OUT:
                yield from _run_out(attempt, moment, name, known, merged)
            yield from _judge(attempt, moment, name, known, merged)


def _is_quiet(attempt: Attempt, moment: Moment) -> bool:
    """Before its first steps a job loads and compiles, and in a checkpoint its GPUs idle: nothing of that is normal."""
    begin = moment.number * MOMENT_SECONDS
    starting = attempt.number > 0 and (attempt.settled is None or begin < attempt.settled)
    return starting or bool(phases.covering(attempt.phases, begin - MOMENT_SECONDS, begin + MOMENT_SECONDS))


def _drop_idle_links(moment: Moment) -> None:
    """An idle GPU lets its PCIe link fall asleep: only a busy one tells whether the link is good."""
    util = moment.rows.get("gpu_util")
    for name in ("pcie_generation", "pcie_width"):
        if name in moment.rows and util is not None:
            moment.rows[name] = np.where(util >= BUSY_UTIL, moment.rows[name], np.nan)


def _take_used(moment: Moment) -> None:
    """GPUs of different sizes fill up alike where memory is counted in shares of what there is."""
    used, total = moment.rows.get("hbm_used_bytes"), moment.rows.get("hbm_total_bytes")
    if used is not None and total is not None:
        moment.rows["hbm_used_share"] = np.where(total > 0, used / np.where(total > 0, total, 1.0), np.nan)


def _take_busy(moment: Moment, vitals: dict[str, Reading]) -> None:
    """Power, heat and units at work tell training from spinning only where the GPU says that it is busy."""
    util = moment.rows.get("gpu_util")
    for name, told_as in watched.BUSY.items() if util is not None else ():
        row = moment.rows.get(name)
        if row is not None and util is not None:
            busy = row[(util >= BUSY_UTIL) & np.isfinite(row)]
            if busy.size:
                vitals[told_as] = float(busy.mean())


def _enrol_frame(entities: Entities, of: str, frame: SampleFrame) -> list[int]:
    """Enrol what a frame reports on; give the places in its order."""
    places = []
    for position, name in enumerate(frame.ids):
        reporter = f"{frame.node}\x1f{name}"
        if reporter not in entities.reporters:
            entities.reporters[reporter] = len(entities.reporters)
            entities.entity.append(_enrol(entities, of, name, frame.node))
        place = entities.reporters[reporter]
        if frame.ranks:
            entities.ranks[entities.entity[place]] = frame.ranks[position]
        places.append(place)
    return places


def _enrol(entities: Entities, of: str, name: str, node: str) -> int:
    entity = f"{node}/{name}" if of in ("nic", "disk") else name
    if entity not in entities.index:
        entities.index[entity] = len(entities.names)
        entities.names.append(entity)
        entities.nodes.append("" if of in ("mount", "job") else node)
        entities.ranks.append(-1)
    return entities.index[entity]


def _per_entity(entities: Entities, rule: Over, row: Floats) -> Floats:
    """Make one value per entity out of its reporters'."""
    if len(entities.names) == len(row):
        return row
    owner = np.array(entities.entity)
    merged = np.full(len(entities.names), np.nan)
    for entity in range(len(entities.names)):
        values = row[owner == entity]
        if np.isfinite(values).any():
            merged[entity] = by_rule(rule, values)
    return merged


def _count_anew(attempt: Attempt, moment: Moment, name: str, known: EntitySignal) -> None:
    """Go on from the first reading after what reads a node started anew: another version may count from elsewhere."""
    anew = {node: word.counted_anew for node, word in attempt.voices.words.items() if word.counted_anew}
    if not anew:
        return
    since = np.array([anew.get(reporter.partition("\x1f")[0], 0.0) for reporter in moment.entities.reporters])
    before = _widened(known.count_times, len(since))
    first = (before < since) & (moment.times >= since)
    known.counts = np.where(first, np.nan, _widened(known.counts, len(since)))
    if known.counter is not None and first.any():
        counts.judge(name, known, moment.number, np.where(first, moment.rows[name], np.nan), quiet=True)


def _per_second(known: EntitySignal, row: Floats, times: Floats) -> Floats:
    """Increase since the last reading over the seconds between; a fall is a restart of the counter and has no rate."""
    width = len(row)
    counts = _widened(known.counts, width)
    moments = _widened(known.count_times, width)
    with np.errstate(all="ignore"):
        rate = (row - counts) / (times - moments)
    rate = np.where((rate >= 0) & (rate <= LARGEST), rate, np.nan)
    seen = np.isfinite(row)
    known.counts = np.where(seen, row, counts)
    known.count_times = np.where(seen, times, moments)
    return rate


def _widened(row: Floats | None, width: int) -> Floats:
    wide = np.full(width, np.nan)
    if row is not None:
        wide[: len(row)] = row
    return wide


def _judge(
    attempt: Attempt, moment: Moment, name: str, known: EntitySignal, row: Floats
) -> Iterator[tuple[Alarm, Found]]:
    signal = signal_named(name)
    if signal.bad == "none" or signal.kind in ("id", "schedule"):
        return
    width = len(row)
    if signal.kind == "flag":
        for alarm in _flagged(moment, name, known, row):
            yield alarm, _found("sustained", name, attempt, moment, alarm)
        return
    detector = watched.entity_level_shift(name, signal.kind == "counter")
    known.level = known.level or detector.blank(width)
    known.level = known.level if known.level.width == width else grow(detector, known.level, width)
    harmless = np.zeros(width, dtype=np.bool_)
    for alarm in detector.update(known.level, moment.number, row):
        if alarm.over or watched.is_bad(signal, alarm.direction):
            yield alarm, _found("level_shift", name, attempt, moment, alarm)
        else:
            harmless[alarm.series] = True
    if harmless.any():
        detector.relearn(known.level, harmless)


def _flagged(moment: Moment, name: str, known: EntitySignal, row: Floats) -> Iterator[Alarm]:
    """A flag that is up where it should not be; or down, where it has been up: a port without a cable never has."""
    detector, width = watched.flag(name), len(row)
    known.flag = known.flag or detector.blank(width)
    known.flag = known.flag if known.flag.width == width else grow(detector, known.flag, width)
    for alarm in detector.update(known.flag, moment.number, row):
        if detector.above or alarm.before == alarm.before:
            yield alarm


def _count(
    attempt: Attempt, moment: Moment, name: str, known: EntitySignal, quiet: bool
) -> Iterator[tuple[Alarm, Found]]:
    """An error counter is judged reporter by reporter: a sum of counters that begin anew is none."""
    for alarm in counts.judge(name, known, moment.number, moment.rows[name], quiet):
        entity = moment.entities.entity[alarm.series]
        found = _found("counter_rate", name, attempt, moment, structs.replace(alarm, series=entity))
        found.text = counts.sentence(name, alarm, f" of {found.subject}", found.onset_step)
        yield alarm, found


def _run_out(
    attempt: Attempt, moment: Moment, name: str, known: EntitySignal, row: Floats
) -> Iterator[tuple[Alarm, Found]]:
    """Look whether something will be at its end within hours; the detector counts in spans of its own."""
    for alarm, span in exhaustion.judge(name, known, moment.number * MOMENT_SECONDS, row):
        moments = {at: int(getattr(alarm, at) * span // MOMENT_SECONDS) for at in ("onset", "index")}
        found = _found("trend", name, attempt, moment, structs.replace(alarm, **moments))
        found.numbers = {"seconds_left": alarm.numbers["rows_left"] * span}
        found.text = exhaustion.sentence(name, found.subject, alarm, span, found.onset_step)
        yield alarm, found


def _found(detector: str, name: str, attempt: Attempt, moment: Moment, alarm: Alarm) -> Found:
    entities, of = moment.entities, moment.of
    place = alarm.series
    entity, node, rank = entities.names[place], entities.nodes[place], entities.ranks[place]
    onset = min(alarm.onset * MOMENT_SECONDS, moment.time)
    told = min((alarm.index + 1) * MOMENT_SECONDS, moment.time)
    return Found(
        detector=detector,
        signal=name,
        subject=f"{of}:{entity}",
        stepped=False,
        time=told,
        onset_time=onset,
        step=step_at(attempt.moments, told) if alarm.over else attempt.top_step if attempt.top_step >= 0 else None,
        onset_step=step_at(attempt.moments, onset),
        nodes=(node,) if node else (),
        ranks=(rank,) if of == "gpu" and rank >= 0 else (),
        gpus=(entity,) if of == "gpu" else (),
    )
