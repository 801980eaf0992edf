"""Limits of playbooks on signals: for how many steps in a row each has held, and when it last held long enough."""

from playbooks.match import limit_key
from playbooks.playbook import Limit, Playbook
from schemas.detection import Vitals
from streams.stages.decide.memory import DecideMemory


def limits_on_signals(playbooks: tuple[Playbook, ...]) -> tuple[Limit, ...]:
    """Collect every limit on a signal, each once."""
    found = {limit_key(limit): limit for playbook in playbooks for limit in playbook.when.all if limit.signal}
    return tuple(found.values())


def count(memory: DecideMemory, limits: tuple[Limit, ...], vitals: Vitals) -> bool:
    """Count one step; True where a limit holds now that did not hold before.

    A step that has no reading of the signal, or lies in a legitimate phase, neither breaks nor lengthens a row.
    """
    news = False
    for limit in limits:
        value = vitals.values.get(limit.signal)
        if value is None or (vitals.phase and limit.steps > 1):
            continue
        key = limit_key(limit)
        streak = memory.streaks.get(key, 0) + 1 if value > limit.above else 0
        memory.streaks[key] = streak
        if streak >= limit.steps:
            news |= streak == limit.steps
            memory.held[key] = vitals.time
    return news
