"""Many nodes that go missing at once: that is not so many faults."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 4
WITHIN_SECONDS = 120.0


class MassMissingMemory(Struct):
    """When each node was last reported missing, oldest first."""

    missing: dict[str, float] = field(default_factory=dict)
    told: int = 0


class MassMissing(Sign[MassMissingMemory]):
    """Count the nodes that were reported missing within two minutes."""

    name = "mass_missing"
    memory = MassMissingMemory

    def event(self, memory: MassMissingMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a report."""
        if event.event != "node.missing":
            return
        recent = {node: time for node, time in memory.missing.items() if event.time - time <= WITHIN_SECONDS}
        memory.told = memory.told if recent else 0
        memory.missing = {**recent, event.subject or event.node: event.time}
        gone = len(memory.missing)
        if gone >= FEWEST and gone >= 2 * memory.told:  # told again each time it has doubled
            memory.told = gone
            first = min(memory.missing.values())
            yield Seen(
                sign=self.name,
                again=f"{first:.0f}",
                onset_time=first,
                numbers={"nodes": float(gone)},
                text=f"{count(gone, 'node')} went missing within {max(memory.missing.values()) - first:.0f} s",
            )
