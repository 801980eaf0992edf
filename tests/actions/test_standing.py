"""Whether a request still stands when it is about to run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playbooks.actions.catalogue import ACTIONS
from playbooks.actions.standing import lapsed
from tests.actions.samples import ONSET, a_request, an_incident

CASES: dict[str, tuple[str, dict[str, object], dict[str, object], int, str]] = {
    "fresh": ("loader.use_cache", {}, {}, 1, ""),
    "resolved": ("loader.use_cache", {}, {"state": "resolved"}, 1, "refused"),
    "closed": ("node.cordon", {}, {"state": "closed"}, 1, "refused"),
    "resolved, but only recording": ("taint.mark", {}, {"state": "resolved"}, 1, ""),
    "resolved, and a post-mortem": ("postmortem.open", {}, {"state": "resolved"}, 1, ""),
    "resolved, and news of it": ("notify", {}, {"state": "resolved"}, 1, ""),
    "resolved, and giving back": ("loader.restore", {}, {"state": "resolved"}, 1, ""),
    "the job has a newer attempt": ("loader.use_cache", {}, {}, 2, "refused"),
    "the incident has a newer attempt": ("job.restart", {}, {"attempt": 2}, 0, "refused"),
    "news do not depend on the attempt": ("notify", {}, {"attempt": 2}, 2, ""),
    "the cluster has no attempts": ("node.cordon", {"attempt": 0}, {"attempt": 0}, 0, ""),
    "just in time": ("loader.use_cache", {"time": ONSET, "expires": 120.0}, {}, 1, ""),
    "too late": ("loader.use_cache", {"time": ONSET, "expires": 119.0}, {}, 1, "expired"),
    "news are never too late": ("notify", {"time": ONSET, "expires": 1.0}, {}, 1, ""),
    "info": ("loader.use_cache", {}, {"severity": "info"}, 1, "refused"),
}


@pytest.mark.parametrize(("name", "request_", "incident", "newest", "outcome"), CASES.values(), ids=CASES)
def test_a_request_stands_or_lapses(
    name: str, request_: dict[str, object], incident: dict[str, object], newest: int, outcome: str
) -> None:
    """What the world has moved past is not done any more, and the outcome says why."""
    gone = lapsed(a_request(name, **request_), ACTIONS[name], an_incident(**incident), newest)
    assert (gone.outcome if gone else "") == outcome
    assert gone is None or gone.reason


@given(moved=st.floats(0, 1e6), expires=st.floats(1, 1e6))
def test_only_times_of_records_count(moved: float, expires: float) -> None:
    """A request expires exactly when the incident's own time has passed it by, whatever any clock says."""
    request = a_request(time=ONSET, expires=expires)
    gone = lapsed(request, ACTIONS[request.action], an_incident(updated_time=ONSET + moved), 1)
    assert (gone is not None) == (ONSET + moved > ONSET + expires)
