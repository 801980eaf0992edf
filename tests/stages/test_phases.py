"""Announced phases explain time, and never switch detection off for good."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.stages.detect import phases
from streams.stages.detect.memory import Phases

T = 1_000.0


def begun(name: str = "eval", time: float = T) -> Phases:
    """A phase that has begun."""
    state = Phases()
    phases.begin(state, name, time)
    return state


@pytest.mark.parametrize(
    ("stretch", "name", "seconds"),
    [
        pytest.param((T - 50, T - 10), "", 0.0, id="before"),
        pytest.param((T - 50, T), "", 0.0, id="up to the begin"),
        pytest.param((T - 50, T + 10), "eval", 10.0, id="into it"),
        pytest.param((T + 10, T + 30), "eval", 20.0, id="inside"),
        pytest.param((T + 80, T + 130), "eval", 20.0, id="out of it"),
        pytest.param((T - 50, T + 150), "eval", 100.0, id="around"),
        pytest.param((T + 100, T + 150), "", 0.0, id="from the end on"),
        pytest.param((T + 120, T + 150), "", 0.0, id="after"),
        pytest.param((T + 150, T - 50), "", 0.0, id="a stretch that goes back"),
    ],
)
def test_what_an_ended_phase_explains(stretch: tuple[float, float], name: str, seconds: float) -> None:
    """A phase of a hundred seconds explains the part of a stretch that lies within it."""
    state = begun()
    phases.end(state, "eval", T + 100)
    assert phases.covering(state, *stretch) == name
    assert phases.explained_seconds(state, *stretch) == seconds


def test_an_open_phase_explains_up_to_its_budget() -> None:
    """An evaluation may take an hour; what comes after that is not explained by it."""
    state = begun("eval")
    assert phases.explained_seconds(state, T, T + 10_000) == phases.BUDGETS["eval"]
    assert phases.covering(state, T + 3_601, T + 3_700) == ""


def test_a_phase_of_an_unknown_name_has_a_budget_too() -> None:
    """A word that we do not know explains twenty minutes at most."""
    assert phases.explained_seconds(begun("defragment"), T, T + 10_000) == phases.OTHER


def test_steps_overrule_a_phase_that_should_block_them() -> None:
    """Three steps that end inside an evaluation show that its end was missed."""
    state = begun()
    for step in range(1, 4):
        assert phases.covering(state, T + step, T + step + 0.5) == "eval"
        phases.step_closed(state, T + step)
    assert phases.covering(state, T + 4, T + 5) == ""


def test_a_step_that_ended_before_the_begin_overrules_nothing() -> None:
    """Late steps of before the phase are no sign that it is over."""
    state = begun()
    for _ in range(5):
        phases.step_closed(state, T)
    assert phases.covering(state, T + 4, T + 5) == "eval"


def test_warm_up_goes_on_while_steps_go_on() -> None:
    """In a warm-up there are steps, so they do not end it; its budget does."""
    state = begun("warmup")
    for step in range(1, 40):
        phases.step_closed(state, T + step)
    assert phases.covering(state, T + 40, T + 41) == "warmup"
    phases.step_closed(state, T + 3_601)
    assert state.open == {}


@pytest.mark.parametrize(
    "end_time", [pytest.param(None, id="no begin"), pytest.param(T - 5.0, id="an end before the begin")]
)
def test_an_end_without_a_begin_is_harmless(end_time: float | None) -> None:
    """An end that belongs to no begin explains nothing, and the next phase is as good as any."""
    state = Phases() if end_time is None else begun()
    phases.end(state, "eval", end_time or T)
    assert phases.explained_seconds(state, 0.0, 10 * T) == 0.0
    phases.begin(state, "eval", 2 * T)
    phases.end(state, "eval", 2 * T + 10)
    assert phases.explained_seconds(state, 0.0, 10 * T) == 10.0


def test_a_second_begin_restarts_the_phase() -> None:
    """Where an end was lost, the next begin counts from itself."""
    state = begun()
    phases.begin(state, "eval", T + 500)
    phases.end(state, "eval", T + 510)
    assert phases.explained_seconds(state, 0.0, 10 * T) == 10.0


def test_two_phases_do_not_explain_more_than_all() -> None:
    """A save inside an evaluation does not explain the same seconds twice beyond the stretch itself."""
    state = begun()
    phases.begin(state, "checkpoint", T)
    assert phases.explained_seconds(state, T, T + 100) == 100.0


@given(st.lists(st.tuples(st.sampled_from(["begin", "end", "step"]), st.floats(0, 1e5)), max_size=150))
def test_memory_is_bounded_and_explanations_are_sane(moves: list[tuple[str, float]]) -> None:
    """Whatever comes in whatever order, ended phases are few, and what is explained lies between nothing and all."""
    state = Phases()
    for move, time in moves:
        if move == "step":
            phases.step_closed(state, time)
        else:
            (phases.begin if move == "begin" else phases.end)(state, "eval", time)
        begin, end = time - 100, time + 100
        assert 0.0 <= phases.explained_seconds(state, begin, end) <= end - begin
    assert len(state.ended) <= phases.KEPT
    assert all(one.end is not None and one.end >= one.begin for one in state.ended)
