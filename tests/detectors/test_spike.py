"""Short excursions from a signal's own trend."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Alarm, Floats, watch
from detectors.spike import Spike

Loss = Callable[[np.random.Generator], Floats]


def _loss(rows: int = 1000, noise: float = 0.05, seed: int = 0) -> Floats:
    """Make a training loss: a steep early fall, then a slow one."""
    steps = np.arange(rows)
    return (
        2.2
        + 8.0 * np.exp(-steps / 25)
        + 1.5 * np.exp(-steps / 400)
        + noise * np.random.default_rng(seed).normal(size=rows)
    )


def _watch(rows: Floats, detector: Spike | None = None) -> list[Alarm]:
    detector = detector or Spike()
    return watch(detector, detector.blank(1), rows[:, None])


QUIET: dict[str, Loss] = {
    "a loss that falls steeply, then slowly": lambda _: _loss(),
    "a loss without any noise": lambda _: _loss(noise=0.0),
    "a gradient norm that doubles now and then": lambda rng: np.exp(0.12 * rng.normal(size=1000)),
    "a trend upwards": lambda rng: 1 + 0.01 * np.arange(1000) + 0.02 * rng.normal(size=1000),
    "trifles after a constant stretch": lambda rng: np.where(rng.random(1000) < 0.02, 5.1, 5.0),
}


@pytest.mark.parametrize("name", QUIET)
def test_silent_on_what_is_no_spike(name: str) -> None:
    """The early fall, a trend and noise are no spikes."""
    assert _watch(QUIET[name](np.random.default_rng(1))) == []


@pytest.mark.parametrize(
    ("row", "values", "direction"),
    [
        pytest.param(600, [5.1], 1, id="one row"),
        pytest.param(600, [2.9, 3.5, 4.2, 4.9, 5.1, 4.0, 3.4], 1, id="a rise in five rows and a fall"),
        pytest.param(600, [0.0], -1, id="a drop to zero"),
        pytest.param(600, [1.2, 1.1, 1.2], -1, id="a suspicious drop"),
        pytest.param(90, [7.0], 1, id="soon after the steep fall"),
    ],
)
def test_finds_spikes_and_drops(row: int, values: list[float], direction: int) -> None:
    """An excursion is found with its first row that is away, its extreme and its number of rows are told at its end."""
    rows = _loss()
    level = float(rows[row - 1])
    rows[row : row + len(values)] = values
    alarms = _watch(rows)
    assert {a.onset for a in alarms} == {row}
    assert {a.direction for a in alarms} == {direction}
    assert alarms[0].index == row
    assert alarms[0].before == pytest.approx(level, abs=0.3)
    assert [a.over for a in alarms] == [False] * (len(alarms) - 1) + [True]
    assert alarms[-1].after == (max(values) if direction > 0 else min(values))
    assert alarms[-1].index == row + len(values) - 1
    assert alarms[-1].numbers == {"rows": len(values)}


def test_neighbours_are_one_episode() -> None:
    """Spikes fewer than ten calm rows apart are one episode, those further apart are two."""
    rows = _loss()
    rows[[500, 506, 514, 600]] = 5.0
    assert [(a.onset, a.index) for a in _watch(rows) if a.over] == [(500, 514), (600, 600)]


def test_revised_when_it_grows_much() -> None:
    """The extreme is revised when the excess has grown by half, not with each row."""
    rows = np.full(200, 2.0)
    rows[150:158] = [3.0, 3.1, 3.2, 3.6, 3.7, 3.8, 5.0, 3.0]
    assert [a.after for a in _watch(rows)] == [3.0, 3.6, 5.0, 5.0]


def test_a_spike_does_not_hide_the_next_one() -> None:
    """Rows that are away teach nothing: thirty spikes are found as surely as one."""
    rows = _loss(rows=1000)
    rows[200::25] += 3.0
    assert [a.onset for a in _watch(rows) if a.over] == list(range(200, 1000, 25))[: len(range(200, 990, 25))]


def test_a_lasting_shift_is_believed_in_the_end() -> None:
    """A loss that stays up is one episode that ends after 200 rows; a spike from the new level is found again."""
    rows = np.full(900, 2.0) + 0.02 * np.random.default_rng(0).normal(size=900)
    rows[300:] += 2.0
    rows[700] += 3.0
    ended = [(a.onset, a.index, a.numbers["rows"]) for a in _watch(rows) if a.over]
    assert ended == [(300, 499, 200.0), (700, 700, 1.0)]


def test_worth_and_floor_by_series() -> None:
    """An excess that is not worth an alarm for one series may be for another."""
    detector = Spike(worth=np.array([0.1, 2.0, 0.1]), floor=np.array([0.0, 0.0, 5.0]))
    rows = np.full((120, 3), 2.0)
    rows[100] = 4.0
    assert {a.series for a in watch(detector, detector.blank(3), rows)} == {0}
    with pytest.raises(ValueError, match="worth"):
        detector.blank(2)


def test_one_hard_batch_among_hard_ones_is_no_spike() -> None:
    """A row that is far from the trend, yet little farther than the rows just before it, is no spike."""
    rows = _loss(noise=0.1)
    level = float(np.median(rows[580:600]))
    rows[600:606] = level + np.array([0.2, -0.1, 0.1, 0.2, 0.25, 0.68])
    assert _watch(rows) == []
    rows[600:605] = level
    assert [a.onset for a in _watch(rows) if a.over] == [605]


@pytest.mark.parametrize("steps", [3, 8, 15])
def test_a_climb_is_found_though_no_row_of_it_is_sudden(steps: int) -> None:
    """A loss that climbs row by row is found by the second row that is away, well before it is at its top."""
    rows = _loss()
    rows[600:] += np.minimum(np.arange(400) + 1, steps) * 1.5 / steps
    alarms = _watch(rows)
    assert 600 <= alarms[0].index < 600 + steps
    assert alarms[0].direction == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(150, 600), st.floats(1.25, 20.0) | st.floats(-1.9, -1.25))
def test_any_clear_spike_is_found_at_once(seed: int, row: int, excess: float) -> None:
    """A row that is twenty-five deviations off is found in that row, and nothing else is."""
    rows = _loss(rows=row + 12, seed=seed)
    rows[row] += excess
    assert {(a.onset, a.over) for a in _watch(rows)} == {(row, False), (row, True)}


@pytest.mark.parametrize(
    "parameters",
    [
        {"sigmas": 0.0},
        {"sudden": 0.0},
        {"plain": 1.0},
        {"window": 10},
        {"trend": 7},
        {"worth": -1.0},
        {"floor": -1.0},
        {"calm": 0},
        {"warmup": 1},
        {"longest": 0},
    ],
    ids=str,
)
def test_parameters_are_checked_when_built(parameters: dict[str, int]) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Spike(**parameters)


def test_zero_within_a_spike_is_a_finding_of_its_own() -> None:
    """A loss that goes to zero while it is still high is told at once; the rise ends with its own last row."""
    rows = _loss()
    rows[600:605], rows[605:608] = 5.1, 0.0
    told = [(a.index, a.onset, a.direction, a.over) for a in _watch(rows)]
    assert told[:3] == [(600, 600, 1, False), (604, 600, 1, True), (605, 605, -1, False)]
    assert told[-1] == (607, 605, -1, True)
    assert len(told) == 4


def test_a_dip_within_a_spike_is_part_of_it() -> None:
    """Losses swing after a spike: what is low and not zero belongs to the episode."""
    rows = _loss()
    rows[600:605], rows[605:608] = 5.1, 1.2
    assert {a.onset for a in _watch(rows)} == {600}
