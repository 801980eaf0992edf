"""The last values of every signal of the job, and what is normal for it."""

from playbooks.facts import Track
from schemas.detection import Vitals
from schemas.telemetry import is_finite
from streams.stages.correlate.memory import CorrelateMemory

KEPT = 200


def take(memory: CorrelateMemory, vitals: Vitals) -> None:
    """Put the values of one step or moment to their tracks."""
    memory.clock = max(memory.clock, vitals.clock, vitals.time)
    for name, reading in vitals.values.items():
        if is_finite(reading) and reading is not None:
            track = memory.tracks.setdefault(name, Track())
            track.times.append(vitals.time)
            track.values.append(reading)
            if len(track.times) > KEPT:
                del track.times[0], track.values[0]
    for name, reading in vitals.normal.items():
        memory.tracks.setdefault(name, Track()).normal = reading
    if vitals.of == "step":
        memory.step, memory.step_time = vitals.step, vitals.time
    memory.world_size = vitals.world_size or memory.world_size
