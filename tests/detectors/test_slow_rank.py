"""A rank that is slower than its peers, step after step."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Alarm, Floats, Ints, watch
from detectors.slow_rank import SlowRank

RANKS, ROWS = 64, 400
STAGES = np.arange(RANKS) // 16


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _steady(seed: int, noise: float = 0.03, rows: int = ROWS) -> Floats:
    return 2.0 * (1 + noise * _rng(seed).normal(size=(rows, RANKS)))


def _watch(rows: Floats, group: Ints = STAGES, detector: SlowRank | None = None) -> list[Alarm]:
    detector = detector or SlowRank()
    return watch(detector, detector.with_groups(detector.blank(rows.shape[1]), group), rows)


def _raised(alarms: list[Alarm]) -> dict[int, Alarm]:
    first: dict[int, Alarm] = {}
    for alarm in alarms:
        first.setdefault(alarm.series, alarm)
    return first


def _wandering(rng: np.random.Generator) -> Floats:
    rows = np.zeros((ROWS, RANKS))
    for index in range(1, ROWS):
        rows[index] = 0.8 * rows[index - 1] + 0.6 * rng.normal(size=RANKS)
    return 1 + 0.05 * rows


def _last_stage(rng: np.random.Generator) -> Floats:
    return np.where(STAGES == 3, 1.63, 1.0) * (1 + 0.03 * rng.normal(size=(ROWS, RANKS)))


def _batches(rng: np.random.Generator) -> Floats:
    return (1 + 0.5 * (rng.random((ROWS, 1)) < 0.3)) * (1 + 0.03 * rng.normal(size=(ROWS, RANKS)))


def _moving(rng: np.random.Generator) -> Floats:
    rows = 1 + 0.01 * rng.normal(size=(ROWS, RANKS))
    for index in range(ROWS):
        rows[index, index // 18 % RANKS] *= 1.06
    return rows


def _crowd(rng: np.random.Generator) -> Floats:
    rows = 1 + 0.01 * rng.normal(size=(ROWS, RANKS))
    rows[100:, :9] *= 1.3
    return rows


INNOCENT: dict[str, Callable[[np.random.Generator], Floats]] = {
    "noise of 3 %": lambda rng: 1 + 0.03 * rng.normal(size=(ROWS, RANKS)),
    "noise of 20 %": lambda rng: 1 + 0.2 * rng.normal(size=(ROWS, RANKS)),
    "uneven sequences, a fifth of the steps half as long again": lambda rng: (
        np.where(rng.random((ROWS, RANKS)) < 0.2, 1.5, 1.0) + 0.02 * rng.normal(size=(ROWS, RANKS))
    ),
    "uneven sequences, skewed": lambda rng: np.exp(0.2 * rng.normal(size=(ROWS, RANKS))),
    "ranks that wander": _wandering,
    "another rank slightly slow every 18 rows": _moving,
    "machines that are not alike": lambda rng: (
        (1 + 0.015 * rng.normal(size=RANKS)) * (1 + 0.01 * rng.normal(size=(ROWS, RANKS)))
    ),
    "some ranks noisier than others": lambda rng: (
        1 + np.where(np.arange(RANKS) % 8, 0.03, 0.1) * rng.normal(size=(ROWS, RANKS))
    ),
    "a long last stage": _last_stage,
    "steps that are longer for all": _batches,
    "more than half of a group": _crowd,
}


@pytest.mark.parametrize("name", INNOCENT)
def test_accuses_nobody(name: str) -> None:
    """Noise, uneven sequences, a longer stage and what happens to all ranks is no rank's fault."""
    assert _watch(INNOCENT[name](_rng(2))) == []


def test_finds_a_slow_rank_in_time_and_dates_it() -> None:
    """A rank 20 % slower in 3 % noise is found within 12 rows of the onset, alone, and dated to within 3 rows."""
    for seed in range(20):
        rows = _steady(seed, rows=120)
        rows[60:, 21] *= 1.2
        alarms = _watch(rows)
        assert [a.series for a in alarms] == [21]
        assert alarms[0].index - 60 < 12
        assert abs(alarms[0].onset - 60) <= 3
        assert alarms[0].before == pytest.approx(2.0, rel=0.03)
        assert alarms[0].after == pytest.approx(2.4, rel=0.03)
        assert alarms[0].numbers["ratio"] == pytest.approx(1.2, rel=0.03)
        assert alarms[0].numbers["z"] > 5


@pytest.mark.parametrize("slow", [1.12, 1.15, 1.5, 2.35])
def test_finds_every_size_over_the_limit(slow: float) -> None:
    """From 12 % on a rank is found within 30 rows in nineteen runs of twenty."""
    found = 0
    for seed in range(20):
        rows = _steady(seed, rows=90)
        rows[60:, 5] *= slow
        found += set(_raised(_watch(rows))) == {5}
    assert found >= 19


def test_a_rank_slow_from_the_first_step_on() -> None:
    """A job that starts on a slow node needs no healthy past: its peers are the measure."""
    rows = _steady(1, rows=20)
    rows[:, 40] *= 2.35
    assert [(a.series, a.index, a.onset) for a in _watch(rows)] == [(40, 10, 0)]


def test_several_slow_ranks_of_one_node() -> None:
    """Four slow ranks of a group of sixteen are all found."""
    rows = _steady(1)
    rows[100:, 16:20] *= 1.3
    assert set(_raised(_watch(rows))) == {16, 17, 18, 19}


def test_an_episode_is_raised_revised_and_ended() -> None:
    """A rank that gets slower yet is revised, and the end is dated to its last slow row."""
    rows = _steady(3)
    rows[100:150, 7] *= 1.2
    rows[150:200, 7] *= 1.6
    alarms = _watch(rows)
    assert [(a.onset, a.over) for a in alarms] == [(100, False), (100, False), (100, True)]
    assert alarms[1].after == pytest.approx(3.2, rel=0.05)
    assert abs(alarms[2].index - 199) <= 1


@pytest.mark.parametrize(("slowest_other", "saved"), [(1.0, 0.5), (1.5, 0.25), (3.0, 0.0)])
def test_step_share_is_what_the_job_would_save(slowest_other: float, saved: float) -> None:
    """The saving ends at the slowest of the others: without the rank the job still waits for that one."""
    rows = np.ones((60, 6))
    rows[20:, 2] = 2.0
    rows[20:, 4] = slowest_other
    assert _raised(_watch(rows, np.zeros(6, dtype=np.int64)))[2].numbers["step_share"] == pytest.approx(saved)


def test_missing_timings_are_neither_fast_nor_slow() -> None:
    """A slow rank that reports every other step is found by the rows it has, and one that is silent is not accused."""
    rows = _steady(4, rows=160)
    rows[60:, 5] *= 1.4
    rows[::2, 5] = np.nan
    rows[50:, 9] = np.nan
    rows[50:, 10] = 0.0
    alarms = _watch(rows)
    assert [a.series for a in alarms] == [5]
    assert alarms[0].onset in (61, 63)


@pytest.mark.parametrize(
    ("group", "wanted"),
    [
        pytest.param([0, 0, 0, 0], {1}, id="one group"),
        pytest.param([0, 0, 1, 1], set(), id="groups of two are too small"),
        pytest.param([0, -1, 0, 0], set(), id="a rank that is not compared"),
        pytest.param([7, 7, 7, -1], {1}, id="three peers are enough"),
    ],
)
def test_groups(group: list[int], wanted: set[int]) -> None:
    """A rank is compared with its own group only, if that has three members."""
    rows = np.ones((60, 4))
    rows[20:, 1] = 1.5
    assert set(_raised(_watch(rows, np.array(group)))) == wanted


def test_a_rank_that_changes_its_group_begins_anew() -> None:
    """What was slow among other peers says nothing about the new ones; the others keep their past."""
    detector = SlowRank()
    memory = detector.blank(8)
    rows = np.ones((40, 8))
    rows[10:, 1] = 1.5
    assert [a.series for a in watch(detector, memory, rows)] == [1]
    detector.with_groups(memory, np.array([0, 1, 0, 0, 0, 1, 1, 1]))
    assert memory.pushed.tolist() == [40, 0, 40, 40, 40, 0, 0, 0]
    assert not memory.alarmed.any()
    with pytest.raises(ValueError, match="group"):
        detector.with_groups(memory, np.zeros(7, dtype=np.int64))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 24), st.data())
def test_never_half_of_a_group(seed: int, members: int, data: st.DataObject) -> None:
    """Whatever ranks are slow, and by how much, those accused are always fewer than half."""
    count = data.draw(st.integers(0, members))
    rows = 1 + 0.02 * _rng(seed).normal(size=(80, members))
    rows[20:, :count] *= _rng(seed).uniform(1.05, 2.0, count)
    open_ranks: set[int] = set()
    for alarm in _watch(rows, np.zeros(members, dtype=np.int64)):
        if alarm.over:
            open_ranks.discard(alarm.series)
        else:
            open_ranks.add(alarm.series)
        assert len(open_ranks) <= (members + 1) / 2
    assert open_ranks <= set(range(count))


@pytest.mark.parametrize(
    "parameters",
    [
        {"ratio": 1.0},
        {"window": 3},
        {"share": 1.0},
        {"sigmas": 0.0},
        {"peers": 2},
        {"calm": 21},
        {"slight": 1.0},
        {"slight": 1.2},
        {"steady": 19},
    ],
    ids=str,
)
def test_parameters_are_checked_when_built(parameters: dict[str, Any]) -> None:  # Any: of several types
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SlowRank(**parameters)
