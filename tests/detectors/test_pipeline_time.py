"""The time of a pipelined step follows from its parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Floats
from detectors.pipeline_time import job_slowdown, pipeline_seconds


def _works(stages: int, batches: int, seed: int) -> tuple[Floats, Floats]:
    chance = np.random.default_rng(seed)
    return chance.uniform(0.5, 2.0, (stages, batches)), chance.uniform(0.5, 2.0, (stages, batches))


@settings(max_examples=40, deadline=None)
@given(stages=st.integers(1, 6), batches=st.integers(1, 12), seed=st.integers(0, 1000))
def test_a_step_takes_at_least_what_any_stage_works(stages: int, batches: int, seed: int) -> None:
    """No step is shorter than the work of its busiest stage, or longer than all work one after the other."""
    forward, backward = _works(stages, batches, seed)
    seconds = pipeline_seconds(forward, backward)
    assert (forward + backward).sum(axis=1).max() <= seconds + 1e-9
    assert seconds <= forward.sum() + backward.sum() + 1e-9


@pytest.mark.parametrize(("stages", "batches"), [(1, 4), (2, 3), (4, 8), (4, 2)])
def test_even_work_takes_the_time_of_the_textbook(stages: int, batches: int) -> None:
    """With even parts a step takes as many rounds as there are micro-batches and stages less one."""
    forward, backward = np.full((stages, batches), 1.0), np.full((stages, batches), 2.0)
    assert pipeline_seconds(forward, backward) == pytest.approx(3.0 * (batches + stages - 1))


def test_a_slow_replica_is_what_the_job_waits_for() -> None:
    """One replica of four that takes twice as long makes the job 1.6 times as long as an even one."""
    work = np.ones((3, 4, 2, 8))
    work[:, 0] = 2.0
    assert job_slowdown(work, work) == pytest.approx(2 / 1.25)


def test_parts_that_do_not_fit_are_refused() -> None:
    """Forward and backward have one shape, with something in it."""
    with pytest.raises(ValueError, match="backward"):
        pipeline_seconds(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(ValueError, match="forward"):
        pipeline_seconds(np.ones((0, 3)), np.ones((0, 3)))
