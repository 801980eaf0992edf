"""A level that settles elsewhere is found, dated and followed to its end; nothing else is."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Alarm, Floats, watch
from detectors.level_shift import LevelShift

ROWS = 1200
Shape = Callable[[np.random.Generator], Floats]


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _watch(detector: LevelShift, rows: Floats) -> list[Alarm]:
    rows = rows[:, None] if rows.ndim == 1 else rows
    return watch(detector, detector.blank(rows.shape[1]), rows)


def _wandering(rng: np.random.Generator) -> Floats:
    rows = np.zeros((ROWS, 8))
    for index in range(1, ROWS):
        rows[index] = 0.5 * rows[index - 1] + rng.normal(size=8)
    return 1 + 0.05 * rows


QUIET: dict[str, Shape] = {
    "Gaussian noise of 20 %": lambda rng: 1 + 0.2 * rng.normal(size=(ROWS, 8)),
    "heavy tails, 3 degrees of freedom": lambda rng: 1 + 0.2 * rng.standard_t(3, size=(ROWS, 8)),
    "skewed noise of 20 %": lambda rng: np.exp(0.2 * rng.normal(size=(ROWS, 8))),
    "lone spikes, three times the level": lambda rng: np.where(rng.random((ROWS, 8)) < 0.01, 3.0, 1.0),
    "every other row 20 % longer": lambda rng: (
        1 + 0.2 * (np.arange(ROWS) % 2)[:, None] + 0.002 * rng.normal(size=(ROWS, 8))
    ),
    "3 rows of 13 longer by 15 to 30 %": lambda rng: (
        1 + rng.uniform(0.15, 0.3, (ROWS, 8)) * (np.arange(ROWS) % 13 < 3)[:, None] + 0.005 * rng.normal(size=(ROWS, 8))
    ),
    "23 % of rows longer, at random": lambda rng: (
        1 + rng.uniform(0.15, 0.3, (ROWS, 8)) * (rng.random((ROWS, 8)) < 0.23) + 0.005 * rng.normal(size=(ROWS, 8))
    ),
    "daily wave of 1 %": lambda rng: (
        1 + 0.01 * np.sin(np.arange(ROWS) / 100)[:, None] + 0.001 * rng.normal(size=(ROWS, 8))
    ),
    "rows that resemble the one before": _wandering,
    "a change of 2 %": lambda rng: 1 + 0.02 * (np.arange(ROWS) > 600)[:, None] + 0.001 * rng.normal(size=(ROWS, 8)),
    "for ever zero": lambda _: np.zeros((ROWS, 8)),
}


@pytest.mark.parametrize("name", QUIET)
def test_silent_on_what_is_no_shift(name: str) -> None:
    """Noise, patterns, spikes, slow waves and trifles are no shift of 4 %."""
    assert _watch(LevelShift(worth=0.04), QUIET[name](_rng(11))) == []


@pytest.mark.parametrize(
    ("change", "noise", "within"),
    [
        pytest.param(1.05, 0.001, 6, id="5 % at 0.1 % noise"),
        pytest.param(0.95, 0.001, 6, id="5 % down"),
        pytest.param(1.30, 0.02, 6, id="30 % at 2 % noise"),
        pytest.param(1.10, 0.03, 12, id="10 % at 3 % noise"),
        pytest.param(1.20, 0.10, 40, id="20 % at 10 % noise"),
    ],
)
def test_finds_a_step_in_time_and_dates_it(change: float, noise: float, within: int) -> None:
    """Each of 20 series that shift is found within the rows promised, with its onset and both levels right."""
    rows = 7 * (1 + noise * _rng(5).normal(size=(360, 20)))
    rows[300:] *= change
    first: dict[int, Alarm] = {}
    for alarm in _watch(LevelShift(worth=0.04), rows):
        first.setdefault(alarm.series, alarm)
    assert len(first) == 20
    assert np.quantile([a.index - 299 for a in first.values()], 0.9) <= within
    assert np.median([abs(a.onset - 300) for a in first.values()]) <= 1
    for alarm in first.values():
        assert alarm.before == pytest.approx(7, rel=0.01 + noise)
        assert alarm.after == pytest.approx(7 * change, rel=0.01 + 2 * noise)
        assert alarm.direction == (1 if change > 1 else -1)
        assert (alarm.after - alarm.limit) * alarm.direction >= 0


def test_floor_decides_where_the_level_is_zero() -> None:
    """A counter's rate that was zero for ever alarms when it is over the floor to stay, and not under it."""
    rows = np.zeros((200, 2))
    rows[100:, 0], rows[100:, 1] = 12.0, 0.9
    found = _watch(LevelShift(worth=0.1, floor=1.0), rows)
    assert [(a.series, a.onset, a.index, a.before, a.after) for a in found] == [(0, 100, 104, 0.0, 12.0)]


def test_limits_may_differ_by_series() -> None:
    """Each series is held to its own `worth` and `floor`."""
    rows = np.full((120, 3), 100.0)
    rows[60:] = 110.0
    detector = LevelShift(worth=np.array([0.05, 0.2, 0.05]), floor=np.array([0.0, 0.0, 20.0]))
    assert [a.series for a in _watch(detector, rows)] == [0]


@pytest.mark.parametrize("name", ["worth", "floor"])
def test_limits_of_another_width_are_refused(name: str) -> None:
    """Arrays of limits must fit the width of the memory."""
    limits = {"worth": np.full(3, 0.1), "floor": np.full(2, 0.1)}[name]
    detector = LevelShift(worth=limits) if name == "worth" else LevelShift(floor=limits)
    with pytest.raises(ValueError, match=name):
        detector.blank(4)


@pytest.mark.parametrize(
    ("parameter", "make"),
    [
        ("worth", lambda: LevelShift(worth=-0.1)),
        ("floor", lambda: LevelShift(floor=float("nan"))),
        ("warmup", lambda: LevelShift(warmup=10)),
        ("window", lambda: LevelShift(window=20)),
        ("recent", lambda: LevelShift(recent=1)),
        ("drift", lambda: LevelShift(drift=3.0)),
        ("threshold", lambda: LevelShift(threshold=0.0)),
        ("margin", lambda: LevelShift(margin=0.5)),
        ("between", lambda: LevelShift(between=1.0)),
    ],
)
def test_parameters_are_checked_when_built(parameter: str, make: Callable[[], LevelShift]) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        make()


def _life() -> list[Alarm]:
    rows = np.full(400, 10.0) + 0.01 * _rng(2).normal(size=400)
    rows[100:150] += 2.0
    rows[150:200] += 5.0
    return _watch(LevelShift(), rows)


def test_an_episode_is_raised_revised_and_ended() -> None:
    """A shift that moves on is revised with the same onset; its end is dated to the last row that was away."""
    alarms = _life()
    assert [(a.onset, a.over) for a in alarms] == [(100, False), (100, False), (100, True)]
    assert [round(a.after) for a in alarms] == [12, 15, 15]
    assert alarms[2].index == 199


def test_the_baseline_is_frozen_while_an_episode_is_open() -> None:
    """However long a shift lasts, the healthy level is the one from before, and what comes after is held against it."""
    rows = np.full(2000, 10.0)
    rows[100:1900] = 13.0
    detector = LevelShift()
    memory = detector.blank(1)
    alarms = watch(detector, memory, rows[:, None])
    assert [(a.onset, a.over) for a in alarms] == [(100, False), (100, True)]
    assert alarms[1].index == 1899
    assert detector.baseline(memory)[0].tolist() == [10.0]


def test_a_keeper_may_freeze_the_baseline() -> None:
    """While a series is frozen its level stays as learned, whatever comes; its neighbour and later rows are learned."""
    detector = LevelShift(worth=0.5)
    memory = detector.blank(2)
    watch(detector, memory, np.full((100, 2), 10.0))
    memory.frozen[0] = True
    assert watch(detector, memory, np.full((300, 2), 11.0), first=100) == []
    assert detector.baseline(memory)[0].tolist() == [10.0, 11.0]
    assert [a.before for a in watch(detector, memory, np.full((20, 2), 20.0), first=400)] == [10.0, 11.0]
    memory.frozen[0] = False
    watch(detector, memory, np.full((40, 2), 11.0), first=420)
    assert detector.baseline(memory)[0].tolist() == [11.0, 11.0]


def test_a_shift_to_the_other_side_is_another_episode() -> None:
    """A level that falls from above its baseline to below it ends one episode and begins the next."""
    rows = np.full(300, 10.0)
    rows[100:150], rows[150:200] = 12.0, 8.0
    alarms = _watch(LevelShift(), rows)
    assert [(a.onset, a.direction, a.over) for a in alarms] == [
        (100, 1, False),
        (100, 1, True),
        (150, -1, False),
        (150, -1, True),
    ]


def test_relearn_forgets_the_baseline() -> None:
    """After an announced change the new level is healthy for the series named, and only for those."""
    detector = LevelShift()
    memory = detector.blank(2)
    rows = np.full((300, 2), 10.0)
    rows[100:] = 14.0
    watch(detector, memory, rows[:100])
    detector.relearn(memory, np.array([True, False]))
    assert np.isnan(detector.baseline(memory)[0]).tolist() == [True, False]
    assert [a.series for a in watch(detector, memory, rows[100:], 100)] == [1]
    assert detector.baseline(memory)[0].tolist() == [14.0, 10.0]
    detector.relearn(memory)
    assert np.isnan(detector.baseline(memory)[0]).all()
    assert watch(detector, memory, rows[100:], 300) == []


def test_rows_fed_as_absent_neither_teach_nor_alarm() -> None:
    """A phase that was announced, fed as NaN, leaves the baseline as it was."""
    rows = np.full(300, 10.0)
    rows[100:130] = np.nan
    detector = LevelShift()
    memory = detector.blank(1)
    assert watch(detector, memory, rows[:, None]) == []
    assert memory.pushed.tolist() == [270]


def test_skipped_row_numbers_are_kept() -> None:
    """Where frames come every ten steps, onset and end are given in steps."""
    detector = LevelShift()
    memory = detector.blank(1)
    rows = np.full(200, 10.0)
    rows[100:150] = 12.0
    alarms = [a for i, x in enumerate(rows) for a in detector.update(memory, 10 * i, np.array([x]))]
    assert [(a.onset, a.index, a.over) for a in alarms] == [(1000, 1040, False), (1000, 1490, True)]


@settings(max_examples=25, deadline=None)
@given(
    level=st.floats(0.01, 1e6),
    change=st.sampled_from([0.3, 0.8, 1.25, 3.0]),
    onset=st.integers(40, 250),
    seed=st.integers(0, 1000),
)
def test_any_clear_step_is_found_once(level: float, change: float, onset: int, seed: int) -> None:
    """A step of a fifth or more in 1 % of noise gives one alarm, dated to its row, wherever and at whatever level."""
    rows = level * (1 + 0.01 * _rng(seed).normal(size=onset + 30))
    rows[onset:] *= change
    assert [a.onset for a in _watch(LevelShift(), rows) if not a.over] == [onset]


@pytest.mark.parametrize("noise", [0.001, 0.05])
def test_a_slow_ramp_is_found(noise: float) -> None:
    """A level that creeps up by 20 % over 1,500 rows is found, each of whose stretches looks healthy."""
    ramp = 1 + 0.20 * np.clip((np.arange(2500) - 500) / 1500, 0, 1)
    rows = ramp[:, None] * (1 + noise * _rng(8).normal(size=(2500, 8)))
    found: dict[int, Alarm] = {}
    for alarm in _watch(LevelShift(worth=0.04), rows):
        found.setdefault(alarm.series, alarm)
    assert set(found) == set(range(8))
    for alarm in found.values():
        assert alarm.onset > 500
        assert alarm.before == pytest.approx(1, rel=0.03)
        assert alarm.after > 1.03


def test_a_ramp_ends_where_the_level_comes_back() -> None:
    """The episode of a ramp is over when the first level is back."""
    rows = np.concatenate((np.ones(400), np.linspace(1, 1.2, 1000), np.full(300, 1.2), np.ones(100)))
    found = _watch(LevelShift(worth=0.04), rows * (1 + 0.001 * _rng(9).normal(size=rows.size)))
    assert [a.over for a in found][-1]
    assert found[-1].index == 1699
