"""Look where a clue points: it holds, it does not, or it cannot be seen."""

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from playbooks.cause import Clue, covers
from playbooks.facts import Facts, is_seen_since, level_name, moved_by, present_level
from schemas.detection import Detection
from schemas.signals import signal_named
from schemas.telemetry import Event
from schemas.wording import amount, change

MOST, HALF, SEVERAL = 0.75, 0.5, 4
"""Shares of a node's ranks that stand for all of it: where so many are concerned, half are what a socket serves."""


class Answer(Struct, frozen=True):
    """What one clue came to.

    Attributes:
        holds: True, False, or None where it cannot be seen.
        sure: a detector or an event says so; False where it is read off the job's values.
        sources: the detections and events behind it.
    """

    holds: bool | None
    text: str
    layer: str
    sure: bool = True
    sources: tuple[Detection | Event, ...] = ()


def ask(clue: Clue, facts: Facts) -> Answer:
    """Look where a clue points."""
    if clue.since and not is_seen_since(facts, clue.moved or clue.value):
        name = clue.moved or clue.value
        return Answer(None, f"{name} was not seen since the onset", _layer(name))
    if clue.moved:
        return _moved(clue, facts)
    if clue.value:
        return _value(clue, facts)
    if clue.event:
        return _event(clue, facts)
    return _detector(clue, facts)


def is_found(clue: Clue, detection: Detection) -> bool:
    """Tell whether a detection is of the kind a clue asks for, `whole_node` and `alone` left aside."""
    if clue.moved:
        return covers((clue.moved,), detection.signal) and clue.direction in ("", detection.direction)
    if clue.detector != detection.detector:
        return False
    part_fits = not clue.parts or detection.part in clue.parts
    return part_fits and clue.signal in ("", detection.signal) and clue.direction in ("", detection.direction)


def is_event(clue: Clue, event: Event) -> bool:
    """Tell whether an event is of the kind a clue asks for."""
    if clue.event != event.event or (clue.codes and _code(event) not in clue.codes):
        return False
    return not clue.text or bool(_pattern(clue.text).search(f"{event.data.get('error', '')} {event.text}"))


def _code(event: Event) -> object:
    """The code of a fault, or the one with which a process ended."""
    return event.data.get("code", event.data.get("exit_code"))


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _moved(clue: Clue, facts: Facts) -> Answer:
    layer = _layer(clue.moved)
    found = _in_order(one for one in facts.detections if is_found(clue, one) and one.detector != "sustained")
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return Answer(True, found[0].text + more, layer, sources=found)
    present = present_level(facts, clue.moved) if clue.or_above is not None else None
    if clue.or_above is not None and present is not None and present > clue.or_above:
        high = f"{amount(clue.moved, present)}, over {amount(clue.moved, clue.or_above)}"
        return Answer(True, f"{clue.moved} is {high}", layer)
    seen = None if clue.moved.endswith("*") else moved_by(facts, clue.moved)
    if seen is None:
        return Answer(None, f"{clue.moved} was not seen", layer)
    normal, present, direction = seen
    if direction and clue.direction in ("", "up" if direction > 0 else "down"):
        return Answer(True, f"{clue.moved} {change(clue.moved, normal, present)}", layer, sure=False)
    return Answer(
        False, f"{clue.moved} did not go {clue.direction or 'anywhere'}: {_levels(clue.moved, normal, present)}", layer
    )


def _value(clue: Clue, facts: Facts) -> Answer:
    layer, present = _layer(clue.value), present_level(facts, clue.value)
    if present is None:
        return Answer(None, f"{clue.value} was not seen", layer)
    limit = clue.above if clue.above is not None else clue.below
    assert limit is not None
    holds = present > limit if clue.above is not None else present < limit
    before = facts.before.get(level_name(clue.value)) if clue.newly else None
    if holds and before is not None and (before > limit if clue.above is not None else before < limit):
        was = f"{clue.value} is {amount(clue.value, present)}, but it was {amount(clue.value, before)} before as well"
        return Answer(None, was, layer)
    side = "over" if (clue.above is not None) == holds else "under"
    return Answer(holds, f"{clue.value} is {amount(clue.value, present)}, {side} {amount(clue.value, limit)}", layer)


def _event(clue: Clue, facts: Facts) -> Answer:
    found = tuple(
        sorted((one for one in facts.events if is_event(clue, one)), key=lambda one: (one.time, one.node, one.seq))
    )
    codes = f" {' or '.join(map(str, clue.codes[:4]))}" if clue.codes else ""
    if not found:
        return Answer(False, f"no {clue.event}{codes}{' like that' if clue.text else ''} was reported", "system")
    first = found[0]
    what = first.text or f"{first.event}{codes}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Answer(True, f"{first.node}: {what}{more}", "system", sources=found)


def _detector(clue: Clue, facts: Facts) -> Answer:
    found = _in_order(one for one in facts.detections if is_found(clue, one))
    layer = _layer(clue.signal) if clue.signal else (found[0].layer if found else "throughput")
    if found and (clue.whole_node or clue.alone) and _is_whole_node(found, facts) != clue.whole_node:
        found = ()
    if not found:
        return Answer(False, _nothing(clue, facts), layer)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Answer(True, found[0].text + more, layer, sources=found)


def _in_order(found: Iterable[Detection]) -> tuple[Detection, ...]:
    """The oldest first, so that the same findings are told in the same words."""
    return tuple(sorted(found, key=lambda one: (one.onset_time, one.signal, one.subject, one.id)))


def _nothing(clue: Clue, facts: Facts) -> str:
    """Say what a detector did not find, with the numbers where the signal has them."""
    what = clue.detector.replace("_", " ")
    parts = [part.replace("_", " ") for part in clue.parts if part]
    if parts:
        return f"no {what} in {' or '.join(parts)}"
    if not clue.signal:
        return f"no {what}{' on a whole node' if clue.whole_node else ''}"
    seen = moved_by(facts, clue.signal)
    return f"no {what} of {clue.signal}" + (f": {_levels(clue.signal, seen[0], seen[1])}" if seen else "")


def _is_whole_node(found: tuple[Detection, ...], facts: Facts) -> bool:
    ranks = {rank for one in found for rank in one.ranks}
    nodes = {facts.rank_nodes.get(rank, "") for rank in ranks}
    if len(nodes) != 1 or len(ranks) < 2:
        return False
    on_it = facts.node_ranks.get(nodes.pop())
    return on_it is not None and len(ranks) >= (MOST if len(ranks) < SEVERAL else HALF) * on_it


def _levels(signal: str, normal: float, present: float) -> str:
    return f"{amount(signal, present)}, normal {amount(signal, normal)}"


def _layer(signal: str) -> str:
    return signal_named(signal).layer
