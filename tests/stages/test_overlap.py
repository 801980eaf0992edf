"""Two incidents at once: whose are the numbers, the findings and the lost time."""

import pytest
from msgspec import structs

from schemas.incident import Incident
from tests.stages.course import Course

SLOW, SLOWER = 1.4, 3.0


def hit_while_slow() -> Course:
    """A job that has been slow for a hundred steps, whose loader begins to wait for the storage."""
    course = Course()
    course.slowdown(ago=8)
    course.go(100, SLOW)
    course.find("level_shift", "loader_share", ago=0, before=0.03, after=0.5)
    course.find("level_shift", "storage_retries_total", ago=0, subject="mount:/data")
    course.go(20, SLOWER, loader_share=0.5)
    return course


def both(course: Course) -> tuple[Incident, Incident]:
    """The older incident and the later one, as they were last told."""
    course.fed.flush()
    older, later = course.incidents
    return older, later


def test_the_later_has_numbers_of_its_own() -> None:
    """Nothing new is found on the pace of a job that is slow already: it is read off, from where the job stood."""
    older, later = both(hit_while_slow())
    assert (older.cause, later.cause) == ("unknown", "loader_starved_by_storage")
    assert older.title.endswith("tokens_per_second 1k tokens/s → 714 tokens/s (−29 %)")
    assert later.title.endswith("tokens_per_second 714 tokens/s → 333 tokens/s (−53 %)")


def test_a_revision_for_the_later_does_not_change_the_older() -> None:
    """The pace has become worse, but not for the reason for which it had been found slow."""
    course = hit_while_slow()
    pace = next(one for one in course.incidents[0].detections if "tokens_per_second" in one)
    found = next(iter(course.fed.memory.cases.values())).detections[pace]
    course.fed.feed(structs.replace(found, revision=1, after=333.0, text="worse"))
    course.go(10, SLOWER, loader_share=0.5)
    older, _ = both(course)
    assert older.title.endswith("714 tokens/s (−29 %)")
    assert all(one.text != "worse" for one in older.evidence)


def test_a_revision_just_before_the_later_was_known_is_given_back() -> None:
    """The worse pace is found before the incident that explains it may open."""
    course = Course()
    pace = course.slowdown(ago=8)[1]
    course.go(100, SLOW)
    course.find("level_shift", "loader_share", ago=0, before=0.03, after=0.5)
    course.go(2, SLOWER, loader_share=0.5)
    course.fed.feed(structs.replace(pace, revision=1, after=333.0, text="worse"))
    course.go(20, SLOWER, loader_share=0.5)
    older, _ = both(course)
    assert older.title.endswith("714 tokens/s (−29 %)")


def test_what_is_found_with_the_later_is_its_own() -> None:
    """A symptom that began with the storage's trouble goes over to it once that has opened."""
    course = Course()
    course.slowdown(ago=8)
    course.go(100, SLOW)
    course.find("level_shift", "loader_share", ago=0, before=0.03, after=0.5)
    slower = course.find("level_shift", "step_seconds", ago=0, name="again", before=1.4, after=3.0)
    assert slower.id in next(iter(course.fed.memory.cases.values())).detections
    course.find("level_shift", "storage_retries_total", ago=0, subject="mount:/data")
    course.go(20, SLOWER, loader_share=0.5)
    older, later = both(course)
    assert slower.id in later.detections
    assert slower.id not in older.detections


def test_the_older_is_looked_at_again_when_the_later_is_over() -> None:
    """What the signals show then is the older trouble's alone."""
    course = hit_while_slow()
    case = next(iter(course.fed.memory.cases.values()))
    assert case.overtaken_by
    later = course.fed.memory.cases[case.overtaken_by]
    course.end(*later.detections.values())
    course.go(60, SLOW)
    assert later.state == "resolved"
    assert not case.overtaken_by
    assert case.state == "open"
    assert case.anew_time == later.end_time


def test_each_bears_its_part_of_the_loss() -> None:
    """Up to the pace at which the later one found the job to the older, the rest to the later; no second twice."""
    course = hit_while_slow()
    older, later = (case.lost_seconds for case in course.fed.memory.cases.values())
    assert older == pytest.approx(120 * (SLOW - 1.0), rel=0.05)
    assert later == pytest.approx(20 * (SLOWER - SLOW), rel=0.05)


def test_a_loss_that_leaves_its_course_does_not_hide_the_pace() -> None:
    """What happens to the loss moves none of the signals by which a slow job is judged."""
    course = Course()
    course.slowdown(ago=8)
    course.go(100, SLOW)
    course.find("spike", "loss", ago=0, before=2.0, after=9.0)
    course.go(20, SLOW)
    assert len(course.incidents) == 2
    assert not any(case.overtaken_by for case in course.fed.memory.cases.values())
