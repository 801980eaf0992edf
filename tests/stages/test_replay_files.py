"""Files of recorded telemetry: what is read, what is counted, and what is said in the end."""

import gzip
from pathlib import Path

import pytest

from schemas.codec import encode
from schemas.telemetry import Event, Tick
from streams.replay import FAULTS_SHOWN, lines_of, replay, summary
from tests.stages.build import START, Job
from tests.stages.short_story import line


def event(job: str, seq: int, **data: object) -> bytes:
    """One record of a job."""
    return encode(
        Event(job=job, attempt=1, node="n1", seq=seq, time=START + seq, event="xid", subject="GPU-1", data=dict(data))
    )


def test_counts() -> None:
    """Blank lines are none; refused, repeated and late records are counted, each in its own place."""
    job = Job()
    good = [encode(record) for record in (job.started(), *job.run(30))]
    late = encode(Job().run(1)[0]).replace(b'"seq":0', b'"seq":999')
    whole = summary(replay(line(), [*good, b"\n", b"  \n", b"{not json}\n", good[5], late]))
    assert (whole["records"], whole["rejected"], whole["repeated"], whole["late"]) == (64, 1, 1, 1)
    assert whole["faults"] == [{"line": 64, "reason": "malformed", "path": "", "detail": whole["faults"][0]["detail"]}]


def test_faults_are_shown_up_to_a_number() -> None:
    """Of a file that is not telemetry at all, the first faults are enough."""
    whole = summary(replay(line(), [b"garbage\n"] * (FAULTS_SHOWN + 50)))
    assert whole["rejected"] == FAULTS_SHOWN + 50
    assert len(whole["faults"]) == FAULTS_SHOWN
    assert whole["incidents"] == whole["detections"] == []


def test_every_job_has_its_own_memory() -> None:
    """Two jobs in one file do not know of each other; their cluster knows that they share a node."""
    whole = summary(replay(line(), [event("a", 0, code=79), event("b", 0, code=79), event("a", 1, code=79)]))
    assert whole["repeated"] == 0
    assert sorted(one["job"] for one in whole["incidents"]) == ["a", "b", "default"]


def test_a_tick_is_for_every_job() -> None:
    """Time passes for all jobs of a file and for their cluster, and for none that is not there yet."""
    lines = [encode(Tick(time=START)), event("a", 0, code=79), event("b", 0, code=79)]
    ticks = [encode(Tick(time=START + 5.0 * number)) for number in range(10)]
    outcome = replay(line(), [*lines, *ticks])
    opened = {sent.key for sent in outcome.said if sent.topic == "drafts"}
    assert opened == {"a", "b", "default"}
    assert sorted(outcome.memories) == ["a", "b", "default"]


def test_the_last_revision_counts() -> None:
    """The object of the contract has each detection and each incident once, as it was in the end."""
    job = Job()
    records = (job.started(), *job.run(60), *job.run(60, waiting=0.6), *job.run(60))
    whole = summary(replay(line(), [encode(record) for record in records]))
    ids = [one["id"] for one in whole["detections"]]
    assert len(ids) == len(set(ids)) > 0
    [incident] = whole["incidents"]
    assert incident["state"] == "resolved"
    assert set(incident["detections"]) <= set(ids)


@pytest.mark.parametrize("packed", [False, True])
def test_files(packed: bool, tmp_path: Path) -> None:
    """Compressed or not, a file is read line by line."""
    raw = event("a", 0) + b"\n" + event("a", 1) + b"\n"
    path = tmp_path / ("story.jsonl.gz" if packed else "story.jsonl")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    assert b"".join(lines_of(str(path))) == raw
    assert replay(line(), lines_of(str(path))).records == 2
