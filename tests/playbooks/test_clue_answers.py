"""A clue holds, does not hold, or cannot be seen; the three are never confused."""

from typing import Any

import pytest

from playbooks.cause import Clue
from playbooks.clues import ask, is_event, is_found
from playbooks.facts import Facts, frozen_normals, levels_before, moved_by, present_level
from schemas.detection import Detection
from schemas.telemetry import Event
from tests.playbooks.case import ONSET, a_detection, a_track, an_event, facts, slow

SHARE = a_detection("loader_share", text="loader_share 3 % → 25 %")
STEADY = a_track(0.03, 0.03, normal=0.03)
RISEN = a_track(0.2, 0.24, 0.25, normal=0.03)


def a_clue(**changed: Any) -> Clue:  # Any: any field of a clue
    """A clue of one nat."""
    return Clue(**{"weight": 1.0, **changed})


@pytest.mark.parametrize(
    ("clue", "known", "holds"),
    [
        pytest.param(a_clue(moved="loader_share"), facts(SHARE), True, id="moved: a detection of it"),
        pytest.param(a_clue(moved="loader_share", direction="up"), facts(SHARE), True, id="moved: that way"),
        pytest.param(a_clue(moved="loader_share", direction="down"), facts(SHARE), None, id="moved: the other way"),
        pytest.param(a_clue(moved="loader_share"), facts(), None, id="moved: not seen"),
        pytest.param(a_clue(moved="loader_share"), facts(tracks={"loader_share": STEADY}), False, id="moved: steady"),
        pytest.param(a_clue(moved="loader_share"), facts(tracks={"loader_share": RISEN}), True, id="moved: in values"),
        pytest.param(
            a_clue(moved="loader_share", direction="down"),
            facts(tracks={"loader_share": RISEN}),
            False,
            id="moved: in values, the other way",
        ),
        pytest.param(
            a_clue(moved="loader_share"), facts(tracks={"loader_share": a_track(0.25)}), None, id="moved: no normal"
        ),
        pytest.param(
            a_clue(moved="loader_share"),
            facts(tracks={"loader_share": a_track(normal=0.03)}),
            None,
            id="moved: a normal and no value",
        ),
        pytest.param(
            a_clue(moved="loader_share"),
            facts(tracks={"loader_share": a_track(0.25)}, normals={"loader_share": 0.03}),
            True,
            id="moved: from the frozen normal",
        ),
        pytest.param(
            a_clue(moved="loader_share"),
            facts(tracks={"loader_share": a_track(0.25, normal=0.25)}, normals={"loader_share": 0.03}),
            True,
            id="moved: the frozen normal goes before a later one",
        ),
        pytest.param(
            a_clue(moved="loader_share"),
            facts(a_detection("loader_share", "sustained"), tracks={"loader_share": STEADY}),
            False,
            id="moved: over a limit is no move",
        ),
        pytest.param(a_clue(moved="source_share.*"), facts(a_detection("source_share.code")), True, id="moved: family"),
        pytest.param(
            a_clue(moved="source_share.*"),
            facts(tracks={"source_share.code": RISEN}),
            None,
            id="moved: of a family only what a detector found",
        ),
        pytest.param(
            a_clue(moved="storage_retries_total", direction="up"),
            facts(tracks={"storage_retries_per_second": a_track(5.0, 5.0, normal=0.0)}),
            True,
            id="moved: a counter by its rate",
        ),
        pytest.param(
            a_clue(moved="storage_retries_total"),
            facts(tracks={"storage_retries_per_second": a_track(0.09, normal=0.0)}),
            False,
            id="moved: a counter under a tenth of its floor",
        ),
        pytest.param(
            a_clue(value="cpu_util", above=0.9), facts(tracks={"cpu_util": a_track(0.95)}), True, id="value: above"
        ),
        pytest.param(
            a_clue(value="cpu_util", above=0.9), facts(tracks={"cpu_util": a_track(0.9)}), False, id="value: at it"
        ),
        pytest.param(
            a_clue(value="cpu_util", below=0.2), facts(tracks={"cpu_util": a_track(0.1)}), True, id="value: below"
        ),
        pytest.param(a_clue(value="cpu_util", above=0.9), facts(), None, id="value: not seen"),
        pytest.param(a_clue(event="xid"), facts(an_event("xid", data={"code": 79})), True, id="event: reported"),
        pytest.param(
            a_clue(event="xid", codes=(48, 79)), facts(an_event("xid", data={"code": 79})), True, id="event: that code"
        ),
        pytest.param(
            a_clue(event="xid", codes=(48,)), facts(an_event("xid", data={"code": 79})), False, id="event: another code"
        ),
        pytest.param(a_clue(event="xid", codes=(48,)), facts(an_event("xid")), False, id="event: without a code"),
        pytest.param(
            a_clue(event="xid", codes=(48,)), facts(an_event("xid", data={"code": [48]})), False, id="event: odd code"
        ),
        pytest.param(a_clue(event="xid"), facts(), False, id="event: none"),
        pytest.param(a_clue(detector="slow_rank"), facts(slow(3)), True, id="detector: found"),
        pytest.param(a_clue(detector="slow_rank"), facts(SHARE), False, id="detector: another one"),
        pytest.param(a_clue(detector="slow_rank", parts=("h2d",)), facts(slow(3)), False, id="detector: another part"),
        pytest.param(
            a_clue(detector="slow_rank", parts=("loader", "")), facts(slow(3, part="")), True, id="detector: no part"
        ),
        pytest.param(
            a_clue(detector="sustained", signal="skipped"),
            facts(a_detection("loader_share", "sustained")),
            False,
            id="detector: on another signal",
        ),
        pytest.param(
            a_clue(detector="spike", direction="down"),
            facts(a_detection("loss", "spike")),
            False,
            id="detector: the other way",
        ),
        pytest.param(a_clue(detector="slow_rank", alone=True), facts(slow(3)), True, id="alone: one rank"),
        pytest.param(
            a_clue(detector="slow_rank", alone=True), facts(slow(3), slow(5, "n02")), True, id="alone: on two nodes"
        ),
        pytest.param(
            a_clue(detector="slow_rank", alone=True), facts(*(slow(n) for n in range(3))), False, id="alone: no more"
        ),
        pytest.param(
            a_clue(detector="slow_rank", whole_node=True), facts(*(slow(n) for n in range(2))), False, id="half a node"
        ),
        pytest.param(
            a_clue(detector="slow_rank", whole_node=True), facts(*(slow(n) for n in range(3))), True, id="most of it"
        ),
        pytest.param(
            a_clue(detector="slow_rank", whole_node=True),
            facts(*(slow(n) for n in range(3)), slow(4, "n02")),
            False,
            id="a node and a rank of another",
        ),
        pytest.param(
            a_clue(detector="slow_rank", whole_node=True),
            facts(*(slow(n) for n in range(3)), node_ranks={}, rank_nodes={}),
            False,
            id="a node that is not known",
        ),
    ],
)
def test_three_answers(clue: Clue, known: Facts, holds: bool | None) -> None:
    """True and False need something that was seen; what was not seen is None and moves no belief."""
    answer = ask(clue, known)
    assert answer.holds is holds
    assert answer.text


def test_an_answer_knows_its_sources() -> None:
    """A clue that a detector or an event makes true names all of them, and says how many more there are."""
    found = [slow(n) for n in range(3)]
    answer = ask(a_clue(detector="slow_rank"), facts(*found))
    assert answer.sources == tuple(found)
    assert answer.text == "rank 0 works longer (and 2 more)"
    events = [an_event("xid", seq=n, text="Xid 79") for n in range(2)]
    assert ask(a_clue(event="xid"), facts(*events)).text == "n01: Xid 79 (and 1 more)"


def test_what_is_read_off_values_is_less_sure() -> None:
    """A move that no detector has raised yet is marked as such, and names no source."""
    read = ask(a_clue(moved="loader_share"), facts(tracks={"loader_share": RISEN}))
    assert (read.sure, read.sources) == (False, ())
    assert ask(a_clue(moved="loader_share"), facts(SHARE)).sure


@pytest.mark.parametrize(
    ("clue", "known", "words"),
    [
        pytest.param(
            a_clue(moved="loader_share", direction="up"),
            facts(tracks={"loader_share": STEADY}),
            "loader_share did not go up: 3 %, normal 3 %",
            id="a signal that stayed",
        ),
        pytest.param(
            a_clue(moved="loader_share"),
            facts(tracks={"loader_share": RISEN}),
            "loader_share 3 % → 24 % (+700 %)",
            id="a signal that went",
        ),
        pytest.param(a_clue(moved="iowait"), facts(), "iowait was not seen", id="a signal that nobody sends"),
        pytest.param(
            a_clue(value="cpu_util", above=0.9),
            facts(tracks={"cpu_util": a_track(0.5)}),
            "cpu_util is 50 %, under 90 %",
            id="a value under its limit",
        ),
        pytest.param(
            a_clue(value="cpu_util", below=0.2),
            facts(tracks={"cpu_util": a_track(0.1)}),
            "cpu_util is 10 %, under 20 %",
            id="a value under a lower limit",
        ),
        pytest.param(
            a_clue(value="cpu_util", below=0.2),
            facts(tracks={"cpu_util": a_track(0.5)}),
            "cpu_util is 50 %, over 20 %",
            id="a value over a lower limit",
        ),
        pytest.param(a_clue(event="xid", codes=(48, 79)), facts(), "no xid 48 or 79 was reported", id="no event"),
        pytest.param(
            a_clue(detector="slow_rank", parts=("h2d", "")), facts(), "no slow rank in h2d", id="no slow rank in a part"
        ),
        pytest.param(
            a_clue(detector="slow_rank", whole_node=True), facts(), "no slow rank on a whole node", id="no slow node"
        ),
        pytest.param(
            a_clue(detector="spike", signal="loss"),
            facts(tracks={"loss": a_track(2.31, normal=2.3)}),
            "no spike of loss: 2.31, normal 2.3",
            id="no spike, with the numbers",
        ),
    ],
)
def test_answers_are_sentences_with_numbers(clue: Clue, known: Facts, words: str) -> None:
    """Whoever is woken up reads what was seen, and what against."""
    assert ask(clue, known).text == words


def test_values_are_those_since_the_onset() -> None:
    """The present level is the median since the onset and before the end; else the last value there was."""
    track = a_track(9.0, 9.0, 1.0, 2.0, 3.0, 9.0, first=ONSET - 20.0)
    known = facts(tracks={"loss": track}, end_time=ONSET + 20.0)
    assert present_level(known, "loss") == 2.0
    assert present_level(facts(tracks={"loss": track}, onset_time=ONSET + 500.0), "loss") == 9.0
    assert present_level(facts(), "loss") is None


@pytest.mark.parametrize(
    ("signal", "normal", "present", "direction"),
    [
        ("tokens_per_second", 1.0e6, 0.97e6, 0),
        ("tokens_per_second", 1.0e6, 0.95e6, -1),
        ("tokens_per_second", 1.0e6, 1.05e6, 1),
        ("loader_share", 0.001, 0.02, 0),
        ("loader_share", 0.001, 0.03, 1),
        ("loader_share", 0.0, 0.0, 0),
        ("loss", -2.0, -2.5, -1),
    ],
)
def test_a_move_is_worth_an_alarm(signal: str, normal: float, present: float, direction: int) -> None:
    """A move counts from the share or the amount that the table of signals calls worth an alarm, whichever is more."""
    assert moved_by(facts(tracks={signal: a_track(present, normal=normal)}), signal) == (normal, present, direction)


def test_normals_are_frozen_at_the_onset() -> None:
    """The learned level counts; without one the median of the values before the onset; without those there is none."""
    tracks = {
        "learned": a_track(1.0, normal=7.0),
        "before": a_track(1.0, 2.0, 30.0, 99.0, first=ONSET - 30.0),
        "after": a_track(5.0),
    }
    assert frozen_normals(tracks, ONSET) == {"learned": 7.0, "before": 2.0}


@pytest.mark.parametrize(
    ("clue", "detection", "found"),
    [
        (a_clue(moved="storage_*"), a_detection("storage_latency_seconds"), True),
        (a_clue(moved="storage_*"), a_detection("disk_util"), False),
        (a_clue(detector="slow_rank", whole_node=True), slow(1), True),
        (a_clue(detector="slow_rank", parts=("loader",)), slow(1), False),
        (a_clue(event="xid"), slow(1), False),
        (a_clue(value="cpu_util", above=0.9), a_detection("cpu_util"), False),
    ],
)
def test_what_kind_of_detection_a_clue_asks_for(clue: Clue, detection: Detection, found: bool) -> None:
    """A family, a detector or a part select; a clue on an event or a value asks for no detection."""
    assert is_found(clue, detection) is found


@pytest.mark.parametrize(
    ("clue", "event", "found"),
    [
        (a_clue(event="xid"), an_event("xid"), True),
        (a_clue(event="xid"), an_event("xid.other"), False),
        (a_clue(event="xid", codes=(79,)), an_event("xid", data={"code": 79}), True),
        (a_clue(event="xid", codes=(79,)), an_event("xid", data={"code": "79"}), False),
        (a_clue(moved="xid"), an_event("xid"), False),
    ],
)
def test_what_kind_of_event_a_clue_asks_for(clue: Clue, event: Event, found: bool) -> None:
    """Name and code select."""
    assert is_event(clue, event) is found


@pytest.mark.parametrize(
    ("before", "newly", "holds"),
    [
        pytest.param({}, True, True, id="not seen before"),
        pytest.param({"cpu_util": 0.4}, True, True, id="low before"),
        pytest.param({"cpu_util": 0.97}, True, None, id="high before"),
        pytest.param({"cpu_util": 0.97}, False, True, id="high before, which does not matter"),
    ],
)
def test_what_was_so_before_says_nothing(before: dict[str, float], newly: bool, holds: bool | None) -> None:
    """Busy CPUs explain what began later only where they were not as busy before."""
    known = facts(tracks={"cpu_util": a_track(0.98, 0.99)}, before=before)
    assert ask(a_clue(value="cpu_util", above=0.9, newly=newly), known).holds is holds


@pytest.mark.parametrize(
    ("first", "holds"),
    [pytest.param(ONSET, True, id="seen since"), pytest.param(ONSET - 20.0, None, id="seen last before the onset")],
)
def test_what_was_last_seen_before_says_nothing_of_now(first: float, holds: bool | None) -> None:
    """A clue that asks for what was seen since the onset takes no older value for the present one."""
    known = facts(tracks={"gpu_util": a_track(0.98, 0.99, first=first)})
    assert ask(a_clue(value="gpu_util", above=0.9, since=True), known).holds is holds
    assert ask(a_clue(value="gpu_util", above=0.9), known).holds is True


def test_levels_before_an_onset_are_of_some_values() -> None:
    """One value before the onset may be the last of something else; three tell how it was."""
    tracks = {"few": a_track(1.0, first=ONSET - 10.0), "some": a_track(1.0, 3.0, 2.0, 9.0, first=ONSET - 30.0)}
    assert levels_before(tracks, ONSET) == {"some": 2.0}
