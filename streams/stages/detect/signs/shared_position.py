"""Slow ranks that have their position in the job in common and no machine: what they work on is what is slow."""

import statistics
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.detection import Detection
from schemas.telemetry import Event, as_count
from schemas.wording import count, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

POSITIONS = {"ep": "expert", "tp": "position", "cp": "position", "dp": "position"}
"""Coordinates in which ranks may agree, and the part under which that is told."""
MOSTLY = 0.75
"""Share of the ranks of one position that has to be slow, and of those of a node that makes it the node's matter."""
FEWEST = 3
"""So many slow ranks on so many nodes, or on all there are, are no coincidence of machines."""
COMPUTING = ("compute", "optimizer", "")
"""Parts of the work that a slow GPU would hold up."""


class SharedPositionMemory(Struct):
    """Where the ranks stand, coordinate -> rank -> value, and the step of the first slow one that was told of."""

    positions: dict[str, dict[int, int]] = field(default_factory=dict)
    told: str = ""


class SharedPosition(Sign[SharedPositionMemory]):
    """Tell that the slow ranks of several nodes share their expert or another coordinate, or are simply everywhere."""

    name = "shared_position"
    memory = SharedPositionMemory

    def event(self, memory: SharedPositionMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Learn the layout."""
        if event.event == "attempt.started":
            memory.positions, memory.told = _positions(event.data.get("placement")), ""
        yield from ()

    def step(self, memory: SharedPositionMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Look at the ranks that are slow now."""
        active = scene.attempt.active.values()
        slow = [one for one in active if one.detector == "slow_rank" and one.part in COMPUTING and one.ranks]
        part = self._part(memory, scene, {one.ranks[0] for one in slow}) if len(slow) > 1 else ""
        if part:
            first = min(slow, key=lambda one: (one.onset_time, one.id))
            memory.told = memory.told or str(first.onset_step)
            yield self._seen(memory, part, slow, first)
        elif memory.told:
            yield Seen(sign=self.name, again=memory.told, onset_time=closed.time, over=True, end_step=closed.step)
            memory.told = ""

    def _part(self, memory: SharedPositionMemory, scene: Scene, slow: set[int]) -> str:
        """What the slow ranks have in common beside being slow: "" where that may be their machines."""
        people = scene.attempt.participants
        here, width = Counter(map(scene.node_of, sorted(slow))), Counter(people.nodes)
        if "" in here or len(here) < 2 or any(here[node] >= max(2, MOSTLY * width[node]) for node in here):
            return ""
        for name, places in memory.positions.items():
            if _are_whole(slow, places):
                return POSITIONS[name]
        many = len(slow) >= FEWEST and (len(here) >= FEWEST or len(here) == len(width))
        return "spread" if many and 2 * len(here) >= len(width) else ""

    def _seen(self, memory: SharedPositionMemory, part: str, slow: list[Detection], first: Detection) -> Seen:
        ranks = sorted(one.ranks[0] for one in slow)
        nodes = {node for one in slow for node in one.nodes}
        ratio = statistics.median((one.after or 1.0) / (one.before or 1.0) for one in slow)
        common = {"expert": "they hold the same experts", "position": "they have the same place in the layout"}
        return Seen(
            sign=self.name,
            again=memory.told,
            part=part,
            onset_time=first.onset_time,
            onset_step=first.onset_step,
            before=1.0,
            after=ratio,
            numbers={"ranks": float(len(ranks)), "nodes": float(len(nodes))},
            text=(
                f"{count(len(ranks), 'rank')} on {count(len(nodes), 'node')} work {ratio:.2f} × as long as their "
                f"peers since {step_words(first.onset_step)}; "
                f"{common.get(part, 'they are on most nodes, and on none are they all')}"
            ),
        )


def _positions(placement: object) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for place in placement if isinstance(placement, list) else []:
        rank = as_count(place.get("rank")) if isinstance(place, dict) else None
        for name in POSITIONS if rank is not None else ():
            value = as_count(place.get(name))
            if rank is not None and value is not None:
                found.setdefault(name, {})[rank] = value
    return {name: found[name] for name in POSITIONS if name in found}


def _are_whole(slow: set[int], places: dict[int, int]) -> bool:
    """Tell whether the slow ranks are those of a few positions, nearly all of each and nobody else."""
    values, held = Counter(places.values()), Counter(places[rank] for rank in slow if rank in places)
    few = len(held) <= len(values) / 2 and held.total() == len(slow)
    return few and all(values[one] > 1 and times >= MOSTLY * values[one] for one, times in held.items())
