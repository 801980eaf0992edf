"""What a fault has contaminated: steps, the checkpoints written in them, and the samples and shards they trained on."""

from bisect import bisect_left, bisect_right

from schemas.incident import Taint
from schemas.telemetry import Event, as_count
from streams.stages.correlate.memory import Case, CorrelateMemory, Opened

KEPT_SAVES = 64
KEPT_OPENINGS = 512
SHARDS_NAMED = 64
CURSOR = "sampler_cursor"


def saved(memory: CorrelateMemory, event: Event) -> None:
    """Note the step of a save that is complete."""
    step = as_count(event.data.get("step"))
    if step is not None:
        memory.saves = [*memory.saves[1 - KEPT_SAVES :], step]


def opened(memory: CorrelateMemory, event: Event) -> None:
    """Note which shards of the data a loader opened, and for which step; where it does not say, for the present one."""
    step, named = as_count(event.data.get("step")), event.data.get("shards")
    shards = tuple(one for one in named if isinstance(one, str)) if isinstance(named, list) else ()
    if step is None:
        step = memory.step or 0
    if shards:
        memory.openings = [*memory.openings[1 - KEPT_OPENINGS :], Opened(step, shards)]


def restarted(memory: CorrelateMemory) -> None:
    """Forget what another attempt has opened: its steps may come again."""
    memory.openings = []


def taint_of(memory: CorrelateMemory, case: Case) -> Taint | None:
    """Give the range; None where nothing has steps."""
    last = case.end_step if case.end_step is not None else memory.step
    if case.onset_step is None or last is None or last < case.onset_step:
        return None
    first = case.onset_step
    begin, end = _samples(memory, case)
    shards = dict.fromkeys(name for one in memory.openings if first <= one.step <= last for name in one.shards)
    return Taint(
        from_step=first,
        to_step=last,
        checkpoints=tuple(step for step in memory.saves if first <= step <= last),
        from_sample=begin,
        to_sample=end,
        shards=tuple(shards)[:SHARDS_NAMED],
        shards_opened=len(shards),
    )


def _samples(memory: CorrelateMemory, case: Case) -> tuple[int | None, int | None]:
    """Where the sampler stood before the first step and after the last; nothing where it went back in between."""
    track = memory.tracks.get(CURSOR)
    if track is None or case.attempt != memory.attempt:
        return None, None
    if case.sampled_from is None:
        before = bisect_left(track.times, case.onset_time) - 1
        if before < 0:
            return None, None  # the onset lies before anything that is still known
        case.sampled_from = int(track.values[before])
    end = len(track.times) if case.end_time is None else bisect_right(track.times, case.end_time)
    upto = int(track.values[end - 1]) if end else case.sampled_from
    return (case.sampled_from, upto) if upto >= case.sampled_from else (None, None)
