"""A closed step becomes numbers of the job and of every rank."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.telemetry import Reading, StepFrame
from streams.stages.detect.derive import ClosedStep, derive
from streams.stages.detect.open_steps import OpenStep, Participants
from streams.stages.detect.participants import enrol_frame
from streams.stages.detect.parts import part_of

NAN = math.nan
Values = dict[str, list[Reading]]


def frame(
    ranks: list[int], values: Values, job_values: dict[str, Reading] | None = None, time: float = 1e9
) -> StepFrame:
    """A frame of step 7."""
    return StepFrame(
        job="toy",
        attempt=1,
        node=f"n{ranks}",
        seq=0,
        time=time,
        step=7,
        ranks=ranks,
        values=values,
        job_values=job_values or {},
    )


def closed(*frames: StepFrame, enrolled: tuple[int, ...] = (), previous: float = 0.0, steps: int = 1) -> ClosedStep:
    """The step that these frames make; `enrolled` are ranks that were known before."""
    people = Participants()
    if enrolled:
        enrol_frame(people, frame(list(enrolled), {}))
    parts = [part_of(one, enrol_frame(people, one)) for one in frames]
    return derive(OpenStep(step=7, opened=1e9, parts=parts), len(people.ranks), previous, steps)


@pytest.mark.parametrize(
    ("values", "job_values", "wanted"),
    [
        pytest.param(
            {"step_seconds": [2.0, 2.0]}, {"tokens": 100.0}, {"tokens_per_second": 50.0}, id="tokens per second"
        ),
        pytest.param({}, {"tokens": 100.0, "step_seconds": 4.0}, {"tokens_per_second": 25.0}, id="from a log line"),
        pytest.param(
            {"step_seconds": [2.0, 2.0]},
            {"tokens": 100.0, "tokens_per_second": 7.0},
            {"tokens_per_second": 7.0},
            id="the trainer's own word goes first",
        ),
        pytest.param(
            {"step_seconds": [2.0, 2.0], "loader_seconds": [0.2, 0.6]},
            {},
            {"loader_share": 0.2, "loader_share_median": 0.2},
            id="loader share is the mean of shares",
        ),
        pytest.param(
            {}, {"step_seconds": 2.0, "loader_seconds": 0.5}, {"loader_share": 0.25}, id="loader share of a log line"
        ),
        pytest.param(
            {"step_seconds": [2.0, None], "loader_seconds": [0.2, 0.6]},
            {},
            {"loader_share": 0.1},
            id="a rank without both has no share",
        ),
        pytest.param(
            {"step_seconds": [2.0, 3.0]}, {}, {"step_seconds": 3.0}, id="a step is as long as the slowest rank says"
        ),
        pytest.param(
            {"wait_seconds": [0.2, 0.6]}, {}, {"wait_seconds": 0.4, "wait_least_seconds": 0.2}, id="who waits least"
        ),
        pytest.param({"checkpoint_bytes": [3.0, 4.0]}, {}, {"checkpoint_bytes": 7.0}, id="sizes add up"),
        pytest.param(
            {"loss": [2.0, 4.0]}, {"loss": 9.0}, {"loss": 9.0}, id="a value of the job goes before those of its ranks"
        ),
    ],
)
def test_values_of_the_job(values: Values, job_values: dict[str, Reading], wanted: dict[str, float]) -> None:
    """Every rate and share is derived from what is there, by the rule in the signal table."""
    got = closed(frame([0, 1], values, job_values)).job
    assert {name: got.get(name) for name in wanted} == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("values", "job_values", "absent"),
    [
        pytest.param({}, {"tokens": 100.0, "step_seconds": 0.0}, "tokens_per_second", id="a step of no length"),
        pytest.param({}, {"tokens": 100.0, "step_seconds": -1.0}, "tokens_per_second", id="a step of negative length"),
        pytest.param({}, {"tokens": 1e6, "step_seconds": 5e-324}, "tokens_per_second", id="a rate beyond all numbers"),
        pytest.param(
            {"step_seconds": [0.0, 0.0], "loader_seconds": [0.1, 0.1]}, {}, "loader_share", id="a share of nothing"
        ),
        pytest.param({"step_seconds": [None, NAN]}, {}, "step_seconds", id="nobody has a number"),
        pytest.param({"sample_id": [11.0, 12.0]}, {}, "sample_id", id="ids have no mean"),
        pytest.param({}, {"loss": NAN}, "loss", id="no number"),
        pytest.param({}, {"loss": None}, "loss", id="no reading"),
    ],
)
def test_what_cannot_be_told_is_absent(values: Values, job_values: dict[str, Reading], absent: str) -> None:
    """No value is made up, and none is infinite."""
    assert absent not in closed(frame([0, 1], values, job_values)).job


def test_readings_keep_what_the_trainer_wrote() -> None:
    """NaN and absence of a job value stay apart from each other and from what was never sent."""
    readings = closed(frame([0], {}, {"loss": NAN, "grad_norm": None})).readings
    assert math.isnan(readings["loss"] or 0.0)
    assert readings["grad_norm"] is None
    assert set(readings) == {"loss", "grad_norm"}


def test_own_work_is_the_step_without_the_waiting() -> None:
    """Where both are there, the rest of the parts does not matter."""
    step = closed(
        frame([0, 1], {"step_seconds": [3.0, 3.0], "wait_seconds": [1.0, 0.5], "compute_seconds": [9.0, 9.0]})
    )
    assert step.own is not None
    assert step.own.tolist() == [2.0, 2.5]


def test_own_work_is_else_the_sum_of_its_parts() -> None:
    """A part that one rank does not report counts as nothing; without compute time its own work is unknown."""
    step = closed(
        frame(
            [0, 1, 2],
            {"compute_seconds": [1.0, 1.0, None], "loader_seconds": [0.5, None, 0.5], "h2d_seconds": [0.1] * 3},
        )
    )
    assert step.own is not None
    assert step.own[:2].tolist() == pytest.approx([1.6, 1.1])
    assert np.isnan(step.own[2])


def test_own_work_of_nobody() -> None:
    """From the step time alone nobody's own work can be told."""
    assert closed(frame([0, 1], {"step_seconds": [3.0, 3.0]})).own is None


def test_a_rank_that_is_missing_is_not_fast() -> None:
    """Ranks that are known but not in the step have no number, rather than zero."""
    step = closed(frame([2], {"step_seconds": [3.0], "wait_seconds": [1.0]}), enrolled=(0, 1, 2))
    assert step.own is not None
    assert np.isnan(step.own[:2]).all()
    assert step.own[2] == 2.0


def test_nodes_of_a_step_are_put_side_by_side() -> None:
    """Every rank has its place whichever frame it came in, and the first of two frames that name it counts."""
    step = closed(frame([2, 3], {"x": [2.0, 3.0]}), frame([1, 0], {"x": [1.0, 0.0]}), frame([3], {"x": [9.0]}))
    assert sorted(step.ranks["x"].tolist()) == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("previous", "steps", "interval"),
    [
        pytest.param(1e9 - 6.0, 1, 6.0, id="from one step to the next"),
        pytest.param(1e9 - 6.0, 3, 2.0, id="steps that nobody reported share the time"),
        pytest.param(0.0, 1, None, id="the first has none"),
        pytest.param(1e9 + 5.0, 1, None, id="nor has one that ended before its predecessor"),
    ],
)
def test_interval(previous: float, steps: int, interval: float | None) -> None:
    """The interval is per training step, and absent where it cannot be told."""
    assert closed(frame([0], {}), previous=previous, steps=steps).job.get("interval_seconds") == interval


def test_a_step_ends_with_its_last_frame() -> None:
    """The clocks of nodes differ a little: the latest counts."""
    assert closed(frame([0], {}, time=1e9), frame([1], {}, time=1e9 + 0.04)).time == 1e9 + 0.04


readings = st.none() | st.floats()
ranks_of_a_job = st.lists(
    st.fixed_dictionaries(dict.fromkeys(("step_seconds", "wait_seconds", "loader_seconds"), readings)),
    min_size=1,
    max_size=6,
)


@given(ranks_of_a_job, readings)
def test_no_reading_makes_an_infinite_value(ranks: list[dict[str, Reading]], tokens: Reading) -> None:
    """Whatever trainers write, the values of the job are finite and so is own work where it is known."""
    values = {name: [rank[name] for rank in ranks] for name in ranks[0]}
    step = closed(frame(list(range(len(ranks))), values, {"tokens": tokens}))
    assert all(math.isfinite(value) for value in step.job.values())
    assert step.own is None or not np.isinf(step.own).any()
