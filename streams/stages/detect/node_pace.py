"""A node that has become slower than it was, in a job whose other nodes have not.

Where one node holds half of a group of peers or more, the peers cannot say who is slow: their median lies between the
two halves. What each node needed before says it. A node that holds a whole pipeline stage is left out: a stage that has
more to do is a matter of the layout.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field, structs

from detectors.base import Alarm, Floats, Ints
from detectors.level_shift import LevelShift, LevelShiftMemory
from detectors.robust import median
from streams.stages.detect.open_steps import Participants

_PACE = LevelShift(worth=0.05)
AFTER = 12
"""Steps by which the other nodes would have shown the same: what all of them show is no node's fault."""
SHARED = 0.3
"""Of a node's rise the others may have so much, and it is still its own."""
HALF = 0.5
"""Share of a group of peers from which on these cannot tell."""


class NodePace(Struct):
    """What each node's ranks need for their own work.

    Attributes:
        places: node -> the places of its ranks; one column each.
        halves: nodes that hold half of a group of peers or more.
        level: the nodes' levels; None before the first step.
        held: the rise of a node that has one, by name.
        told: the node that has been told of; "" where none has.
    """

    places: dict[str, Ints] = field(default_factory=dict)
    halves: list[str] = field(default_factory=list)
    level: LevelShiftMemory | None = None
    held: dict[str, Alarm] = field(default_factory=dict)
    told: str = ""


def fit(pace: NodePace, people: Participants) -> Iterator[Alarm]:
    """Take note of who takes part now; what was told of other nodes is taken back."""
    yield from _end(pace)
    nodes, groups = np.array(people.nodes), np.array(people.groups)
    pace.places = {node: np.flatnonzero(nodes == node) for node in sorted(set(people.nodes)) if node}
    pace.halves = [node for node, places in pace.places.items() if _holds_half(groups, places)]
    pace.level, pace.held = _PACE.blank(len(pace.places)), {}


def watch(pace: NodePace, step: int, own: Floats) -> Iterator[Alarm]:
    """Take one step.

    Args:
        pace: changed in place; fitted to who takes part.
        step: its number.
        own: seconds of own work, shape (ranks,), NaN = no reading.

    Returns:
        Alarms like those of a slow rank, `series` being the place of a rank, one for each rank of the node.
    """
    if pace.level is None or not pace.halves:
        return
    nodes = list(pace.places)
    row = np.array([_nearly_all(own[places]) for places in pace.places.values()])
    for alarm in _PACE.update(pace.level, step, row):
        yield from _take(pace, nodes[alarm.series], alarm)
    slower = [nodes[place] for place in np.flatnonzero(pace.level.direction > 0)]
    if len(slower) > 1:
        yield from _end(pace)
        _PACE.relearn(pace.level)
        pace.held.clear()
    elif slower and not pace.told and _is_ripe(pace, slower[0], step):
        pace.told = slower[0]
        yield from _of_ranks(pace.places[pace.told], pace.held[pace.told])


def _end(pace: NodePace) -> Iterator[Alarm]:
    """Take back what was told: others do the same now, or the nodes are others."""
    if pace.told in pace.held:
        yield from _of_ranks(pace.places[pace.told], structs.replace(pace.held[pace.told], over=True))
    pace.told = ""


def _take(pace: NodePace, node: str, alarm: Alarm) -> Iterator[Alarm]:
    if alarm.direction > 0 and not alarm.over:
        pace.held[node] = alarm
    else:
        pace.held.pop(node, None)
    if node == pace.told:
        yield from _of_ranks(pace.places[node], alarm)
        pace.told = "" if alarm.over else node


def _is_ripe(pace: NodePace, node: str, step: int) -> bool:
    """It has lasted, its peers cannot tell, and no other node has become slower meanwhile."""
    alarm = pace.held.get(node)
    if alarm is None or node not in pace.halves or step - alarm.index < AFTER or pace.level is None:
        return False
    risen = median(pace.level.latest) / pace.level.centre - 1.0
    risen[list(pace.places).index(node)] = 0.0
    return bool((risen <= SHARED * (alarm.after / alarm.before - 1.0)).all())


def _of_ranks(places: Ints, alarm: Alarm) -> Iterator[Alarm]:
    """The finding about a node, told of each of its ranks."""
    ratio = alarm.after / alarm.before
    for place in places:
        yield Alarm(
            series=int(place),
            index=alarm.index,
            onset=alarm.onset,
            before=alarm.before,
            after=alarm.after,
            limit=alarm.limit,
            score=alarm.score,
            direction=1,
            over=alarm.over,
            numbers={"ratio": ratio, "relative_score": min(1.0, 1.0 / ratio)},
        )


def _holds_half(groups: Ints, places: Ints) -> bool:
    mine = groups[places[0]]
    here, all_of_them = np.count_nonzero(groups[places] == mine), np.count_nonzero(groups == mine)
    return bool(HALF * all_of_them <= here < all_of_them)


def _nearly_all(own: Floats) -> float:
    """What three quarters of a node's ranks need at least: half of them cannot raise it."""
    given = np.sort(own[~np.isnan(own)])
    return float(given[(given.size - 1) // 4]) if given.size else float("nan")
