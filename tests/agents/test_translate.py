"""What lines of ranks become, and what samples of the node say."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from schemas.codec import decode, encode
from schemas.signals import signal_named
from schemas.telemetry import Event, SampleFrame
from streams.agents.assemble import Assembler
from streams.agents.finding import Sample, Source
from streams.agents.host import Host, disk_readings, processor_readings
from streams.agents.kernel_counters import Disk, Processor
from streams.agents.rank_file import Line
from streams.agents.rank_file import Source as Rank
from streams.agents.sampling import Gap, Sampling
from streams.agents.stamp import Stamp
from streams.agents.tail import Mark, Read
from streams.agents.trainer import Hook
from streams.agents.translate import Translator

SOURCE = Rank("j", 2, 5)


def translator() -> Translator:
    """Make one with its own assembler."""
    return Translator(Stamp("n01", "default", 1.0, 2), Assembler(0.5))


def take(line: Line, missed: int = 0, source: Rank = SOURCE) -> list[Event | SampleFrame]:
    """Translate one line."""
    return translator().take(Read(source, line, Mark(1, 0), missed, 50.0), 0.0)


def test_an_event_names_its_rank_unless_it_says_otherwise() -> None:
    """The rank that wrote an event is in its data; a rank that is there already stays."""
    (event,) = take(Line(n=0, t=9.0, e="storage.error", u="/data", d={"code": 503}, x="slow"))
    assert isinstance(event, Event)
    assert (event.job, event.attempt, event.time, event.subject, event.text) == ("j", 2, 9.0, "/data", "slow")
    assert event.data == {"rank": 5, "code": 503}
    (event,) = take(Line(n=0, t=9.0, e="rank.error", d={"rank": 3}))
    assert isinstance(event, Event)
    assert event.data["rank"] == 3


def test_a_sample_of_the_trainer_is_a_sample_frame() -> None:
    """What a trainer says of its mount becomes a frame of that mount; an absent reading stays absent."""
    (frame,) = take(Line(n=0, t=9.0, of="mount", id="/data", v={"storage_retries_total": 3.0, "cache_hit_ratio": None}))
    assert isinstance(frame, SampleFrame)
    assert (frame.of, frame.ids) == ("mount", ["/data"])
    assert frame.values == {"storage_retries_total": [3.0], "cache_hit_ratio": [None]}
    assert decode(encode(frame)) == frame


def test_missed_lines_are_a_gap() -> None:
    """Lines that nobody will read are told, with the time they fall into and the reason."""
    gap, _ = take(Line(n=9, t=60.0, e="log.line", lost=4), missed=4)
    assert isinstance(gap, Event)
    assert gap.event == "source.gap"
    assert gap.data == {
        "source": "rank 5",
        "from": 50.0,
        "to": 60.0,
        "records": 4,
        "reason": "the hook could not write",
    }


def test_ranks_that_answer_alike_are_one_acknowledgement() -> None:
    """Eight ranks that applied a request at the same step say it once; one that failed is heard besides."""
    ours = translator()
    events: list[Event | SampleFrame] = []
    for rank in range(8):
        error = "OSError()" if rank == 6 else ""
        line = Line(n=0, t=9.0, ack="r1", setting="loader.path", s=12, error=error)
        events += ours.take(Read(Rank("j", 2, rank), line, Mark(1, 0)), 0.0)
    good, bad = events
    assert isinstance(good, Event)
    assert isinstance(bad, Event)
    assert (good.event, good.subject) == ("control.acknowledged", "r1")
    assert good.data == {"request": "r1", "step": 12, "setting": "loader.path", "rank": 0}
    assert bad.data["error"] == "OSError()"


@pytest.mark.parametrize("line", [Line(n=0, t=1.0, of="planet", id="x"), Line(n=0, t=1.0), Line(n=0, s=-4)])
def test_a_line_that_says_nothing_we_know_is_counted(line: Line) -> None:
    """A line without a meaning becomes no record."""
    ours = translator()
    assert ours.take(Read(SOURCE, line, Mark(1, 0)), 0.0) == []
    assert ours.unusable == 1


def test_every_record_has_a_number_of_its_own() -> None:
    """Numbers count up from 0 within a start of the agent, and another start has another id."""
    stamp = Stamp("n01", "c", 1.0, 2)
    first = stamp.event("j", 1, 1.0, "log.line", {})
    second = stamp.samples("j", 1, 1.0, Sample(of="node", values={"load": [1.0]}))
    assert (first.seq, second.seq) == (0, 1)
    assert first.boot == second.boot != Stamp("n01", "c", 1.5, 2).boot
    assert (first.node, first.cluster, second.ids) == ("n01", "c", ["n01"])


def test_the_host_gives_known_signals_in_range() -> None:
    """The host's readings are signals of the table, shares within 0 and 1, and make a valid frame."""
    host = Host(lambda: {0})
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        sum(range(1000))
    (sample,) = host()
    assert {"cpu_util", "load", "memory_available_bytes", "cpus", "allowed_cpus", "allowed_cpu_util"} <= set(
        sample.values
    )
    for name, (value,) in sample.values.items():
        assert signal_named(name).part != "unknown", name
        assert value is not None
        assert value >= 0
        if signal_named(name).unit == "share":
            assert value <= 1, name
    assert sample.values["allowed_cpus"] == [1.0]
    frame = Stamp("n01", "c", 1.0, 2).samples("j", 1, 1.0, sample)
    assert decode(encode(frame)) == frame


def test_a_node_that_lacks_something_has_no_reading_of_it() -> None:
    """Without disks, or where no time has passed, there is no reading, and never a zero in its place."""
    assert disk_readings({}, {}, 1.0) == {}
    assert disk_readings({"a": Disk(0, 0, 0, 0)}, {"a": Disk(1, 1, 1, 1)}, 0.0) == {}
    idle = disk_readings({"a": Disk(0, 0, 3, 1)}, {"a": Disk(0, 0, 3, 1)}, 1.0)
    assert idle["disk_latency_seconds"] is None
    still = processor_readings([Processor(1, 1, 5)], [Processor(1, 1, 5)], ())
    assert still["cpu_util"] is None
    assert "allowed_cpus" not in still
    more = processor_readings([Processor(1, 1, 5)], [Processor(1, 1, 5), Processor(0, 0, 1)], {7})
    assert "cpu_util" not in more


def test_a_source_that_hangs_stops_no_other() -> None:
    """A source that does not answer in time is a gap; it is not asked again before it has answered."""
    release, calls = threading.Event(), []

    def stuck() -> list[Sample]:
        calls.append(1)
        release.wait(20)
        return [Sample(of="gpu", ids=["g"])]

    def broken() -> list[Sample]:
        raise OSError("no driver")

    async def story() -> None:
        sources: dict[str, Source] = {"stuck": stuck, "broken": broken, "good": lambda: [Sample(of="node")]}
        sampling = Sampling(sources, patience=1.0)  # a busy machine has the others answered by then
        for _ in range(3):
            samples, gaps = await sampling.take()
            assert [sample.of for sample in samples if isinstance(sample, Sample)] == ["node"]
            assert set(gaps) == {Gap("stuck", "no answer"), Gap("broken", "no driver")}
        assert calls == [1]
        release.set()
        end = time.monotonic() + 10
        while Sample(of="gpu", ids=["g"]) not in (await sampling.take())[0]:
            assert time.monotonic() < end

    asyncio.run(story())


def test_a_hook_says_which_processors_it_may_use(tmp_path: Path) -> None:
    """The first line of a rank's file has the processors of its process."""
    hook = Hook(str(tmp_path), "j")
    with hook.step(0):
        pass
    hook.flush()
    raw = (tmp_path / "j" / "attempt-1" / "rank-0000.jsonl").read_bytes().splitlines()[0]
    assert b'"cpus":[0' in raw
