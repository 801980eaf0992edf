"""Who takes part in an attempt: ranks with their node, GPU and peer group, and how far each has come."""

from array import array

from schemas.telemetry import StepFrame
from streams.stages.detect.open_steps import Participants, Seats


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


def enrol_frame(participants: Participants, frame: StepFrame) -> bytes:
    """Enrol the ranks of a frame and note how far they have come; a rank without a reading has not come so far.

    Returns:
        The places of its ranks, as 64-bit integers side by side.
    """
    seats, mute = participants.seats.get(frame.node), _mute(frame)
    if seats is not None and seats.ranks == frame.ranks and not mute:
        seats.step = max(seats.step, frame.step)
        return seats.places
    places = array("q", [enrol(participants, rank, frame.node) for rank in frame.ranks])
    if not mute:
        _settle(participants, frame.node)
        participants.seats[frame.node] = Seats(list(frame.ranks), places.tobytes(), frame.step)
        return places.tobytes()
    steps = participants.last_steps
    for position, place in enumerate(places):
        if position not in mute:
            steps[place] = max(steps[place], frame.step)
    return places.tobytes()


def take_over(participants: Participants, before: Participants) -> None:
    """Enrol those who were known before, as far as they had come."""
    for node in before.seats:
        _settle(before, node)
    for rank, node, step in zip(before.ranks, before.nodes, before.last_steps, strict=True):
        place = enrol(participants, rank, node)
        participants.last_steps[place] = max(participants.last_steps[place], step)


def moved(places: bytes, before: Participants, after: Participants) -> bytes:
    """Give the places of ranks among other participants, all of whom are enrolled there."""
    return array("q", [after.index[before.ranks[place]] for place in array("q", places)]).tobytes()


def _settle(participants: Participants, node: str) -> None:
    """Note for each rank what is known of the node's ranks together."""
    seats, steps = participants.seats.get(node), participants.last_steps
    if seats is not None:
        for place in array("q", seats.places):
            steps[place] = max(steps[place], seats.step)


def _mute(frame: StepFrame) -> tuple[int, ...]:
    """Name the places of the ranks that have no reading at all, where there are any readings."""
    columns = frame.values.values()
    for readings in columns:
        if None not in readings:
            return ()
    if not columns:
        return ()
    return tuple(at for at in range(len(frame.ranks)) if all(readings[at] is None for readings in columns))


def behind(participants: Participants) -> tuple[int, ...]:
    """Name the ranks that stopped first: those behind the others, where they are fewer than half."""
    for node in participants.seats:
        _settle(participants, node)
    steps = [step for step in participants.last_steps if step >= 0]
    if not steps:
        return ()
    top = max(steps)
    late = [rank for rank, step in zip(participants.ranks, participants.last_steps, strict=True) if 0 <= step < top]
    return tuple(sorted(late)) if 2 * len(late) < len(steps) else ()


def left_behind(participants: Participants) -> tuple[int, ...]:
    """Name the ranks that did not end the last step, while others of their node did and said so.

    Where a whole node has not told of a step, its frame may be lost; where a frame came without a rank, it was not.
    """
    late, nodes = set(behind(participants)), participants.nodes
    told = {nodes[participants.index[rank]] for rank in participants.ranks if rank not in late}
    return tuple(sorted(rank for rank in late if nodes[participants.index[rank]] in told))
