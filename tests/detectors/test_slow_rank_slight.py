"""A rank that is only slightly slower than its peers, step after step."""

import numpy as np
import pytest

from detectors.base import Alarm, Floats, Ints, watch
from detectors.slow_rank import SlowRank

ONSET = 100
ONE_GROUP, STAGES = np.zeros(64, dtype=np.int64), np.arange(64) // 16


def _heavy(seed: int, rows: int, ranks: int, noise: float = 0.03) -> Floats:
    """Make own work of 2 seconds with heavy-tailed noise of that standard deviation, relative."""
    work: Floats = 2.0 * (1 + noise * np.random.default_rng(seed).standard_t(4, size=(rows, ranks)) / np.sqrt(2))
    return work


def _watch(rows: Floats, group: Ints | None = None) -> list[Alarm]:
    detector = SlowRank()
    width = rows.shape[1]
    return watch(
        detector, detector.with_groups(detector.blank(width), np.zeros(width, int) if group is None else group), rows
    )


@pytest.mark.parametrize(
    ("slow", "culprits", "ranks", "group", "within"),
    [
        pytest.param(1.05, {5}, 64, ONE_GROUP, 45, id="one rank, 5 %"),
        pytest.param(1.05, {21}, 64, STAGES, 45, id="one rank, 5 %, of a stage of sixteen"),
        pytest.param(1.08, {5}, 64, ONE_GROUP, 35, id="one rank, 8 %"),
        pytest.param(1.05, set(range(8, 16)), 32, ONE_GROUP[:32], 50, id="one node of four, 5 %"),
        pytest.param(1.05, set(range(8, 16)), 64, ONE_GROUP, 45, id="one node of eight, 5 %"),
    ],
)
def test_finds_a_slight_slowness(slow: float, culprits: set[int], ranks: int, group: Ints, within: int) -> None:
    """In heavy-tailed noise of 3 % the culprits are found soon, all of them and nobody else, and well dated."""
    delays, errors = [], []
    for seed in range(10):
        rows = _heavy(seed, ONSET + 60, ranks)
        rows[ONSET:, sorted(culprits)] *= slow
        alarms = _watch(rows, group)
        assert {a.series for a in alarms} <= culprits
        delays += [a.index - ONSET for a in alarms]
        errors += [abs(a.onset - ONSET) for a in alarms]
    assert len(delays) >= 0.95 * 10 * len(culprits)
    assert np.quantile(delays, 0.9) <= within
    assert np.median(errors) <= 3


@pytest.mark.parametrize("onset", range(100, 120, 3))
def test_a_steady_slight_slowness_is_found_after_half_a_long_look(onset: int) -> None:
    """Where steps are even, 5 % is found some 20 rows after the onset, whenever the last look was."""
    rows = _heavy(8, 160, 32, noise=0.004)
    rows[onset:, 3] *= 1.05
    [found] = _watch(rows)
    assert (found.series, found.onset) == (3, onset)
    assert 20 <= found.index - onset + 1 <= 24


def test_slight_from_the_first_step_on() -> None:
    """A rank that was never as fast as the others is found as soon as the longer look is full."""
    rows = _heavy(1, 60, 32, noise=0.01)
    rows[:, 3] *= 1.05
    assert [(a.series, a.index, a.onset) for a in _watch(rows)] == [(3, 39, 0)]


def test_its_own_past_tells_where_machines_are_not_alike() -> None:
    """Among peers that differ by 2 % for good, a rank that becomes 5 % slower is found by its own past."""
    rows = _heavy(2, 400, 64, noise=0.01) * np.linspace(0.96, 1.04, 64)
    assert _watch(rows) == []
    rows[300:, 40] *= 1.05
    alarms = _watch(rows)
    assert [a.series for a in alarms] == [40]
    assert alarms[0].index - 300 <= 40


def test_a_slight_episode_ends() -> None:
    """It ends when the rank is like its peers again, dated to about its last slow row, and is not raised again."""
    rows = _heavy(3, 500, 64)
    rows[ONSET:250, 7] *= 1.06
    raised, ended = _watch(rows)
    assert (raised.series, raised.over, ended.over) == (7, False, True)
    assert raised.numbers["share"] > 0.5
    assert raised.limit == pytest.approx(1.035 * raised.before)
    assert abs(ended.index - 249) <= 8


def test_a_slight_slowness_that_grows_is_revised() -> None:
    """A rank that gets plainly slow is told again, with the same onset, and ends as quickly as any plain one."""
    rows = _heavy(4, 400, 64)
    rows[ONSET:200, 7] *= 1.06
    rows[200:300, 7] *= 1.3
    alarms = _watch(rows)
    assert len({a.onset for a in alarms}) == 1
    assert [a.over for a in alarms] == [False, False, True]
    assert alarms[1].after == pytest.approx(2.6, rel=0.05)
    assert alarms[1].index - 200 <= 15
    assert abs(alarms[2].index - 299) <= 1


@pytest.mark.parametrize("noise", [0.001, 0.03, 0.2])
def test_thousands_of_heavy_tailed_steps_accuse_nobody(noise: float) -> None:
    """In 2,000 steps of 64 noisy ranks in four stages nobody is accused."""
    assert _watch(np.maximum(_heavy(5, 2000, 64, noise), 0.01), STAGES) == []


def test_a_third_of_the_readings_missing() -> None:
    """Missing rows delay a finding and change nothing else."""
    rows = _heavy(6, 300, 32)
    rows[ONSET:, 9] *= 1.08
    rows[np.random.default_rng(7).random(rows.shape) < 0.33] = np.nan
    alarms = _watch(rows)
    assert [a.series for a in alarms] == [9]
    assert alarms[0].index - ONSET <= 60
