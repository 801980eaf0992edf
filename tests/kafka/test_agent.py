"""The node agent over Kafka: frames there, control documents back, and an outage longer than every time-out."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.action import Control, Setting
from schemas.codec import decode, encode, split
from schemas.telemetry import Event, SampleFrame, StepFrame, Tick
from streams.agents.control_file import control_path
from streams.agents.delivery import Limits
from streams.agents.link import Away, Refused
from streams.agents.node import NodeAgent, Rhythm
from streams.agents.trainer import Hook
from streams.kafka.kafka_link import KafkaLink
from streams.kafka.log_producer import MESSAGE_BYTES, LogProducer, log_producer
from streams.kafka.message import Letter
from streams.kafka.placing import partition_of
from streams.kafka.topic_admin import apply
from streams.settings import KafkaSettings
from tests.agents.rank_lines import flush_all
from tests.agents.recording import run
from tests.agents.recording import until as becomes
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation
from tests.services.kafka import KafkaBroker
from tests.services.processes import free_port
from tests.waiting import until

pytestmark = pytest.mark.service
PARTITIONS = 2
SECONDS = 60.0
DELIVER = 2.0
"""The producer's time-out, seconds."""
RHYTHM = Rhythm(poll_every=0.01, linger=0.2, sample_every=0.2, control_every=0.05, save_every=0.02)
LIMITS = Limits(every=0.01, first_pause=0.02, longest_pause=0.2, farewell=5.0)
Telemetry = StepFrame | SampleFrame | Event


def hooks(folder: Path, ranks: int, job: str) -> list[Hook]:
    """Make the hooks of a node's ranks."""
    return [Hook(str(folder / "hooks"), job, rank, 1, world_size=ranks, write_seconds=0.01) for rank in range(ranks)]


def train(ranks: list[Hook], *steps: int) -> None:
    """Run steps of all ranks; rank 0 speaks for the job."""
    for step in steps:
        for hook in ranks:
            with hook.step(step) as s:
                with s.loading():
                    pass
                if hook.rank == 0:
                    s.log(loss=2.5, tokens=1024)


def arrived(installation: Installation) -> list[Telemetry]:
    """Everything on the topic telemetry, where it belongs; a repetition by node, start and number counts once."""
    seen: dict[tuple[str, str, int], Telemetry] = {}
    for key, body in installation.said("telemetry"):
        for raw in split(body):
            record = decode(raw)
            assert not isinstance(record, Tick)
            assert record.job == key
            seen.setdefault((record.node, record.boot, record.seq), record)
    return list(seen.values())


def steps(installation: Installation) -> set[int]:
    """The steps that have arrived."""
    return {record.step for record in arrived(installation) if isinstance(record, StepFrame)}


def events(installation: Installation, name: str) -> list[Event]:
    """The events of one kind that have arrived."""
    return [one for one in arrived(installation) if isinstance(one, Event) and one.event == name]


@contextlib.contextmanager
def publishing(installation: Installation) -> Iterator[LogProducer]:
    """Something that publishes control documents."""
    producer = log_producer(installation.settings, "test")
    yield producer
    producer.close()


def wished(job: str, version: int, value: str) -> Letter:
    """A control document."""
    settings = {"loader.path": Setting(value=value, request=f"r{version}")}
    return Letter("control", job, encode(Control(job=job, attempt=1, version=version, settings=settings)))


@contextlib.contextmanager
def agent_process(installation: Installation, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `trainmaster agent --kafka`; it ends by the signal of a person."""
    words = ["agent", "--kafka", "--dir", str(folder / "hooks"), "--node", "n01", "--spool", str(folder / "spool")]
    with (folder / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streams", *words, "--every", "0.5"],
            env={**os.environ, **installation.environment},
            stderr=log,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30.0)


def test_frames_go_there_and_control_documents_come_back(new_installation: NewInstallation, tmp_path: Path) -> None:
    """The command: steps of four ranks arrive as frames, a document becomes the control file and is acknowledged."""
    installation = new_installation(PARTITIONS)
    job, ranks = "team/wm", hooks(tmp_path, 4, "team/wm")
    with agent_process(installation, tmp_path), publishing(installation) as producer:
        producer.deliver([wished("another", 1, "cache")])
        ranks[0].start({"lr": 1})
        train(ranks, *range(20))
        until(lambda: steps(installation) == set(range(20)), SECONDS, "not all steps arrived")
        producer.deliver([wished(job, 1, "local"), wished(job, 2, "cache")])
        until(control_path(tmp_path / "hooks", job).exists, SECONDS, "no control file was written")
        until(lambda: b'"version":2' in control_path(tmp_path / "hooks", job).read_bytes(), SECONDS, "an old document")
        flush_all()  # the hooks look when their threads get round to it
        train(ranks, 20)
        assert [hook.setting("loader.path") for hook in ranks] == ["cache"] * 4
        until(lambda: events(installation, "control.acknowledged"), SECONDS, "nothing was acknowledged")
        train(ranks, 21)
        until(lambda: 21 in steps(installation), SECONDS, "the next step did not arrive")
    assert not control_path(tmp_path / "hooks", "another").exists()
    records = arrived(installation)
    frames = [one for one in records if isinstance(one, StepFrame)]
    assert all(frame.ranks == [0, 1, 2, 3] for frame in frames if frame.step > 0)
    assert frames[-1].job_values["loss"] == 2.5
    assert {one.of for one in records if isinstance(one, SampleFrame)} >= {"node"}
    assert {one.node for one in records} == {"n01"}
    (started,) = events(installation, "attempt.started")
    assert started.data["world_size"] == 4
    answers = events(installation, "control.acknowledged")
    told = [(one.subject, one.data["step"], one.data["setting"]) for one in answers]
    assert told[-1] == ("r2", 20, "loader.path")
    assert told in ([told[-1]], [("r1", 20, "loader.path"), told[-1]])  # whether the older document was seen in between
    there = installation.ends()
    assert there[partition_of(job, PARTITIONS)] > 0


def test_a_broker_that_is_away_past_every_time_out(own_kafka: KafkaBroker, redis_url: str, tmp_path: Path) -> None:
    """Steps go to the spool meanwhile, and all of them arrive; documents come again too, without a restart."""
    installation = Installation("outage", own_kafka.bootstrap, redis_url, tmp_path / "installation", PARTITIONS)
    settings = installation.settings.model_copy(update={"deliver": DELIVER})
    spool = tmp_path / "spool"

    async def story() -> None:
        link = KafkaLink(settings, "agent")
        agent = NodeAgent(tmp_path / "hooks", "n01", link, spool, rhythm=RHYTHM, limits=LIMITS)
        task = asyncio.create_task(agent.run())
        ranks = hooks(tmp_path, 2, "wm")
        train(ranks, *range(30))
        await asyncio.to_thread(until, lambda: steps(installation) == set(range(30)), SECONDS, "the first steps")
        await asyncio.to_thread(own_kafka.process.stop)
        begin = time.monotonic()
        train(ranks, *range(30, 60))
        await becomes(lambda: list(spool.glob("*.steps")), "the spool holds them", SECONDS)
        await becomes(lambda: time.monotonic() - begin > 3 * DELIVER, "every time-out has passed", SECONDS)
        train(ranks, *range(60, 90))
        await asyncio.to_thread(own_kafka.start)
        train(ranks, *range(90, 100))
        await asyncio.to_thread(until, lambda: steps(installation) == set(range(100)), SECONDS, "all steps")
        await becomes(lambda: not list(spool.glob("*.steps")), "the spool is empty", SECONDS)
        with publishing(installation) as producer:
            await asyncio.to_thread(producer.deliver, [wished("wm", 1, "cache")])
        await becomes(control_path(tmp_path / "hooks", "wm").exists, "the control file", SECONDS)
        agent.stop()
        await task

    run(story)
    assert events(installation, "agent.dropped") == []
    assert events(installation, "source.gap") == []
    installation.close()


def test_a_missing_topic_is_told_and_found_when_it_is_made(kafka_bootstrap: str, tmp_path: Path) -> None:
    """An agent that comes before the topics says which one is missing, and goes on by itself when it is there."""
    settings = KafkaSettings(bootstrap=kafka_bootstrap, prefix=f"early-{tmp_path.name}.", partitions=1)

    async def story() -> None:
        async with KafkaLink(settings, "agent") as link:
            assert await says(link, f"the topic {settings.prefix}control is missing; run `trainmaster topics apply`")
            await asyncio.to_thread(apply, settings)
            producer = log_producer(settings, "test")
            await asyncio.to_thread(producer.deliver, [Letter("control", "wm", b"a document")])
            producer.close()
            found: list[bytes] = []
            deadline = time.monotonic() + SECONDS
            while not found and time.monotonic() < deadline:
                with contextlib.suppress(OSError):
                    found += [document] if (document := await link.control("wm")) is not None else []
                await asyncio.sleep(0.05)
            assert found == [b"a document"]
            assert await link.control("wm") is None

    run(story)


async def says(link: KafkaLink, words: str) -> bool:
    """Wait until asking for a document fails with these words."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            await link.control("wm")
        except OSError as fault:
            return words in str(fault)
        await asyncio.sleep(0.05)
    return False


def test_a_link_without_a_broker_is_away_and_never_refuses() -> None:
    """Nobody listens: records are to be kept, and only one that is larger than any message is given up."""

    async def story() -> None:
        async with KafkaLink(KafkaSettings(bootstrap=f"127.0.0.1:{free_port()}", deliver=1.0), "agent") as link:
            with pytest.raises(Away):
                await link.deliver("wm", [b"{}"])
            with pytest.raises(Refused):
                await link.deliver("wm", [b"x" * (MESSAGE_BYTES + 1)])

            assert await says(link, "no control documents")

    run(story)
