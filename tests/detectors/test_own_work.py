"""The last rows of every rank's own work."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from detectors.base import Floats
from detectors.own_work import APART, OwnWork, OwnWorkMemory


def _after(rows: Floats, group: list[int], held: int = 8) -> tuple[OwnWork, OwnWorkMemory]:
    work = OwnWork(held, peers=3)
    memory = OwnWorkMemory(width=rows.shape[1], **work.blank(rows.shape[1]))
    memory.group[:] = group
    for index, row in enumerate(rows):
        work.note(memory, index, row)
    return work, memory


def test_only_ranks_with_enough_peers_are_judged() -> None:
    """A rank that is apart, silent, or in too small a group has no rows; the others have theirs over the median."""
    row = np.array([2.0, 3.0, 4.0, 9.0, 5.0, 5.0, np.nan])
    work, memory = _after(row[None], [0, 0, 0, APART, 1, 1, 1])
    assert memory.pushed.tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert work.ratios(memory, 1)[:3, 0].round(3).tolist() == [0.667, 1.0, 1.333]
    assert memory.saving[2, 0] == 0.25


def test_reads_back_the_latest_rows_oldest_first() -> None:
    """A full ring gives its last rows, one that is not full gives NaN for what it has not."""
    rows = np.ones((11, 3))
    rows[:, 2] = 1 + np.arange(11) / 10
    work, memory = _after(rows, [0, 0, 0])
    assert work.ratios(memory, 3)[2].round(1).tolist() == [1.8, 1.9, 2.0]
    assert memory.rows[2, work.columns(memory, 2, 100)].tolist() == [3, 4, 5, 6, 7, 8, 9, 10]
    work, memory = _after(rows[:2], [0, 0, 0])
    assert np.isnan(work.ratios(memory, 3)[2]).tolist() == [True, False, False]


def test_dates_begin_and_end() -> None:
    """On a noiseless course the first and the last slow row are exact, and what is kept are the rows after."""
    rows = np.ones((8, 3))
    rows[3:6, 1] = 1.2
    work, memory = _after(rows[:6], [0, 0, 0])
    assert memory.rows[1, work.slow_since(memory, 1, 1.1)].tolist() == [3, 4, 5]
    work, memory = _after(rows, [0, 0, 0])
    last, since = work.slow_until(memory, 1, 1.1, 8)
    assert (last, memory.rows[1, since].tolist()) == (5, [6, 7])
    work.keep(memory, 1, since)
    assert memory.rows[1, work.columns(memory, 1, 8)].tolist() == [6, 7]
    assert np.isfinite(memory.ratio[1]).sum() == 2


@given(st.integers(0, 1000), st.sampled_from([(1, 7), (2, 4), (3, 5)]), st.booleans())
def test_a_whole_row_is_kept_as_one_with_somebody_apart(seed: int, shape: tuple[int, int], mixed: bool) -> None:
    """The short way of a row in which everybody reports keeps what the long way does, to the last bit."""
    chance = np.random.default_rng(seed)
    group = np.repeat(np.arange(shape[0]), shape[1])
    if mixed:
        chance.shuffle(group)
    work = OwnWork(held=4, peers=3)
    short = OwnWorkMemory(width=group.size, **work.blank(group.size))
    long = OwnWorkMemory(width=group.size + 1, **work.blank(group.size + 1))
    short.group[:], long.group[:-1], long.group[-1] = group, group, -1
    for index in range(6):
        row = chance.integers(1, 6, group.size).astype(np.float64)
        short_way, long_way = work.note(short, index, row), work.note(long, index, np.append(row, 1.0))
        assert short_way.ranks.tolist() == long_way.ranks.tolist()
        for kept, column in ((short, short_way.column), (long, long_way.column)):
            for mine, theirs in zip(work.in_and_out(kept, column, 3), work.in_and_out(kept, -1, 3), strict=True):
                np.testing.assert_array_equal(mine, theirs)
    for name in ("seconds", "ratio", "saving", "rows", "pushed"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[:-1])
