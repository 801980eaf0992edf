"""Trials of actions: the trainer's acknowledgement begins them, the job's steps feed them, a verdict ends them."""

import statistics

from msgspec import structs

from playbooks.playbook import Playbook
from playbooks.verify import WAITING, Finding, Trial, judge, observe
from schemas.detection import Vitals
from schemas.telemetry import Event, as_count, is_finite
from streams.stages.decide.memory import Book, DecideMemory, Entry

FEWEST_SAVES = 2


def begin(memory: DecideMemory, book: Book, playbook: Playbook) -> Trial | None:
    """Make the trial of an action that is about to be requested; None where success is not told on the job."""
    verify = playbook.verify
    if verify is None:
        return None
    return Trial(
        verify=verify,
        asked=memory.clock,
        baseline=None if verify.below is not None else book.normal.get(verify.signal),
        due_step=_next_save(memory) if verify.below is not None else None,
    )


def acknowledged(memory: DecideMemory, event: Event) -> bool:
    """Take the trainer's acknowledgement of a request; False where nobody waits for it."""
    step, error = as_count(event.data.get("step")), event.data.get("error")
    for book in memory.books.values():
        for entry in book.entries.values():
            if entry.request is None or entry.request.id != event.data.get("request") or entry.trial is None:
                continue
            if error:
                entry.shown = structs.replace(entry.shown, outcome="failed", verification="", detail=str(error))
                entry.trial = None
            elif step is not None and entry.trial.effect_step is None:
                _take_effect(memory, entry, entry.trial, step)
            return True
    return False


def _take_effect(memory: DecideMemory, entry: Entry, trial: Trial, step: int) -> None:
    trial.effect_step = step
    entry.shown = structs.replace(entry.shown, step=step, outcome="done")
    for other in _running(memory):
        if other is not trial and other.effect_step is not None and other.verify.signal == trial.verify.signal:
            same_measure = (other.verify.below is None) == (trial.verify.below is None)
            other.mixed |= same_measure
            trial.mixed |= same_measure


def step_closed(memory: DecideMemory, vitals: Vitals) -> None:
    """Feed the values of a step to every running trial."""
    if vitals.step is None:
        return
    pause = vitals.values.get("checkpoint_seconds") or 0.0
    for trial in _running(memory):
        value = vitals.values.get(trial.verify.signal)
        usable = is_finite(value) and not vitals.phase
        observe(trial, vitals.step, value if usable else None, pause if is_finite(pause) else 0.0)


def judged(memory: DecideMemory, entry: Entry) -> Finding:
    """Tell what the trial of an entry has come to; it is over with anything but `waiting`."""
    if entry.trial is None:
        return WAITING
    finding = judge(entry.trial, memory.clock, memory.step)
    if finding.verdict != "waiting":
        entry.shown = structs.replace(entry.shown, verification=finding.verdict, detail=finding.detail)
        entry.trial = None
    return finding


def _running(memory: DecideMemory) -> list[Trial]:
    return [entry.trial for book in memory.books.values() for entry in book.entries.values() if entry.trial is not None]


def _next_save(memory: DecideMemory) -> int | None:
    """The step at which the next save is due, from the distance of the earlier ones."""
    if len(memory.saves) < FEWEST_SAVES:
        return None
    gaps = [after - before for before, after in zip(memory.saves, memory.saves[1:], strict=False) if after > before]
    return memory.saves[-1] + int(statistics.median(gaps)) if gaps else None
