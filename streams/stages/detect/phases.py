"""Legitimate phases and the time they explain. A begin without an end expires and never switches detection off."""

from streams.stages.detect.memory import Phase, Phases

BUDGETS = {"warmup": 3600.0, "compile": 3600.0, "eval": 3600.0, "restore": 3600.0, "checkpoint": 1200.0}
"""Seconds a phase explains at most; what is not named here gets `OTHER`."""
OTHER = 1200.0
BLOCKING_STEPS = 3
"""So many steps closed inside a phase that should block them show that its end was missed."""
KEPT = 32
STEPPING = ("warmup",)
"""Phases in which steps go on."""


def begin(phases: Phases, name: str, time: float) -> None:
    """Open a phase; a second begin of the same name restarts it."""
    phases.open[name] = Phase(name=name, begin=time)


def end(phases: Phases, name: str, time: float) -> None:
    """End a phase; without a begin it has no length and does no harm."""
    phase = phases.open.pop(name, None)
    if phase is not None and time >= phase.begin:
        phase.end = time
        phases.ended = [*phases.ended[1 - KEPT :], phase]


def covering(phases: Phases, begin_time: float, end_time: float) -> str:
    """Name the phase that reaches into a stretch of time, or ""."""
    for phase in (*phases.open.values(), *phases.ended):
        if phase.begin < end_time and _end(phase) > begin_time:
            return phase.name
    return ""


def explained_seconds(phases: Phases, begin_time: float, end_time: float) -> float:
    """Sum up how much of a stretch of time the phases explain; at most all of it."""
    total = 0.0
    for phase in (*phases.open.values(), *phases.ended):
        total += max(0.0, min(_end(phase), end_time) - max(phase.begin, begin_time))
    return min(total, max(0.0, end_time - begin_time))


def step_closed(phases: Phases, time: float) -> None:
    """Expire phases that steps or time have overtaken."""
    for name, phase in list(phases.open.items()):
        phase.steps += time > phase.begin
        missed = phase.steps >= BLOCKING_STEPS and name not in STEPPING
        if missed or time > _end(phase):
            del phases.open[name]


def _end(phase: Phase) -> float:
    return phase.end if phase.end is not None else phase.begin + BUDGETS.get(phase.name, OTHER)
