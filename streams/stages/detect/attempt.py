"""Who takes part in an attempt: ranks with their node, GPU and peer group."""

from schemas.telemetry import Event, StepFrame, as_count
from streams.stages.detect import series
from streams.stages.detect.memory import Attempt, Participants


def start(event: Event, before: Attempt | None) -> Attempt:
    """Make the memory of an attempt out of its `attempt.started`.

    Baselines of the job survive only when fingerprint and world size are known and unchanged.
    """
    data = event.data
    attempt = Attempt(
        number=event.attempt,
        started=event.time,
        world_size=as_count(data.get("world_size")) or 0,
        fingerprint=str(data.get("fingerprint") or ""),
        total_steps=as_count(data.get("total_steps")) or 0,
    )
    placement = data.get("placement")
    for place in placement if isinstance(placement, list) else []:
        rank = as_count(place.get("rank")) if isinstance(place, dict) else None
        if rank is not None:
            enrol(
                attempt.participants,
                rank,
                str(place.get("node", "")),
                str(place.get("gpu", "")),
                as_count(place.get("pp")) or 0,
            )
    attempt.world_size = attempt.world_size or len(attempt.participants.ranks)
    if before is not None and same_configuration(before, attempt):
        attempt.series = series.carry_over(before.series)
    return attempt


def same_configuration(before: Attempt, after: Attempt) -> bool:
    """Tell whether what was normal before can be expected again."""
    return bool(after.fingerprint) and (before.fingerprint, before.world_size) == (after.fingerprint, after.world_size)


def enrol(participants: Participants, rank: int, node: str, gpu: str = "", group: int = 0) -> int:
    """Make sure a rank has its place; give the place. Peers do the same work: the same pipeline stage is one group."""
    place = participants.index.get(rank)
    if place is not None:
        return place
    place = participants.index[rank] = len(participants.ranks)
    participants.ranks.append(rank)
    participants.nodes.append(node)
    participants.gpus.append(gpu)
    participants.groups.append(group)
    participants.last_steps.append(-1)
    return place


def enrol_frame(participants: Participants, frame: StepFrame) -> None:
    """Enrol the ranks of a frame and note how far they have come; a rank without a reading has not come so far."""
    index, steps = participants.index, participants.last_steps
    mute = _mute(frame)
    for position, rank in enumerate(frame.ranks):
        place = index[rank] if rank in index else enrol(participants, rank, frame.node)
        if steps[place] < frame.step and position not in mute:
            steps[place] = frame.step


def _mute(frame: StepFrame) -> tuple[int, ...]:
    """Name the places of the ranks that have no reading at all, where there are any readings."""
    columns = frame.values.values()
    if not columns or any(None not in readings for readings in columns):
        return ()
    return tuple(at for at in range(len(frame.ranks)) if all(readings[at] is None for readings in columns))


def behind(participants: Participants) -> tuple[int, ...]:
    """Name the ranks that stopped first: those behind the others, where they are fewer than half."""
    steps = [step for step in participants.last_steps if step >= 0]
    if not steps:
        return ()
    top = max(steps)
    late = [rank for rank, step in zip(participants.ranks, participants.last_steps, strict=True) if 0 <= step < top]
    return tuple(sorted(late)) if 2 * len(late) < len(steps) else ()
