"""Pauses for a checkpoint."""

import numpy as np
import pytest

from detectors.base import Alarm, watch
from detectors.checkpoint import Checkpoint

NAN = float("nan")
Saves = list[tuple[float, float]]


def _watch(saves: Saves) -> list[Alarm]:
    detector = Checkpoint(limit_seconds=30.0, share=0.05, growth=2.0)
    return watch(detector, detector.blank(2), np.array(saves))


@pytest.mark.parametrize(
    ("saves", "wanted"),
    [
        pytest.param([(40.0, 10_800.0)] * 9, [], id="planned, 40 s every three hours"),
        pytest.param([(29.0, 60.0)] * 9, [], id="under the limit, whatever its share"),
        pytest.param([(41.0, 100.0)], [(0, 41.0, False)], id="the first is long for the time since the start"),
        pytest.param([(41.0, NAN), (43.0, 10_000.0)], [], id="the first, with nothing to compare"),
        pytest.param(
            [(12.0, 600.0)] * 3 + [(41.0, 600.0)], [(3, 41.0, False)], id="over the limit and twice the usual"
        ),
        pytest.param([(25.0, 600.0)] * 3 + [(41.0, 600.0)], [], id="over the limit, not twice the usual"),
        pytest.param([(12.0, 600.0), (NAN, 600.0), (41.0, 600.0)], [(2, 41.0, False)], id="a pause nobody measured"),
        pytest.param(
            [(12.0, 600.0), (41.0, 600.0), (45.0, 600.0), (70.0, 600.0), (13.0, 600.0)],
            [(1, 41.0, False), (3, 70.0, False), (3, 70.0, True)],
            id="revised when half as long again, over at the next in order",
        ),
        pytest.param(
            [(12.0, 600.0), (41.0, 600.0), (12.0, 600.0), (41.0, 600.0)],
            [(1, 41.0, False), (1, 41.0, True), (3, 41.0, False)],
            id="a long pause does not become the usual one",
        ),
        pytest.param([(6.0, 600.0)] * 2 + [(19.0, 600.0)], [], id="out of proportion, but short"),
        pytest.param([(6.0, 600.0)] * 2 + [(21.0, 600.0)], [(2, 21.0, False)], id="under the limit, out of proportion"),
        pytest.param([(6.0, 600.0), (21.0, 600.0)], [], id="under the limit, and one pause tells no proportion"),
        pytest.param(
            [(6.0, 600.0), (9.0, 600.0), (25.0, 600.0)], [], id="under the limit, in proportion to the longest"
        ),
        pytest.param([(41.0, 100.0)] * 5, [(0, 41.0, False)], id="too dear from the start is one episode"),
    ],
)
def test_pauses(saves: Saves, wanted: list[tuple[int, float, bool]]) -> None:
    """A pause alarms when it is long for the job's own pauses, or too dear where none are known."""
    assert [(a.index, a.after, a.over) for a in _watch(saves)] == wanted


def test_growth_is_found_before_it_is_usual() -> None:
    """Pauses that grow by a tenth each time are found, although each is near to the one before."""
    saves = [(10.0 * 1.1**n, 600.0) for n in range(30)]
    found = _watch(saves)[0]
    assert found.after < 60
    assert found.after > 2 * found.before


def test_numbers() -> None:
    """The alarm tells the usual pause and the share of the time."""
    found = _watch([(10.0, 600.0), (40.0, 360.0)])[0]
    assert found.numbers == {"share": 0.1, "usual": 10.0}
    assert _watch([(40.0, 360.0)])[0].numbers == {"share": 0.1}


def test_a_pause_is_told_while_it_lasts() -> None:
    """What is too long already is told once, revised at its end, and over with the next in order."""
    detector = Checkpoint()
    memory = detector.blank(2)
    watch(detector, memory, np.array([(6.0, 600.0), (6.0, 600.0)]))
    told = [alarm for seconds in (19.0, 21.0, 30.0) for alarm in detector.lasting(memory, 2, seconds)]
    told += detector.update(memory, 2, np.array([41.0, 600.0])) + detector.update(memory, 3, np.array([6.0, 600.0]))
    assert [(a.index, a.onset, a.after, a.over) for a in told] == [
        (2, 2, 21.0, False),
        (2, 2, 41.0, False),
        (2, 2, 41.0, True),
    ]


@pytest.mark.parametrize("known", [0, 1])
def test_the_first_pauses_are_not_told_while_they_last(known: int) -> None:
    """How long saves of this job take is not known before two."""
    detector = Checkpoint()
    memory = detector.blank(2)
    watch(detector, memory, np.array([(6.0, 600.0)] * known).reshape(-1, 2))
    assert detector.lasting(memory, 2, 900.0) == []


@pytest.mark.parametrize("save", [(-1.0, 5.0), (5.0, -1.0)])
def test_negative_seconds_are_refused(save: tuple[float, float]) -> None:
    """Neither time is ever negative."""
    with pytest.raises(ValueError, match="negative"):
        _watch([save])


@pytest.mark.parametrize(
    "parameters",
    [{"limit_seconds": 0.0}, {"share": 0.0}, {"share": 1.0}, {"growth": 1.0}, {"least_seconds": 31.0}, {"beyond": 1.5}],
    ids=str,
)
def test_parameters_are_checked_when_built(parameters: dict[str, float]) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Checkpoint(**parameters)


def test_the_width_is_two() -> None:
    """The row is a pause and the time since the last one, nothing else."""
    with pytest.raises(ValueError, match="width"):
        Checkpoint().blank(3)
