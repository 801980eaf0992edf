"""A thousand ranks that time out within minutes are one incident, and cost no time to speak of."""

from schemas.codec import encode
from streams.replay import replay
from tests.acceptance.replaying import shipped_line
from tests.acceptance.stories import Story, incidents_of, timed_out
from tests.stages.build import Job

RANKS = 1_024


def flood() -> tuple[Story, Story]:
    """A job of 128 nodes whose GPU falls off the bus, and the lines with which all ranks give up ten minutes later."""
    job = Job(nodes=128, ranks=8)
    story: Story = [job.started(), *job.run(30)]
    story.append(job.event("xid", node="n38", subject="GPU-301", code=79))
    job.time += 600.0
    return story, timed_out(job, range(RANKS))


def test_a_flood_is_one_incident_with_its_first_cause() -> None:
    """The GPU that failed ten minutes before leads; a thousand lines are folded into one finding."""
    story, lines = flood()
    [incident] = incidents_of([*story, *lines])
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == ("gpu_failed", ["n38"], [301])
    assert len(incident["evidence"]) < 20
    assert any("1024 ranks timed out" in one["text"] for one in incident["evidence"])


def test_a_flood_is_told_in_few_words() -> None:
    """The line says little while the flood comes: the number of records is far below that of the lines."""
    story, lines = flood()
    outcome = replay(shipped_line(), [encode(record) + b"\n" for record in (*story, *lines)])
    said = [one for one in outcome.said if one.topic in ("detections", "incidents")]
    assert len(said) < 40
