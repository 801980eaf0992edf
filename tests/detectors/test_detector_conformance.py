"""What every detector of the catalogue must keep to, whatever it looks for."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from detectors.base import Alarm, Floats, Ints, Memory, grow, watch
from detectors.catalogue import DETECTORS
from tests.detectors.scenes import CASES, Case


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    """Give each detector in turn."""
    found: Case = request.param
    return found


def _watch(case: Case, rows: Floats) -> list[Alarm]:
    detector = case.make()
    return watch(detector, detector.blank(rows.shape[1]), rows)


def _marks(alarms: list[Alarm]) -> list[tuple[int, int, int, bool, str]]:
    return sorted((a.index, a.series, a.onset, a.over, a.kind) for a in alarms)


GAP = 7
"""Rows that are missing."""


def _verdicts(case: Case, rows: Floats, skipped: Ints | None = None) -> set[tuple[int, int]]:
    """What is found, where and since when, without the rows that are skipped."""
    detector = case.make()
    memory = detector.blank(rows.shape[1])
    kept = np.setdiff1d(np.arange(len(rows)), [] if skipped is None else skipped)
    found = [alarm for index in kept for alarm in detector.update(memory, int(index), rows[index])]
    return {(a.series, a.onset) for a in found if not a.over}


def _agree(case: Case, found: set[tuple[int, int]], truth: set[tuple[int, int]]) -> bool:
    """Tell whether the same is found in the same series, dated as closely as the detector can."""
    pairs = list(zip(sorted(found), sorted(truth), strict=False))
    near = all(mine[0] == true[0] and abs(mine[1] - true[1]) <= case.dated for mine, true in pairs)
    return len(found) == len(truth) and near


@cache
def _clear_scenes(case: Case) -> list[tuple[int, Floats, set[tuple[int, int]]]]:
    """Noisy scenes in which a detector finds the truth and nothing else, as chance has it."""
    scenes = [(seed, *case.scene(seed, 0.01)) for seed in range(8)]
    clear = [one for one in scenes if _agree(case, _verdicts(case, one[1]), one[2])]
    assert len(clear) >= 3
    return clear[:3]


def _uneventful(rows: Floats, truth: set[tuple[int, int]]) -> Ints:
    """Rows from which on nothing begins for a while, once a detector has had some to learn from."""
    onsets = np.array([onset for _, onset in truth])
    late = np.arange(len(rows) // 8, len(rows) - 2 * GAP)
    free: Ints = late[(np.abs(late[:, None] - onsets) > 2 * GAP).all(axis=1)]
    return free


def _same(some: list[Alarm], others: list[Alarm]) -> bool:
    """Compare to the last digit; NaN equals NaN."""
    return repr(some) == repr(others)


def _restored(memory: Memory) -> Memory:
    """Save and load: through bytes, as a store in another process would."""
    fields: dict[str, Any] = {}  # Any: arrays and plain numbers
    for name in memory.__struct_fields__:
        value = getattr(memory, name)
        if isinstance(value, np.ndarray):
            value = np.frombuffer(value.tobytes(), dtype=value.dtype).reshape(value.shape).copy()
        fields[name] = value
    return type(memory)(**fields)


def _bytes(memory: Memory) -> list[bytes]:
    return [np.asarray(getattr(memory, name)).tobytes() for name in memory.__struct_fields__]


def _size(memory: Memory) -> int:
    return sum(map(len, _bytes(memory)))


def test_every_detector_of_the_catalogue_is_a_case() -> None:
    """A detector that is not put to these tests is not in the catalogue."""
    assert set(DETECTORS) == {name.split(",")[0] for name in CASES}


def test_fields_are_arrays_by_series_or_plain_numbers(case: Case) -> None:
    """A memory holds numbers and arrays whose first axis is the series, so that any store can keep it."""
    width = case.scene(0, 0.01)[0].shape[1]
    memory = case.make().blank(width)
    for name in memory.__struct_fields__:
        value = getattr(memory, name)
        if isinstance(value, np.ndarray):
            assert value.shape[0] == width
            assert value.dtype in (np.float64, np.int64, np.bool_)
        else:
            assert type(value) in (int, float)


def test_silent_on_a_constant_signal(case: Case) -> None:
    """Nothing is found where nothing ever changes."""
    width = case.scene(0, 0.01)[0].shape[1]
    assert _watch(case, np.full((600, width), case.healthy)) == []


def test_exact_onset_without_noise(case: Case) -> None:
    """On a noiseless scene exactly the true episodes are found, dated to their true first row."""
    rows, truth = case.scene(0, 0.0)
    assert {(a.series, a.onset) for a in _watch(case, rows)} == truth


def test_one_alarm_opens_and_at_most_one_ends_an_episode(case: Case) -> None:
    """Alarms of one series come as raised, revised with the same onset, over; the numbers of rows are in order."""
    rows, _ = case.scene(1, 0.01)
    open_since: dict[int, int] = {}
    for alarm in _watch(case, rows):
        assert alarm.onset <= alarm.index
        assert alarm.score >= 1
        assert math.isfinite(alarm.after)
        assert math.isfinite(alarm.limit)
        assert open_since.setdefault(alarm.series, alarm.onset) == alarm.onset
        if alarm.over:
            del open_since[alarm.series]


@pytest.mark.parametrize("seed", [1, 2])
def test_same_alarms_in_another_unit(case: Case, seed: int) -> None:
    """The alarms are the same after a * x + b, where the detector claims so."""
    rows, _ = case.scene(seed, 0.01)
    expected = _marks(_watch(case, rows))
    for scale, shift in case.scales:
        assert _marks(_watch(case, rows * scale + shift)) == expected


def test_a_unit_a_thousand_times_as_small_changes_no_verdict(case: Case) -> None:
    """Milliseconds in place of seconds, with parameters that have a unit in the new one, give the same alarms."""
    rows, _ = case.scene(1, 0.01)
    if case.unitless:
        assert case.thousandth is None
        return
    small = Case(case.thousandth or case.make, case.scene, case.healthy)
    assert _marks(_watch(small, rows * 1000.0)) == _marks(_watch(case, rows))


def test_one_missing_reading_changes_no_verdict(case: Case) -> None:
    """A single NaN in a series, away from what happens in it, neither blinds nor alarms a detector."""
    for seed, rows, truth in _clear_scenes(case):
        chance, free = np.random.default_rng(seed), _uneventful(rows, truth)
        for series in range(rows.shape[1]):
            holed = rows.copy()
            holed[chance.choice(free), series] = np.nan
            assert _agree(case, _verdicts(case, holed), truth)


def test_a_gap_changes_no_verdict(case: Case) -> None:
    """Rows that are missing, as empty ones or with their numbers, leave the verdicts on what is there."""
    for _, rows, truth in _clear_scenes(case):
        free = _uneventful(rows, truth)
        gone = np.arange(free[free.size // 2], free[free.size // 2] + GAP)
        empty = rows.copy()
        empty[gone] = np.nan
        assert _agree(case, _verdicts(case, empty), truth)
        assert _agree(case, _verdicts(case, rows, skipped=gone), truth)


def test_order_of_series_does_not_matter(case: Case) -> None:
    """Which place a rank has in the row changes nothing but the series number of its alarms."""
    if case.ordered:
        return
    rows, _ = case.scene(3, 0.01)
    order = np.random.default_rng(3).permutation(rows.shape[1])
    moved = [(i, int(order[s]), o, over, kind) for i, s, o, over, kind in _marks(_watch(case, rows[:, order]))]
    assert sorted(moved) == _marks(_watch(case, rows))


def test_absent_rows_change_nothing(case: Case) -> None:
    """A row without any reading leaves no trace: the alarms after it are those that come without it."""
    rows, _ = case.scene(4, 0.01)
    numbers = np.arange(len(rows))
    detector = case.make()
    plain, holed = detector.blank(rows.shape[1]), detector.blank(rows.shape[1])
    for index, row in zip(numbers, rows, strict=True):
        expected = detector.update(plain, int(index), row)
        assert detector.update(holed, int(index), np.full_like(row, np.nan)) == []
        assert _same(detector.update(holed, int(index), row), expected)


def test_memory_is_bounded(case: Case) -> None:
    """A memory has the same size after 1,000 and after 5,000 rows."""
    detector, (rows, _) = case.make(), case.scene(5, 0.01)
    memory = detector.blank(rows.shape[1])
    sizes = []
    for index in range(5000):
        detector.update(memory, index, rows[index % len(rows)])
        if index + 1 in (1000, 5000):
            sizes.append(_size(memory))
    assert sizes[0] == sizes[1]


def test_a_restored_memory_has_the_same_future(case: Case) -> None:
    """A worker that takes a job over finds what the first one would have found."""
    rows, _ = case.scene(6, 0.01)
    for half in (len(rows) // 4, len(rows) // 2, 3 * len(rows) // 4):
        detector = case.make()
        memory = detector.blank(rows.shape[1])
        watch(detector, memory, rows[:half])
        copy = _restored(memory)
        assert _same(watch(case.make(), copy, rows[half:], half), watch(detector, memory, rows[half:], half))


def test_an_infinite_row_is_refused_and_leaves_no_trace(case: Case) -> None:
    """A detector refuses infinity and rows of another width, and its memory is as it was."""
    rows, _ = case.scene(7, 0.01)
    detector = case.make()
    memory = detector.blank(rows.shape[1])
    half = len(rows) // 2
    watch(detector, memory, rows[:half])
    before = _bytes(memory)
    broken = rows[half].copy()
    broken[-1] = math.inf
    for bad in (broken, -broken, rows[half, :-1]):
        with pytest.raises(ValueError, match="row"):
            detector.update(memory, half, bad)
    assert _bytes(memory) == before


def test_more_series_leave_the_old_ones_their_future(case: Case) -> None:
    """Series that join later change nothing for those that were there, and are found out like any other."""
    if case.ordered:
        with pytest.raises(ValueError, match="width"):
            grow(case.make(), case.make().blank(2), 3)
        return
    rows, truth = case.scene(8, 0.01)
    detector, half = case.make(), len(rows) // 4
    memory = detector.blank(rows.shape[1])
    watch(detector, memory, rows[:half])
    wider = grow(detector, memory, rows.shape[1] + 2)
    joined = np.column_stack((rows, rows[:, 0], rows[:, 0] if case.alone else np.full(len(rows), np.nan)))
    future = watch(detector, wider, joined[half:], half)
    assert {(a.series, a.onset) for a in future if a.series < rows.shape[1]} >= truth
    if case.alone:
        kept = [a for a in future if a.series < rows.shape[1]]
        assert _same(kept, watch(detector, memory, rows[half:], half))
    with pytest.raises(ValueError, match="width"):
        grow(detector, wider, 1)


def _f1(found: list[tuple[int, int]], truth: set[tuple[int, int]], within: int = 5) -> float:
    """Harmonic mean of precision and recall; an onset counts once, if it is near enough."""
    missed = set(truth)
    for series, onset in found:
        near = [t for t in missed if t[0] == series and abs(t[1] - onset) <= within]
        missed.difference_update(near[:1])
    hits = len(truth) - len(missed)
    return 2 * hits / (len(found) + len(truth))


def _random_detector(rows: Floats, alarms: int, seed: int) -> list[tuple[int, int]]:
    chance = np.random.default_rng(seed)
    places: list[Ints] = [chance.integers(0, size, alarms) for size in (rows.shape[1], rows.shape[0])]
    return list(zip(places[0].tolist(), places[1].tolist(), strict=True))


def test_beats_saying_nothing_and_guessing(case: Case) -> None:
    """On noisy scenes with known truth it is right nearly always, where guessing as often is hardly ever."""
    scores, guesses, nothing = [], [], []
    for seed in range(6):
        rows, truth = case.scene(seed, 0.02)
        raised = {(a.series, a.onset) for a in _watch(case, rows)}
        scores.append(_f1(sorted(raised), truth))
        guesses.append(_f1(_random_detector(rows, len(truth), seed), truth))
        nothing.append(_f1([], truth))
    assert np.mean(scores) >= 0.9
    assert np.mean(scores) > max(np.mean(guesses), np.mean(nothing)) + 0.5
