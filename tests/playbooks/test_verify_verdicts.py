"""Verification: a small experiment whose verdict says how sure it is."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from playbooks.playbook import Verify
from playbooks.verify import CONTROL_STEPS, DUE_MARGIN, Finding, Trial, judge, lower_bound, observe
from schemas.telemetry import Reading

ASKED = 1_740_960_000.0
BASELINE = 1.0e6
EFFECT = 100
VERIFY = Verify(skip_steps=5, steps=20, within_steps=60, within_seconds=900.0)
PAUSES = Verify(signal="checkpoint_seconds", below=30.0, within_steps=60)
ILL, WELL = [0.7e6, 0.71e6] * 15, [0.99e6, 1.0e6, 1.01e6] * 20


def run(
    trial: Trial,
    before: list[float],
    after: Sequence[Reading],
    pauses: dict[int, float] | None = None,
    per_step: float = 1.0,
) -> tuple[Finding, int]:
    """Feed values up to the effect and after it, judging at every step; the first verdict and its step."""
    steps: list[tuple[int, Reading]] = [*((EFFECT - len(before) + 1 + n, value) for n, value in enumerate(before))]
    steps += [(EFFECT + 1 + n, value) for n, value in enumerate(after)]
    for step, value in steps:
        if step > EFFECT:
            trial.effect_step = EFFECT
        observe(trial, step, value, (pauses or {}).get(step, 0.0))
        finding = judge(trial, ASKED + per_step * (step - EFFECT), step)
        if finding.verdict != "waiting":
            return finding, step
    return finding, step


def a_trial(verify: Verify = VERIFY, **changed: object) -> Trial:
    """A trial of an action that was asked for at step 100."""
    trial = Trial(verify=verify, asked=ASKED, baseline=BASELINE if verify.below is None else None)
    for name, value in changed.items():
        setattr(trial, name, value)
    return trial


def test_a_job_that_is_well_again_is_verified_at_once() -> None:
    """With the first twenty steps after the re-warming the job is found to have recovered."""
    finding, step = run(a_trial(), ILL, WELL)
    assert finding.verdict == "verified"
    assert step == EFFECT + VERIFY.skip_steps + VERIFY.steps
    assert finding.detail == (
        "tokens_per_second 1M tokens/s over 20 steps, at least 997k tokens/s with 95 % confidence; "
        "100% of the baseline 1M tokens/s, 90% wanted"
    )


def test_the_steps_of_re_warming_are_left_out() -> None:
    """Five slow steps right after the effect do not speak against it, a sixth one does."""
    assert run(a_trial(), ILL, [0.2e6] * 5 + WELL)[1] == EFFECT + 25
    assert run(a_trial(), ILL, [0.2e6] * 6 + WELL)[1] > EFFECT + 25


def test_a_job_that_stays_ill_fails_when_its_time_is_over() -> None:
    """A failure is told only after all the steps it was given, and says how far the job came."""
    finding, step = run(a_trial(), ILL, ILL * 3)
    assert (finding.verdict, step) == ("failed", EFFECT + VERIFY.within_steps + 1)
    assert "70% of the baseline" in finding.detail
    assert "90% wanted" in finding.detail


def test_a_job_that_recovers_late_is_verified() -> None:
    """What counts is the last twenty steps, within the time allowed."""
    finding, step = run(a_trial(), ILL, [*ILL[:25], *WELL])
    assert finding.verdict == "verified"
    assert EFFECT + 35 <= step <= EFFECT + VERIFY.within_steps


def test_a_recovery_that_nobody_caused_is_confounded() -> None:
    """A job that was well before the effect proves nothing about the action."""
    finding, _ = run(a_trial(), [*ILL, *WELL[:CONTROL_STEPS]], WELL)
    assert finding.verdict == "confounded"
    assert finding.detail.startswith("the job was well before the effect")


def test_too_few_steps_before_the_effect_are_no_control() -> None:
    """Nine good steps before the effect are not enough to call the recovery a coincidence."""
    assert run(a_trial(), WELL[: CONTROL_STEPS - 1], WELL)[0].verdict == "verified"


def test_two_actions_at_once_are_confounded() -> None:
    """Where another action took effect meanwhile, nobody can say which one helped."""
    finding, _ = run(a_trial(mixed=True), ILL, WELL)
    assert finding.verdict == "confounded"
    assert finding.detail.startswith("another action took effect meanwhile")


def test_two_actions_that_did_not_help_have_failed() -> None:
    """What did not help is no success of anybody, mixed or not."""
    assert run(a_trial(mixed=True), ILL, ILL * 3)[0].verdict == "failed"


def test_a_trial_without_an_effect_expires() -> None:
    """An action that the trainer never acknowledges is given up after its time, to the second."""
    trial = a_trial()
    assert judge(trial, ASKED + 900.0, 150).verdict == "waiting"
    finding = judge(trial, ASKED + 900.5, 150)
    assert (finding.verdict, finding.detail) == ("expired", "the trainer did not acknowledge it in time")


def test_a_trial_without_readings_has_no_data() -> None:
    """Steps without a value are no evidence either way; when the time is over there were too few."""
    finding, step = run(a_trial(), ILL, [*WELL[:15], *([None] * 60)])
    assert (finding.verdict, finding.detail) == ("no_data", "10 of 20 steps seen")
    assert step == EFFECT + VERIFY.within_steps + 1


def test_a_job_that_stops_has_no_data() -> None:
    """When no step comes any more, the clock ends the trial."""
    trial = a_trial(effect_step=EFFECT)
    observe(trial, EFFECT + 6, 1.0e6, 0.0)
    assert judge(trial, ASKED + 100.0, EFFECT + 6).verdict == "waiting"
    assert judge(trial, ASKED + 901.0, EFFECT + 6).verdict == "no_data"


def test_a_step_with_a_save_in_it_is_left_out() -> None:
    """The pause of a planned save is not the action's fault."""
    saves = dict.fromkeys(range(EFFECT + 1, EFFECT + 60, 8), 6.0)
    slow_saves: list[Reading] = [0.1e6 if EFFECT + 1 + n in saves else value for n, value in enumerate(WELL)]
    assert run(a_trial(), ILL, slow_saves, saves)[0].verdict == "verified"


def test_a_healthy_level_of_nothing_measures_nothing() -> None:
    """A share of zero has no meaning, so that there is no verdict and no error."""
    assert run(a_trial(baseline=0.0), ILL, WELL)[0].verdict == "no_data"


@pytest.mark.parametrize(
    ("pauses", "due", "verdict", "at"),
    [
        pytest.param({110: 12.0}, None, "verified", 110, id="a short pause"),
        pytest.param({110: 29.9}, None, "verified", 110, id="a pause under the limit"),
        pytest.param({110: 30.0}, None, "failed", 110, id="a pause at the limit"),
        pytest.param({110: 55.0}, 120, "failed", 110, id="a long pause before the planned save"),
        pytest.param({100: 55.0, 110: 2.0}, None, "verified", 110, id="a long pause before the effect"),
        pytest.param({}, 120, "verified", 120 + DUE_MARGIN, id="no pause at the planned save"),
        pytest.param({}, None, "no_data", 161, id="no save at all"),
    ],
)
def test_pauses(pauses: dict[int, float], due: int | None, verdict: str, at: int) -> None:
    """The first pause after the effect decides; so does its absence where one was planned."""
    finding, step = run(a_trial(PAUSES, due_step=due), ILL, WELL * 2, pauses)
    assert (finding.verdict, step) == (verdict, at)


def test_the_verdict_on_a_pause_has_its_numbers() -> None:
    """A person reads how long the pause was, and what was wanted."""
    assert run(a_trial(PAUSES), ILL, WELL, {110: 55.0})[0].detail == "pause of 55 s after the effect, limit 30 s"


@given(st.lists(st.floats(0.1, 10.0), min_size=2, max_size=40))
def test_the_lower_bound_is_students(values: list[float]) -> None:
    """The bound is the one-sided 95 % limit of Student's t, as NumPy and SciPy calculate it."""
    margin = stats.t.ppf(0.95, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    assert lower_bound(values) == pytest.approx(float(np.mean(values) - margin), rel=1e-9, abs=1e-9)


def test_one_value_bounds_nothing() -> None:
    """From a single step nothing follows."""
    assert lower_bound([]) == lower_bound([5.0]) == -math.inf


def noisy(level: float, count: int, seed: int) -> list[float]:
    """Steps about a share of the baseline, with 5 % noise."""
    return [BASELINE * level * float(x) for x in np.random.default_rng(seed).normal(1.0, 0.05, count)]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_a_job_at_its_baseline_is_verified(seed: int) -> None:
    """A job that is truly back, with 5 % noise, is always found to be so, soon."""
    finding, step = run(a_trial(), noisy(0.7, 30, seed), noisy(1.0, 80, seed + 1))
    assert finding.verdict == "verified"
    assert step <= EFFECT + 35


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_a_job_at_four_fifths_is_never_verified(seed: int) -> None:
    """A job that is truly at 80 %, with 5 % noise, always fails, however often one looks."""
    trial = Verify(skip_steps=5, steps=20, within_steps=300)
    assert run(a_trial(trial), noisy(0.7, 30, seed), noisy(0.8, 320, seed + 1))[0].verdict == "failed"
