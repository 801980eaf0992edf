"""A node that was reported missing is named when the attempt ends with it, and only then."""

import pytest

from schemas.detection import Detection
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def lost(*nodes: str, reason: str = "requeued", later: float = 20.0, back: bool = False) -> list[Detection]:
    """A job that trains, nodes of which are reported missing, and whose attempt ends then."""
    job, fed = Job(nodes=6), Fed(Detect())
    fed.feed(job.started(), *job.run(40))
    job.time += 60.0
    fed.feed(*(job.event("node.missing", "scheduler", node) for node in nodes))
    if back:
        fed.feed(job.event("node.boot", nodes[0], nodes[0]))
    job.time += later
    fed.feed(job.event("attempt.ended", reason=reason, exit_code=1))
    return [one for one in fed.told(Detection) if one.detector == "node_lost" and one.revision == 0]


@pytest.mark.parametrize("reason", ["requeued", "failed"])
def test_a_lost_node_is_named(reason: str) -> None:
    """The onset is the last step, however the scheduler calls the end."""
    (found,) = lost("n2", reason=reason)
    assert (found.subject, found.nodes, found.onset_step) == ("node:n2", ("n2",), 139)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(lambda: lost("n9"), id="a node without ranks of the job"),
        pytest.param(lambda: lost("n2", reason="stopped"), id="an end that was wanted"),
        pytest.param(lambda: lost("n2", later=3600.0), id="an end an hour later"),
        pytest.param(lambda: lost("n2", back=True), id="a node that is back"),
        pytest.param(lambda: lost("n1", "n2", "n3", "n4"), id="many at once"),
    ],
)
def test_other_ends_name_nobody(found: object) -> None:
    """Where the node is not what the attempt ended of, or many went at once, none is named."""
    assert callable(found)
    assert found() == []
