"""The last values of every signal of the job, and what is normal for it."""

from playbooks.facts import Track
from schemas.detection import Vitals
from schemas.telemetry import is_finite
from streams.stages.correlate.memory import CorrelateMemory

KEPT = 200


def take(memory: CorrelateMemory, vitals: Vitals) -> None:
    """Put the values of one step or moment to their tracks."""
    memory.clock = max(memory.clock, vitals.clock, vitals.time)
    _forget(memory, vitals)
    starting = vitals.of != "step" and vitals.step is None and vitals.attempt > 0
    for name, reading in vitals.values.items() if not starting else ():
        if is_finite(reading) and reading is not None:
            track = memory.tracks.setdefault(name, Track())
            track.times.append(vitals.time)
            track.values.append(reading)
            if len(track.times) > KEPT:
                del track.times[0], track.values[0]
    for name, level in vitals.normal.items():
        if level is not None:
            memory.tracks.setdefault(name, Track()).normal = level
    if vitals.of == "step":
        memory.step, memory.step_time = vitals.step, vitals.time
    memory.records = max(memory.records, vitals.records)
    memory.world_size = vitals.world_size or memory.world_size


def _forget(memory: CorrelateMemory, vitals: Vitals) -> None:
    """Drop what belongs to another configuration: neither its values nor its levels say anything of this one."""
    for name, level in vitals.normal.items():
        if level is None:
            memory.tracks.pop(name, None)
