"""GPU-hours lost, added up by what caused them and by who: time beyond the frozen pace, times the GPUs that waited."""

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from schemas.incident import Incident

By = Literal["incident", "cause", "layer", "job", "node"]
METHOD = (
    "seconds from step to step beyond the pace frozen before the onset, announced phases left out, times the GPUs of "
    "the attempt; where incidents overlap, the first takes the second"
)
NOBODY = "nobody in particular"


class Cost(Struct, frozen=True):
    """What one cause, job or node came to."""

    name: str
    incidents: int
    gpu_hours: float
    share: float


def costs(incidents: Iterable[Incident], by: By) -> tuple[Cost, ...]:
    """Add up the hours, the dearest first; an incident that blames several nodes is split evenly among them.

    Args:
        incidents: each in its last revision; legitimate ones cost nothing.
        by: what to add up over.
    """
    hours: dict[str, float] = {}
    numbers: dict[str, int] = {}
    for incident in incidents:
        if incident.layer == "none":
            continue
        names = _NAMES[by](incident)
        for name in names:
            hours[name] = hours.get(name, 0.0) + incident.gpu_hours_lost / len(names)
            numbers[name] = numbers.get(name, 0) + 1
    total = sum(hours.values()) or 1.0
    rows = [Cost(name, numbers[name], round(lost, 3), round(lost / total, 4)) for name, lost in hours.items()]
    return tuple(sorted(rows, key=lambda one: (-one.gpu_hours, one.name)))


_NAMES: dict[By, Callable[[Incident], tuple[str, ...]]] = {
    "incident": lambda one: (one.id,),
    "cause": lambda one: (one.cause,),
    "layer": lambda one: (one.layer,),
    "job": lambda one: (one.job,),
    "node": lambda one: one.nodes or (NOBODY,),
}
