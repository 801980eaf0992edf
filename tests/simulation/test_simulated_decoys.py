"""Decoys look like faults, and say what they are."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.simulation.lived import Lived

Runs = Callable[[str], Lived]


def test_a_warm_up_is_announced(lived: Runs) -> None:
    """The first steps are up to three times as long, between the begin and the end of a phase."""
    run = lived("warmup")
    seconds = run.step_seconds(1, 600)
    assert seconds[0] > 2.0 * np.median(seconds)
    assert np.median(seconds[40:100]) == pytest.approx(np.median(seconds), rel=0.01)
    begin, end = run.events("phase.begin")[0], run.events("phase.end")[0]
    assert begin.time < run.time_of(1) <= run.time_of(39) < end.time < run.time_of(41)


def test_an_evaluation_is_a_gap_between_steps(lived: Runs) -> None:
    """The gap of 90 s lies between begin and end of the phase, has a validation loss, and no step is longer for it."""
    run = lived("evaluation")
    assert len(run.events("phase.begin")) == len(run.events("phase.end")) == 4
    gap = run.time_of(1_201) - run.time_of(1_200) - run.step_seconds(1_201, 1_201)[0]
    assert gap == pytest.approx(90.0, abs=0.2)
    assert run.step_seconds(1_000, 1_600).max() < 1.15
    valid = [r for r in run.records if "valid_loss" in getattr(r, "job_values", {})]
    assert [getattr(record, "step", None) for record in valid] == [1_000, 1_200, 1_400, 1_600]


def test_pauses_of_which_nothing_is_said(lived: Runs) -> None:
    """While the first rank saves its GPU idles and the others spin; no event tells of that, nor of an evaluation."""
    run = lived("silent_pauses")
    assert run.events("checkpoint.begin") == run.events("checkpoint.end") == run.events("phase.begin") == []
    util, power = (run.sampled(name, "n01", 1_050, 1_051)[2:10] for name in ("gpu_util", "power_watts"))
    assert util[:, 0].max() < 0.1
    assert util[:, 1:].min() > 0.9
    assert power[:, 1:].max() < 300.0


def test_a_larger_batch_costs_no_tokens(lived: Runs) -> None:
    """Steps are longer by a third or more after the announced change, tokens per second are not fewer."""
    run = lived("batch_ramp")
    assert run.events("config.changed")[0].data == {"tokens": [262_144, 393_216]}
    seconds, tokens = run.step_seconds(1_000, 1_600), run.finite("tokens", 1_000, 1_600)
    assert np.median(seconds[300:]) > 1.3 * np.median(seconds[:300])
    assert np.median((tokens / seconds)[300:]) > 0.99 * np.median((tokens / seconds)[:300])


def test_a_restart_on_fewer_nodes_is_another_attempt(lived: Runs) -> None:
    """The second attempt has half the ranks, another fingerprint, goes on at the next step and is slower by layout."""
    run = lived("restart_smaller")
    first, second = run.events("attempt.started")
    assert (first.attempt, second.attempt) == (1, 2)
    assert (first.data["world_size"], second.data["world_size"]) == (32, 16)
    assert first.data["fingerprint"] != second.data["fingerprint"]
    assert second.data["resume_step"] == 1_350
    assert run.events("attempt.ended")[0].data == {"reason": "requeued", "exit_code": 0}
    assert np.median(run.step_seconds(1_351, 1_700)) > 1.7 * np.median(run.step_seconds(1_000, 1_350))


def test_uneven_sequences_accuse_everybody_once(lived: Runs) -> None:
    """Single steps reach twice the median, yet no rank is slow in more than a fifth of the steps."""
    compute = lived("uneven_sequences").over("compute_seconds", 1_000, 1_600)
    relative = compute / np.median(compute)
    assert np.quantile(relative, 0.95) == pytest.approx(1.24, abs=0.02)
    assert relative.max() > 1.8
    assert ((relative > 1.2).mean(axis=0) < 0.2).all()
    assert ((relative > 1.2).any(axis=0)).all()


def test_the_day_moves_the_step_by_one_or_two_per_cent(lived: Runs) -> None:
    """The hourly median of the step time swings by 2 to 4 per cent from its lowest to its highest, without a jump."""
    seconds = lived("daily_drift").step_seconds(1_000, 2_439)
    hours = np.median(seconds.reshape(24, 60), axis=1) / np.median(seconds)
    assert 0.02 < np.ptp(hours) < 0.04
    assert np.abs(np.diff(hours)).max() < 0.01


def test_lone_stalls_are_lone(lived: Runs) -> None:
    """A few steps take half as long again or more, and the step after each is as long as ever."""
    seconds = lived("lone_stalls").step_seconds(1_000, 1_600)
    stalled = np.flatnonzero(seconds > 1.4 * np.median(seconds))
    assert 1 <= len(stalled) <= 15
    assert (seconds[np.minimum(stalled + 1, 600)] < 1.1 * np.median(seconds)).all()
