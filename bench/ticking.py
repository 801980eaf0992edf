"""A simulated job as a runtime hears it: its records as they arrive, and a tick every five seconds."""

from collections.abc import Iterator

from schemas.telemetry import Telemetry, Tick
from streams.agents.simulated import arrivals, defects_for
from streams.agents.simulation.simulation import Simulation

TICK_SECONDS = 5.0
"""Where everybody falls silent, nothing else lets time pass."""


def heard(simulation: Simulation, seed: int) -> Iterator[Telemetry | Tick]:
    """Let a simulation pass to its end, with the defects of a seed.

    Args:
        simulation: advanced here.
        seed: of what happens to the telemetry on its way.
    """
    due = simulation.now
    for batch in arrivals(simulation, defects_for(seed)):
        for record in [*batch, None]:
            while due <= (simulation.now if record is None else record.time):
                yield Tick(time=due, every=TICK_SECONDS)
                due += TICK_SECONDS
            if isinstance(record, Telemetry):
                yield record
