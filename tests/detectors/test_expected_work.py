"""What a rank's load explains is no slowness, and what is left of it is found in spite of uneven loads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Alarm, Floats
from detectors.expected_work import ExpectedWork
from detectors.slow_rank import SlowRank

RANKS, STEPS, SINCE, SLOW = 32, 300, 150, 5
ONE_GROUP = np.zeros(RANKS, dtype=np.int64)


def _loads(seed: int, spread: float) -> Floats:
    chance = np.random.default_rng(seed)
    return 4096.0 * np.exp(spread * chance.normal(size=(STEPS, RANKS)))


def _works(loads: Floats, power: float, seed: int, slow: float = 1.0) -> Floats:
    noise = 1 + 0.01 * np.abs(np.random.default_rng(seed + 99).normal(size=loads.shape))
    works = (loads / 4096.0) ** power * noise
    works[SINCE:, SLOW] *= slow
    return works


def _found(loads: Floats, works: Floats) -> list[Alarm]:
    expected, detector = ExpectedWork(), SlowRank()
    memory, slow = expected.blank(RANKS), detector.blank(RANKS)
    found = []
    for index, (load, work) in enumerate(zip(loads, works, strict=True)):
        row = expected.without_load(memory, work, load, ONE_GROUP)
        found += [alarm for alarm in detector.update(slow, index, row) if not alarm.over]
    return found


@pytest.mark.parametrize("power", [1.0, 1.4, 1.9])
@pytest.mark.parametrize("spread", [0.1, 0.6])
def test_uneven_sequences_accuse_nobody(power: float, spread: float) -> None:
    """However unevenly the load is spread at random, and whichever power it goes with, nobody is slow."""
    loads = _loads(1, spread)
    assert _found(loads, _works(loads, power, 1)) == []


@pytest.mark.parametrize("spread", [0.1, 0.3, 0.6])
def test_a_slow_rank_is_found_under_uneven_loads(spread: float) -> None:
    """Ten percent are found where single steps differ by a multiple of that."""
    loads = _loads(2, spread)
    found = _found(loads, _works(loads, 1.2, 2, slow=1.1))
    assert {alarm.series for alarm in found} == {SLOW}
    assert all(abs(alarm.onset - SINCE) <= 5 for alarm in found)


def test_a_rank_that_always_has_more_to_do_is_not_slow() -> None:
    """A fixed share of the load is a plan, and no fault of the rank."""
    loads = _loads(3, 0.05)
    loads[:, SLOW] *= 1.5
    assert _found(loads, _works(loads, 1.0, 3)) == []


@pytest.mark.parametrize("power", [0.0, 0.8, 1.6])
def test_the_power_is_learned(power: float) -> None:
    """What the load costs is learned to two percent, stalls and a slow rank notwithstanding."""
    loads = _loads(4, 0.3)
    works = _works(loads, power, 4, slow=1.3)
    works[::20, 7] *= 10.0
    expected = ExpectedWork()
    memory = expected.blank(RANKS)
    for load, work in zip(loads, works, strict=True):
        expected.without_load(memory, work, load, ONE_GROUP)
    assert expected.power(memory) == pytest.approx(power, abs=0.02)


def test_what_is_not_known_is_left_as_it_is() -> None:
    """A rank without a load, or without work, keeps what it has; groups are not compared with each other."""
    expected = ExpectedWork()
    memory = expected.blank(5)
    own = np.array([1.0, 2.0, np.nan, 4.0, 8.0])
    load = np.array([np.nan, 10.0, 10.0, 40.0, 80.0])
    row = expected.without_load(memory, own, load, np.array([0, 0, 0, 1, 1]))
    np.testing.assert_allclose(row, [1.0, 2.0, np.nan, 6.0, 6.0], rtol=0.07)


@settings(max_examples=30)
@given(st.permutations(range(RANKS)), st.floats(0.001, 1000.0))
def test_order_and_unit_do_not_matter(order: list[int], unit: float) -> None:
    """The same ranks in another order, or loads in another unit, give the same work."""
    loads, works = _loads(5, 0.3)[:40], _works(_loads(5, 0.3), 1.0, 5)[:40]
    expected = ExpectedWork()
    plain, other = expected.blank(RANKS), expected.blank(RANKS)
    for load, work in zip(loads, works, strict=True):
        row = expected.without_load(plain, work, load, ONE_GROUP)
        moved = expected.without_load(other, work[order], unit * load[order], ONE_GROUP)
        np.testing.assert_allclose(moved, row[order], rtol=1e-6)


def test_the_power_assumed_is_checked() -> None:
    """A power that no work has is refused by name."""
    with pytest.raises(ValueError, match=r"^assumed:"):
        ExpectedWork(assumed=3.0)
