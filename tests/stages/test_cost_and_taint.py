"""GPU hours against calculations by hand, and the range of contaminated steps."""

import pytest

from schemas.telemetry import Tick
from streams.stages.correlate.cost import gpu_seconds
from tests.stages.course import Course

RANKS = 8


def lost(course: Course, place: int = 0) -> float:
    """GPU seconds lost of the case that was opened first, second and so on."""
    cases = sorted(course.fed.memory.cases.values(), key=lambda case: case.opened_time)
    return gpu_seconds(course.fed.memory, cases[place])


def test_every_second_beyond_the_normal_pace_counts() -> None:
    """Forty steps of 1.4 s instead of 1 s on eight GPUs are 128 GPU seconds, those before the alarm included."""
    course = Course()
    course.go(10, 1.4)
    course.find("level_shift", "loader_share", ago=14)
    course.go(30, 1.4)
    assert lost(course) == pytest.approx(40 * 0.4 * RANKS)


def test_the_price_is_told() -> None:
    """An incident that ends says what it has cost, in GPU hours."""
    course = Course()
    course.go(10, 1.4)
    course.find("level_shift", "loader_share", ago=14)
    course.go(290, 1.4)
    course.end_all()
    course.go(60)
    assert course.incidents[0].gpu_hours_lost == pytest.approx(300 * 0.4 * RANKS / 3600, abs=0.001)


def test_steps_that_nobody_reported_count_too() -> None:
    """Where steps are missing, the time between is held against as many normal steps."""
    course = Course()
    course.find("level_shift", "loader_share", ago=0)
    course.go(12)
    before = lost(course)
    course.step += 9
    course.time += 9 * 1.5
    course.go(1, 1.5)
    assert lost(course) - before == pytest.approx(10 * 0.5 * RANKS)


def test_a_good_step_does_not_give_anything_back() -> None:
    """A step that is faster than normal does not make up for what was lost."""
    course = Course()
    course.find("level_shift", "loader_share", ago=0)
    course.go(12)
    course.go(10, 1.4)
    before = lost(course)
    course.go(10, 0.5)
    assert lost(course) == before


def test_an_announced_phase_is_not_lost() -> None:
    """An evaluation takes its time whether or not something is wrong."""
    course = Course()
    course.find("level_shift", "loader_share", ago=0)
    course.go(12)
    before = lost(course)
    course.go(1, 90.0, phase="eval")
    assert lost(course) == before


def test_the_pause_of_a_save_is_lost_where_the_save_is_the_trouble() -> None:
    """A save that pauses the job for too long costs what it costs."""
    course = Course()
    course.find("checkpoint", "checkpoint_seconds", ago=0, after=41.0)
    course.go(12)
    before = lost(course)
    course.go(1, 42.0, phase="checkpoint")
    assert lost(course) - before == pytest.approx(41.0 * RANKS)


def test_two_causes_do_not_lose_the_same_second_twice() -> None:
    """While two incidents are open, the one that began first bears the loss."""
    course = Course()
    course.find("level_shift", "loader_share", ago=5)
    course.go(12)
    course.find("nonfinite", "loss", "none", ago=0, part="nan")
    course.go(12)
    course.go(10, 1.4)
    assert lost(course, 0) == pytest.approx(10 * 0.4 * RANKS)
    assert lost(course, 1) == 0.0


def test_a_standstill_is_lost_while_it_lasts() -> None:
    """While no step comes, time goes on: ten minutes of eight GPUs are lost without a single frame."""
    course = Course()
    course.find("stalled", "interval_seconds", ago=1)
    course.go(1)
    course.fed.feed(Tick(time=course.time + 11.0))
    course.fed.feed(Tick(time=course.time + 601.0))
    assert lost(course) == pytest.approx(600.0 * RANKS)


def test_nothing_is_lost_where_nothing_is_normal() -> None:
    """Without a pace that was learned before the onset there is no loss to speak of."""
    course = Course()
    course.start(fingerprint="other")
    course.go(1, 3.0, normal={"step_seconds": None, "interval_seconds": None})
    course.find("nonfinite", "loss", "none", ago=1, part="nan")
    course.go(60, 3.0)
    assert lost(course) == 0.0


def test_the_pace_of_another_configuration_is_not_the_normal_one() -> None:
    """After a restart with longer steps, nothing is held against the old pace."""
    course = Course()
    course.go(1, 2.0, normal={"step_seconds": None, "interval_seconds": None})
    course.go(20, 2.0, normal={"step_seconds": 2.0})
    course.find("nonfinite", "loss", "none", ago=1, part="nan")
    course.go(60, 2.0)
    assert lost(course) == pytest.approx(0.0)


def test_contaminated_steps() -> None:
    """The range begins with the onset, grows while it lasts, ends with the last finding, and names the saves inside."""
    course = Course()
    course.find("level_shift", "loader_share", ago=8)
    onset = course.step - 8
    course.happen("checkpoint.end", step=onset - 1)
    course.go(40, 1.4)
    saved = course.step
    course.happen("checkpoint.end", step=saved)
    course.go(10, 1.4)
    growing = course.incidents[0].taint
    assert growing is not None
    course.end_all()
    last = course.step - 1
    course.go(20)
    course.happen("checkpoint.end", step=course.step)
    course.go(40)
    taint = course.incidents[0].taint
    assert taint is not None
    assert (taint.from_step, taint.to_step, taint.checkpoints) == (onset, last, (saved,))
    assert growing.from_step == onset
    assert growing.to_step <= last


def test_what_has_no_steps_contaminates_none() -> None:
    """An incident before the first step has no range."""
    course = Course()
    course.fed.memory.step = None
    course.happen("xid", "n2", "GPU-6", code=79)
    course.fed.flush()
    assert course.incidents[0].taint is None
    assert course.incidents[0].onset_step is None
