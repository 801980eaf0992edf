"""The real demo as a whole: a store that becomes slow, a training that waits for it, and the agent beside."""

import asyncio
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from msgspec import Struct

from schemas.action import Control, Setting
from schemas.telemetry import SampleFrame, StepFrame
from streams.agents.delivery import Limits
from streams.agents.http_link import HttpLink
from streams.agents.node import NodeAgent, Rhythm
from streams.demo_real.dataset import Dataset, copy_dataset, make_dataset
from tests.agents.recording import RecordingServer, run, until


@asynccontextmanager
async def process(module: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a module of ours in a process of its own, and end it in the end."""
    started = await asyncio.create_subprocess_exec(sys.executable, "-m", module, *arguments)
    try:
        yield started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(started.wait(), 20) == 0


@asynccontextmanager
async def real_training(tmp_path: Path) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """Run the store and a small training; give the store's address and the training's process."""
    make_dataset(tmp_path / "origin", Dataset(shards=8, rows=512, features=63))
    copy_dataset(tmp_path / "origin", tmp_path / "cache")
    announce = tmp_path / "address"
    store = process("streams.demo_real.object_store", "--root", str(tmp_path / "origin"), "--announce", str(announce))
    async with store:
        await until(announce.exists, "the store's address")
        url = announce.read_text()
        places = ["--data", url, "--cache", str(tmp_path / "cache"), "--hook", str(tmp_path / "hooks")]
        sizes = ["--every", "50", "--batch-rows", "128", "--hidden", "512", "--checkpoints", str(tmp_path / "saves")]
        async with process("streams.demo_real.training", *places, *sizes, "--job", "demo") as training:
            yield url, training


def share(frames: list[StepFrame]) -> float:
    """Give the share of the step time spent waiting for batches."""

    def total(name: str) -> float:
        return sum(frame.values.get(name, [0.0])[0] or 0.0 for frame in frames)

    return total("loader_seconds") / total("step_seconds")


async def later_frames(server: RecordingServer, count: int, what: str) -> list[StepFrame]:
    """Wait for so many further steps and give them."""
    last = max((frame.step for frame in server.frames), default=-1)

    def further() -> list[StepFrame]:
        return [frame for frame in server.frames if frame.step > last]

    await until(lambda: len(further()) >= count, what, seconds=40.0)
    return further()


def mounts(server: RecordingServer) -> list[SampleFrame]:
    """Give what the trainer said of its storage."""
    return [each for each in server.records if isinstance(each, SampleFrame) and each.of == "mount"]


class Shares(Struct, frozen=True):
    """The loader's share of the step time in three stretches of a run."""

    healthy: float
    slow: float
    helped: float


async def throttle_and_help(server: RecordingServer, store_url: str) -> Shares:
    """Let the training run, make the store slow, and tell the trainer to read its copy and to save at once."""
    await later_frames(server, 50, "the first steps")
    healthy = share(await later_frames(server, 150, "healthy steps"))
    await until(lambda: mounts(server), "what the trainer says of its storage")
    await asyncio.to_thread(throttle, store_url, b'{"bytes_per_second": 500000, "error_share": 0.2}')
    await later_frames(server, 12, "what was read ahead")
    slow = share(await later_frames(server, 20, "slow steps"))
    await until(lambda: (mounts(server)[-1].values["storage_retries_total"][0] or 0) > 0, "a retry")
    settings = {
        "loader.path": Setting(value="cache", request="r1"),
        "checkpoint.now": Setting(value=True, request="r2"),
        "checkpoint.mode": Setting(value="async", request="r3"),
    }
    server.controls["demo"] = Control(job="demo", attempt=1, version=1, settings=settings)
    await until(lambda: len(server.events_named("control.acknowledged")) == 3, "the acknowledgements")
    await later_frames(server, 20, "what was read ahead")
    helped = share(await later_frames(server, 100, "steps from the copy"))
    await until(lambda: mounts(server)[-1].values["cache_hit_ratio"] == [1.0], "reads from the copy alone")
    return Shares(healthy, slow, helped)


def throttle(url: str, body: bytes) -> None:
    """Tell a store how slow to be."""
    with urllib.request.urlopen(urllib.request.Request(f"{url}/control", data=body), timeout=10) as answer:
        assert answer.status == 200


def test_a_slow_store_is_seen_and_a_control_file_helps(tmp_path: Path) -> None:
    """The loader's share rises when the store is throttled and falls when the trainer is told to use its copy."""

    async def story() -> None:
        rhythm = Rhythm(poll_every=0.02, control_every=0.05, sample_every=0.2)
        async with RecordingServer() as server, real_training(tmp_path) as (url, training):
            folders = tmp_path / "hooks", "n01", HttpLink(server.url), tmp_path / "spool"
            agent = NodeAgent(*folders, rhythm=rhythm, limits=Limits(every=0.02))
            serving = asyncio.create_task(agent.run())
            shares = await throttle_and_help(server, url)
            training.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(training.wait(), 20) == 0
            await until(lambda: server.events_named("attempt.ended"), "the end")
            agent.stop()
            await serving
            assert shares.slow > 0.5
            assert max(shares.healthy, shares.helped) < shares.slow - 0.2, shares
            check_records(server)

    run(story)


def check_records(server: RecordingServer) -> None:
    """Check what a whole run left behind: steps, saves, acknowledgements, storage and host samples."""
    steps = sorted(frame.step for frame in server.frames)
    assert steps == list(range(len(steps)))
    assert all(frame.ranks == [0] and frame.job_values["tokens"] == 128 for frame in server.frames)
    losses = [loss for frame in sorted(server.frames, key=lambda each: each.step) if (loss := frame.job_values["loss"])]
    assert median(losses[-20:]) < median(losses[:20])
    (answer,) = (each for each in server.events_named("control.acknowledged") if each.subject == "r2")
    saves = {event.data["step"]: event for event in server.events_named("checkpoint.end")}
    assert answer.data["step"] in saves
    assert saves[answer.data["step"]].data["mode"] == "async"
    assert set(range(50, steps[-1], 50)) <= saves.keys()
    assert saves[50].data["mode"] == "sync"
    assert all(event.data["bytes"] > 10_000 for event in saves.values())
    storage = mounts(server)
    assert {each.ids[0] for each in storage} == {"/data"}
    retries = [each.values["storage_retries_total"][0] for each in storage]
    assert retries[0] == 0
    assert (retries[-1] or 0) > 0
    assert any(isinstance(each, SampleFrame) and each.of == "node" and each.job == "demo" for each in server.records)
    (started,) = server.events_named("attempt.started")
    assert started.data["config"]["hidden"] == 512
    (ended,) = server.events_named("attempt.ended")
    assert ended.data["reason"] == "stopped"
