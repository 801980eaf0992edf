"""Verification: a small experiment on the job itself.

The baseline was frozen before the onset. Steps are counted, not minutes; the steps of re-warming are left out; and the
job has recovered when the lower confidence bound of the mean is back at the share of the baseline that was asked for.
"""

import math
import statistics

from msgspec import Struct, field
from scipy.stats import t as student

from playbooks.playbook import Verify
from schemas.action import Verification
from schemas.wording import amount

CONFIDENCE = 0.95
CONTROL_STEPS = 10
"""Steps before the effect that tell whether the job was already well by then."""
DUE_MARGIN = 3
"""Steps past the due step of a save after which it is clear that it did not pause the job."""


class Trial(Struct, kw_only=True):
    """One action under verification.

    Attributes:
        asked: Unix seconds of the request, in the time of the records.
        baseline: healthy level of the signal, frozen before the onset; None for pauses.
        effect_step: step at which the trainer says the action took effect; None until it does.
        before: values of the last steps before the effect.
        after: values of the steps after the effect and the re-warming.
        pauses: lengths of the pauses since the effect, seconds.
        due_step: step of the next planned pause, None where it is not known.
        mixed: another action took effect meanwhile.
    """

    verify: Verify
    asked: float
    baseline: float | None = None
    effect_step: int | None = None
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    due_step: int | None = None
    mixed: bool = False


class Finding(Struct, frozen=True):
    """What a trial came to; `waiting` until it is over."""

    verdict: Verification
    detail: str = ""


WAITING = Finding("waiting")


def observe(trial: Trial, step: int, value: float | None, pause: float) -> None:
    """Take the values of one step into a trial.

    Args:
        value: of the signal under verification, None where the step has none.
        pause: seconds that a checkpoint held the job up before this step.
    """
    if trial.effect_step is None or step <= trial.effect_step:
        if value is not None:
            trial.before = [*trial.before, value][-CONTROL_STEPS:]
        return
    if pause > 0:
        trial.pauses.append(pause)
    elif value is not None and step > trial.effect_step + trial.verify.skip_steps:
        trial.after = [*trial.after, value][-trial.verify.steps :]


def judge(trial: Trial, now: float, step: int | None) -> Finding:
    """Tell what a trial has come to.

    Args:
        now: the job's stream clock, Unix seconds.
        step: the job's last step.
    """
    verify = trial.verify
    late = now - trial.asked > verify.within_seconds
    if trial.effect_step is None:
        return Finding("expired", "the trainer did not acknowledge it in time") if late else WAITING
    if verify.below is not None:
        return _judge_pauses(trial, verify.below, step)
    over = step is not None and step > trial.effect_step + verify.within_steps
    if len(trial.after) < verify.steps:
        return Finding("no_data", f"{len(trial.after)} of {verify.steps} steps seen") if late or over else WAITING
    return _judge_level(trial, over)


def lower_bound(values: list[float]) -> float:
    """One-sided 95 % confidence bound below the mean (Student's t).

    >>> round(lower_bound([1.0, 1.1, 0.9, 1.0]), 3)
    0.904
    """
    if len(values) < 2:
        return -math.inf
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.fmean(values) - float(student.ppf(CONFIDENCE, len(values) - 1)) * spread


def _judge_level(trial: Trial, over: bool) -> Finding:
    assert trial.baseline is not None
    if trial.baseline <= 0:
        return Finding("no_data", "a healthy level of nothing measures nothing")
    verify = trial.verify
    bound, wanted = lower_bound(trial.after), verify.at_least * trial.baseline
    words = (
        f"{verify.signal} {amount(verify.signal, statistics.fmean(trial.after))} over {len(trial.after)} steps, "
        f"at least {amount(verify.signal, bound)} with 95 % confidence; "
        f"{bound / trial.baseline:.0%} of the baseline {amount(verify.signal, trial.baseline)}, "
        f"{verify.at_least:.0%} wanted"
    )
    if bound < wanted:
        return Finding("failed", words) if over else WAITING
    if trial.mixed:
        return Finding("confounded", f"another action took effect meanwhile; {words}")
    if len(trial.before) >= CONTROL_STEPS and lower_bound(trial.before) >= wanted:
        return Finding("confounded", f"the job was well before the effect; {words}")
    return Finding("verified", words)


def _judge_pauses(trial: Trial, below: float, step: int | None) -> Finding:
    limit = amount("checkpoint_seconds", below)
    if trial.pauses:
        longest = max(trial.pauses)
        words = f"pause of {amount('checkpoint_seconds', longest)} after the effect, limit {limit}"
        return Finding("verified" if longest < below else "failed", words)
    if trial.due_step is not None and step is not None and step >= trial.due_step + DUE_MARGIN:
        return Finding("verified", f"no pause at the planned save of step {trial.due_step:,}, limit {limit}")
    over = step is not None and trial.effect_step is not None and step > trial.effect_step + trial.verify.within_steps
    return Finding("no_data", "no save was planned or made in that time") if over else WAITING
