"""What every archive does with vitals: it keeps them by time and kind, bounded, and thins them honestly."""

import math

from streams.stores.store import Archive
from tests.stores.records import make_vitals, put


def test_a_series_is_cut_by_time_and_kept_by_kind(archive: Archive) -> None:
    """Points come in the order of time, both ends included, of the wanted job and kind alone."""
    put(archive, "vitals", *(make_vitals(step) for step in (3, 1, 2, 4)), make_vitals(2, job="other"))
    put(archive, "vitals", make_vitals(2, of="gpu", values={"gpu_util": 0.9}))
    assert [point.step for point in archive.series("wm-64", "step", 1001.0, 1003.0, 100)] == [1, 2, 3]
    gpu = archive.series("wm-64", "gpu", 0.0, math.inf, 100)
    assert [(point.time, point.values) for point in gpu] == [(1002.0, {"gpu_util": 0.9})]
    assert archive.series("wm-64", "mount", 0.0, math.inf, 100) == []


def test_samples_of_one_step_are_several_points(archive: Archive) -> None:
    """Samples are told apart by their time, closed steps by their step: said again, neither doubles."""
    for _ in range(2):
        put(archive, "vitals", make_vitals(5, of="gpu", time=10.0), make_vitals(5, of="gpu", time=11.0))
        put(
            archive,
            "vitals",
            make_vitals(5, time=10.0),
            make_vitals(5, time=11.0),
            make_vitals(5, attempt=2, time=12.0),
        )
    assert len(archive.series("wm-64", "gpu", 0.0, math.inf, 100)) == 2
    assert [point.time for point in archive.series("wm-64", "step", 0.0, math.inf, 100)] == [10.0, 12.0]


def test_absent_and_non_finite_readings_are_told_apart(archive: Archive) -> None:
    """A reading that was not finite is None, an absent one is not there, and zero is zero."""
    values = {"loss": math.nan, "grad_norm": math.inf, "mfu": None, "skipped": 0.0}
    put(archive, "vitals", make_vitals(1, values=values), make_vitals(2, values={}))
    points = archive.series("wm-64", "step", 0.0, math.inf, 100)
    assert [point.values for point in points] == [{"loss": None, "grad_norm": None, "skipped": 0.0}, {}]


def test_a_thinned_series_still_shows_the_one_slow_step(archive: Archive) -> None:
    """Of many points at most the wanted number comes, and the single extreme and the single NaN are among them."""
    steps = [
        make_vitals(step, values={"step_seconds": 9.0 if step == 33 else 2.0, "loss": math.nan if step == 57 else 2.3})
        for step in range(90)
    ]
    put(archive, "vitals", *steps)
    points = archive.series("wm-64", "step", 0.0, math.inf, 12)
    assert len(points) <= 12
    assert 33 in [point.step for point in points]
    assert 57 in [point.step for point in points]


def test_old_vitals_make_room_for_new_ones(archive: Archive) -> None:
    """Of each job and kind about as many points stay as the archive was told to keep, the newest."""
    for step in range(350):
        put(archive, "vitals", make_vitals(step))
    put(archive, "vitals", make_vitals(0, of="gpu"))
    kept = [point.step for point in archive.series("wm-64", "step", 0.0, math.inf, 1000)]
    assert 100 <= len(kept) <= 102
    assert kept == list(range(350 - len(kept), 350))
    assert len(archive.series("wm-64", "gpu", 0.0, math.inf, 1000)) == 1
    assert archive.last() == 0
