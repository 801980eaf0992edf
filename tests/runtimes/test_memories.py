"""Memories of keys: those of jobs that are long over are not carried along for ever."""

import math

import pytest

from schemas.telemetry import Event, Inbound, Reading, StepFrame, Tick
from streams.install import build_line
from streams.line import Line
from streams.runtimes.memories import MARK, OVER, Memories
from streams.settings import load_settings

DAY = 86400.0
NOW = 1_740_960_000.0


@pytest.fixture
def line(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Line:
    """The line as it ships, which opens incidents at once."""
    monkeypatch.chdir(tmp_path_factory.mktemp("nowhere"))
    return build_line(load_settings(None, {"hold": 0.0}))


class Log:
    """A log of one partition: records with growing offsets."""

    def __init__(self, memories: Memories) -> None:
        self.memories, self.offset, self.time = memories, -1, NOW

    def put(self, record: Inbound) -> list[str]:
        """Add a record; give the streams it led to."""
        self.offset += 1
        return [one.topic for one in self.memories.feed(self.offset, record)]

    def live(self) -> None:
        """Let a job live its short life."""
        self.put(start())
        for step in range(5):
            self.put(frame(step))
        self.put(end())

    def wait(self, days: float) -> None:
        """Let time pass, an hour at a time."""
        for _ in range(int(days * 24)):
            self.time += 3600.0
            self.put(Tick(time=self.time, every=3600.0))


def start(job: str = "j") -> Event:
    """A job of one rank starts."""
    data = {"world_size": 1, "placement": [{"rank": 0, "node": "n1", "gpu": "GPU-0"}]}
    return Event(job=job, attempt=1, node="n1", boot="b", seq=0, time=NOW, event="attempt.started", data=data)


def end(job: str = "j") -> Event:
    """It ends well."""
    data = {"outcome": "finished"}
    return Event(job=job, attempt=1, node="n1", boot="b", seq=99, time=NOW + 99, event="attempt.ended", data=data)


def frame(step: int, loss: Reading = 2.0, job: str = "j") -> StepFrame:
    """One step."""
    values: dict[str, list[Reading]] = {"step_seconds": [1.0]}
    leading: dict[str, Reading] = {"loss": loss, "tokens": 1000.0}
    return StepFrame(
        job=job,
        attempt=1,
        node="n1",
        boot="b",
        seq=step + 1,
        time=NOW + step,
        step=step,
        ranks=[0],
        values=values,
        job_values=leading,
    )


def test_a_job_that_is_long_over_is_forgotten(line: Line) -> None:
    """A week after its last record a job has no memory, and its snapshot says so; another one keeps its own."""
    memories = Memories(line)
    log = Log(memories)
    log.live()
    log.wait(6.5)
    assert set(memories.keys) == {"j"}
    log.put(start("k"))
    log.wait(1)
    assert set(memories.keys) == {"k"}
    saved = {one.key: one.data for one in memories.snapshots(log.offset, log.time)}
    assert saved["j"] == OVER
    assert set(saved) == {"j", "k", MARK}
    assert {one.key for one in memories.snapshots(log.offset, log.time)} == {MARK}


def test_a_forgotten_job_begins_anew(line: Line) -> None:
    """What was saved of a forgotten job is nothing; when it comes back it is heard like any other."""
    memories = Memories(line)
    log = Log(memories)
    log.live()
    saved = memories.snapshots(log.offset, log.time)
    log.wait(8)
    saved = [*(one for one in saved if one.key != "j"), *memories.snapshots(log.offset, log.time)]
    log.memories = again = Memories(line, saved)
    assert not again.keys
    assert not again.lost
    assert "vitals" in [topic for step in range(6, 30) for topic in log.put(frame(step))]
    (kept,) = (one for one in again.snapshots(log.offset, log.time) if one.key == "j")
    assert kept.data != OVER


def test_an_open_incident_keeps_its_job(line: Line) -> None:
    """A job whose incident nobody has closed is not forgotten, however long it is silent."""
    memories = Memories(line)
    log = Log(memories)
    log.put(start())
    told = [topic for step in range(20) for topic in log.put(frame(step, loss=math.nan))]
    assert "incidents" in told
    log.wait(10)
    assert set(memories.keys) == {"j"}
