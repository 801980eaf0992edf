"""Where ranks usually stand, and whether one stands out."""

import numpy as np
import pytest

from detectors.base import Floats
from detectors.own_work import OwnWork
from detectors.standing import StandingMemory, above_past, above_peers, blank_standing, errors, learn_standing

HELD = 40


def _memory(width: int = 16) -> StandingMemory:
    memory = StandingMemory(width=width, **OwnWork(HELD, 3).blank(width), **blank_standing(width))
    memory.pushed[:] = HELD
    return memory


def _learned(typical: Floats, rows: int = 300) -> StandingMemory:
    memory = _memory(typical.shape[-1])
    for row in np.broadcast_to(typical, (rows, typical.shape[-1])):
        learn_standing(memory, row, np.arange(memory.width))
    return memory


def test_an_outlier_among_like_peers() -> None:
    """Peers that are all alike are believed to differ by 0.6 %."""
    typical = np.ones(16)
    typical[3] = 1.06
    excess, z = above_peers(_memory(), typical)
    assert excess.round(3).tolist() == [0, 0, 0, 0.06, *[0] * 12]
    assert z[3] == pytest.approx(10)


def test_peers_that_are_not_alike_hide_a_small_excess() -> None:
    """What stands out is measured by how far the peers stand apart now."""
    typical = np.linspace(0.95, 1.05, 16)
    assert above_peers(_memory(), typical)[1].max() < 3


def test_wandering_counts_even_when_all_stand_together() -> None:
    """Peers that usually wander by 2 % make an excess of 5 % ordinary, even in a moment when they do not."""
    wandering = 1 + 0.02 * np.random.default_rng(0).normal(size=(300, 16))
    now = np.ones(16)
    now[3] = 1.05
    assert above_peers(_learned(wandering), now)[1][3] < 3
    assert above_peers(_learned(wandering), now, wider=2.0)[1][3] < 1.5


def test_a_rise_over_its_own_past() -> None:
    """A rank that was always 3 % slower has not risen; one that was 2 % faster has; before that is known nobody has."""
    usual = np.ones(16)
    usual[3], usual[4] = 1.03, 0.98
    now = usual.copy()
    now[4] = 1.03
    rise = above_past(_learned(usual), now)
    assert rise[3] == pytest.approx(0, abs=1e-6)
    assert rise[4] == pytest.approx(0.05 / 0.006)
    assert above_past(_learned(usual, rows=HELD - 1), now)[4] == 0


def test_a_rank_learns_only_from_a_full_ring() -> None:
    """The median of few rows would seem to wander more than it does."""
    memory = _memory(3)
    memory.pushed[1] = HELD - 1
    learn_standing(memory, np.full(3, 1.1), np.array([0, 1]))
    assert memory.meant.tolist() == [1, 0, 0]
    assert memory.place.tolist() == [1.1, 1.0, 1.0]


@pytest.mark.parametrize(("alike", "wider"), [(0.0, 1.0), (0.8, 3.0)])
def test_errors_are_those_of_medians(alike: float, wider: float) -> None:
    """The error is that of medians drawn again and again, also where rows resemble the one before."""
    rng = np.random.default_rng(0)
    rows = np.empty((400, HELD))
    rows[:, 0] = rng.normal(size=400)
    for column in range(1, HELD):
        rows[:, column] = alike * rows[:, column - 1] + np.sqrt(1 - alike**2) * rng.normal(size=400)
    told = float(np.median(errors(_memory(400), 1 + 0.03 * rows, 20)))
    drawn = 0.03 * float(np.median(rows, axis=1).std())
    assert told == pytest.approx(drawn, rel=0.35)
    assert told == pytest.approx(wider * 0.03 * 1.2533 / np.sqrt(HELD), rel=0.35)


def test_errors_of_a_rank_that_has_become_slow_are_those_of_its_latest_rows() -> None:
    """Rows on two levels are scattered for the change that is looked for, not by noise."""
    rows = 1 + 0.001 * np.random.default_rng(0).normal(size=(16, HELD))
    changed = rows.copy()
    changed[3, HELD - 22 :] += 0.05
    told = errors(_memory(), changed, 20)[3]
    assert errors(_memory(), changed, HELD)[3] > 0.005
    assert told < 2 * float(np.median(errors(_memory(), rows, HELD)))
