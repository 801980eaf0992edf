"""The same mount, node or fabric behind several jobs: one fault of the cluster and not one of each job."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

TOGETHER_SECONDS = 900.0
"""Incidents of different jobs with the same culprit belong together when they began so close to each other."""
AT_ONCE_SECONDS = 120.0
"""The same where there is no culprit to compare, as with a fabric."""
KEPT = 500
NOBODY = ""
WITHOUT_CULPRIT = ("network",)
_PARTS = {"storage": "storage", "network": "network", "gpu": "node", "host": "node", "interconnect": "node"}


class Told(Struct):
    """An incident of a job: `entity` is its culprit as kind and name, or ""."""

    job: str
    incident: str
    layer: str
    entity: str
    time: float


class SharedFaultMemory(Struct):
    """The last incidents that jobs reported."""

    told: list[Told] = field(default_factory=list)


class SharedFault(Sign[SharedFaultMemory]):
    """Count the jobs that report the same culprit, or the same trouble of what they share, at the same time."""

    name = "shared_fault"
    memory = SharedFaultMemory

    def event(self, memory: SharedFaultMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take the incident of a job."""
        layer = str(event.data.get("layer"))
        if event.event != "job.incident" or layer not in _PARTS:
            return
        one = Told(str(event.data.get("job")), str(event.data.get("incident")), layer, event.subject, event.time)
        memory.told = [*memory.told[1 - KEPT :], one]
        alike = [other for other in memory.told if _is_alike(one, other)]
        jobs = sorted({other.job for other in alike})
        if len(jobs) < 2:
            return
        kind, _, name = one.entity.partition(":")
        what = name or f"the {'fabric' if layer == 'network' else layer}"
        yield Seen(
            sign=self.name,
            subject=one.entity or "cluster",
            again=_PARTS[layer],
            part=_PARTS[layer],
            onset_time=min(other.time for other in alike),
            nodes=(name,) if kind == "node" else (),
            numbers={"jobs": float(len(jobs))},
            text=f"{what} is behind incidents of {count(len(jobs), 'job')}: {', '.join(jobs[:4])}",
        )


def _is_alike(one: Told, other: Told) -> bool:
    apart = abs(one.time - other.time)
    if one.entity != other.entity:
        return False
    if one.entity == NOBODY:
        return one.layer == other.layer and one.layer in WITHOUT_CULPRIT and apart <= AT_ONCE_SECONDS
    return _PARTS[one.layer] == _PARTS[other.layer] and apart <= TOGETHER_SECONDS
