"""The node agent against a real server: frames, events, samples, control files, outages and its own death."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from schemas.action import Control, Setting
from schemas.telemetry import SampleFrame
from streams.agents.control_file import control_path
from streams.agents.delivery import Limits
from streams.agents.finding import Sample, Source
from streams.agents.http_link import HttpLink
from streams.agents.node import NodeAgent, Rhythm
from streams.agents.ranks import Ranks
from streams.agents.stamp import Stamp
from streams.agents.trainer import Hook
from tests.agents.recording import RecordingServer, delivering, run, until

RHYTHM = Rhythm(poll_every=0.01, linger=0.2, sample_every=0.05, control_every=0.05, save_every=0.02)
LIMITS = Limits(every=0.01, first_pause=0.02, longest_pause=0.1, farewell=1.0)


@asynccontextmanager
async def serving(
    tmp_path: Path, url: str, node: str = "n01", token: str | None = None, **sources: Source
) -> AsyncIterator[NodeAgent]:
    """Run an agent, and let it end in peace."""
    directory, spool = tmp_path / "hooks", tmp_path / "spool"
    agent = NodeAgent(directory, node, HttpLink(url, token, 2.0), spool, rhythm=RHYTHM, limits=LIMITS, sources=sources)
    task = asyncio.create_task(agent.run())
    try:
        yield agent
    finally:
        agent.stop()
        await task


def hooks(tmp_path: Path, ranks: int, job: str = "wm-64", attempt: int = 1) -> list[Hook]:
    """Make the hooks of a node's ranks."""
    folder = str(tmp_path / "hooks")
    return [Hook(folder, job, rank, attempt, world_size=ranks, write_seconds=0.01) for rank in range(ranks)]


def train(hook: Hook, step: int) -> None:
    """Run one step of one rank; rank 0 speaks for the job."""
    with hook.step(step) as s:
        with s.loading():
            pass
        if hook.rank == 0:
            s.log(loss=float("nan") if step == 3 else 2.5, tokens=1024)


def test_the_ranks_of_a_node_make_one_frame_a_step(tmp_path: Path) -> None:
    """Every step of eight ranks arrives as one frame with all ranks, and what is not finite stays so."""

    async def story() -> None:
        async with RecordingServer(token="t") as server, serving(tmp_path, server.url, token="t"):
            ranks = hooks(tmp_path, 8)
            for hook in ranks:
                hook.start({"lr": 1})
                train(hook, 0)
            await until(lambda: len(server.frames) >= 1, "the ranks are known")
            for step in range(1, 50):
                for hook in ranks:
                    train(hook, step)
            await until(lambda: {frame.step for frame in server.frames} == set(range(50)), "all steps")
            for frame in server.frames[1:]:
                assert frame.ranks == list(range(8))
                assert set(frame.values) == {"step_seconds", "loader_seconds"}
            nan = next(frame.job_values["loss"] for frame in server.frames if frame.step == 3)
            assert nan != nan
            (started,) = server.events_named("attempt.started")
            assert started.data["world_size"] == 8
            assert {record.node for record in server.records} == {"n01"}
            assert sorted(record.seq for record in server.records) == list(range(len(server.records)))

    run(story)


def test_a_rank_whose_file_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The other ranks' steps arrive, what cannot be read is told once, and it is read when it can be."""

    async def story() -> None:
        async with RecordingServer() as server, serving(tmp_path, server.url):
            first, second = hooks(tmp_path, 2)
            train(first, 0)
            await until(lambda: server.frames, "the first rank")
            failing = tmp_path / "hooks" / "wm-64" / "attempt-1" / "rank-0001.jsonl"
            failing.symlink_to("/proc/self/mem")  # opens, and gives an I/O error where it is read
            train(first, 1)
            await until(lambda: any(frame.step == 1 for frame in server.frames), "the steps of the first rank")
            await until(lambda: server.events_named("source.gap"), "the gap")
            failing.unlink()
            train(second, 1)
            await until(lambda: any(1 in frame.ranks for frame in server.frames), "the second rank")
            (gap,) = server.events_named("source.gap")
            assert (gap.subject, gap.data["reason"]) == (str(failing), "Input/output error")

    run(story)


def test_a_late_rank_comes_alone(tmp_path: Path) -> None:
    """A rank that is later than the linger is in a second frame of the same step."""

    async def story() -> None:
        async with RecordingServer() as server, serving(tmp_path, server.url):
            first, second = hooks(tmp_path, 2)
            train(first, 0)
            train(second, 0)
            train(first, 1)
            await until(lambda: any(frame.step == 1 for frame in server.frames), "the frame without the late rank")
            train(second, 1)
            await until(lambda: len([frame for frame in server.frames if frame.step == 1]) == 2, "the late rank")
            assert [frame.ranks for frame in server.frames if frame.step == 1] == [[0], [1]]

    run(story)


def test_the_node_is_sampled_for_its_jobs(tmp_path: Path) -> None:
    """Samples carry the running job; on an idle node the cluster's name, as after the attempt's end."""

    async def story() -> None:
        extra = [Sample(of="gpu", ids=["GPU-1"], ranks=[0], values={"sm_clock_mhz": [1755.0]})]
        async with RecordingServer() as server, serving(tmp_path, server.url, gpu=lambda: extra):

            def samples(job: str, attempt: int, of: str) -> list[SampleFrame]:
                found = (record for record in server.records if isinstance(record, SampleFrame))
                return [each for each in found if (each.job, each.attempt, each.of) == (job, attempt, of)]

            def of_host(job: str, attempt: int) -> list[SampleFrame]:
                """Other sources speak of the node as well."""
                return [each for each in samples(job, attempt, "node") if "allowed_cpus" in each.values]

            await until(lambda: samples("default", 0, "node"), "an idle node")
            (hook,) = hooks(tmp_path, 1, attempt=3)
            train(hook, 0)
            await until(lambda: of_host("wm-64", 3) and samples("wm-64", 3, "gpu"), "a busy node")
            sample = of_host("wm-64", 3)[-1]
            assert sample.ids == ["n01"]
            assert sample.values["allowed_cpus"] == [float(len(os.sched_getaffinity(0)))]
            hook.end()
            await until(lambda: server.events_named("attempt.ended"), "the end")
            before = len(samples("default", 0, "node"))
            await until(lambda: len(samples("default", 0, "node")) > before, "an idle node again")

    run(story)


def test_a_control_document_reaches_the_trainer_and_is_answered(tmp_path: Path) -> None:
    """A document of the server becomes the control file, the ranks apply it, and one acknowledgement comes back."""

    async def story() -> None:
        async with RecordingServer() as server, serving(tmp_path, server.url):
            ranks = hooks(tmp_path, 4, job="team/wm")
            for hook in ranks:
                train(hook, 0)
            await until(lambda: server.asked.get(204), "the agent asks")
            settings = {"loader.path": Setting(value="cache", request="r1")}
            server.controls["team/wm"] = Control(job="team/wm", attempt=1, version=1, settings=settings)
            await until(lambda: control_path(tmp_path / "hooks", "team/wm").exists(), "the control file")
            await until(lambda: server.asked.get(304, 0) > 2, "the agent asks without being told again")
            assert server.asked[200] == 1
            for hook in ranks:
                hook.flush()
                train(hook, 1)
                assert hook.setting("loader.path") == "cache"
            await until(lambda: server.events_named("control.acknowledged"), "the acknowledgement")
            for hook in ranks:
                train(hook, 2)
            await until(lambda: any(frame.step == 2 for frame in server.frames), "the next step")
            (answer,) = server.events_named("control.acknowledged")
            assert (answer.subject, answer.data["step"], answer.data["setting"]) == ("r1", 1, "loader.path")

    run(story)


def test_an_outage_and_a_restart_lose_no_line(tmp_path: Path) -> None:
    """Steps written while the server is away, and while the agent is, all arrive; no step is torn apart twice."""

    async def story() -> None:
        async with RecordingServer() as server:
            port = server.port
        (hook,) = hooks(tmp_path, 1)
        async with serving(tmp_path, f"http://127.0.0.1:{port}"):
            for step in range(100):
                train(hook, step)
            await until(lambda: list((tmp_path / "spool").glob("*.steps")), "the spool holds them")
        for step in range(100, 200):
            train(hook, step)
        async with RecordingServer(port=port) as again:
            async with serving(tmp_path, again.url):
                for step in range(200, 300):
                    train(hook, step)
                await until(lambda: {frame.step for frame in again.frames} == set(range(300)), "all steps")
            assert len(again.frames) == 300
            assert not again.events_named("source.gap")
            assert not again.events_named("agent.dropped")

    run(story)


AGENT = """
import asyncio, signal, sys
from pathlib import Path
from streams.agents.http_link import HttpLink
from streams.agents.node import NodeAgent, Rhythm
folder = Path(sys.argv[1])
async def main():
    link, rhythm = HttpLink(sys.argv[2]), Rhythm(sample_every=0.2)
    agent = NodeAgent(folder / "hooks", "n01", link, folder / "spool", rhythm=rhythm)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, agent.stop)
    await agent.run()
asyncio.run(main())
"""


def test_a_killed_agent_loses_no_line(tmp_path: Path) -> None:
    """After a SIGKILL the next agent sends every line that had not arrived; a step that comes twice is the same."""

    async def story() -> None:
        async with RecordingServer() as server:
            (hook,) = hooks(tmp_path, 1)

            def arrived(step: int) -> bool:
                return any(frame.step >= step for frame in server.frames)

            for life, end in enumerate((signal.SIGKILL, signal.SIGKILL, signal.SIGINT)):
                agent = await asyncio.create_subprocess_exec(
                    sys.executable, "-c", AGENT, str(tmp_path), server.url, stderr=asyncio.subprocess.DEVNULL
                )
                for step in range(life * 60, life * 60 + 30):
                    train(hook, step)
                await until(partial(arrived, life * 60 + 5), "this life sends")
                for step in range(life * 60 + 30, life * 60 + 60):
                    train(hook, step)
                agent.send_signal(end)
                await agent.wait()
            async with serving(tmp_path, server.url):
                await until(lambda: {frame.step for frame in server.frames} == set(range(180)), "all steps")
            for number in range(180):
                values = {str(frame.values) for frame in server.frames if frame.step == number}
                assert len(values) == 1

    run(story)


def test_a_step_that_waits_for_its_ranks_survives_a_kill(tmp_path: Path) -> None:
    """A line whose step was not complete when the agent died is read again by the next one."""

    async def live(server: RecordingServer, linger: float, steps: set[int]) -> None:
        """Read and send as the agent does, write the places down, and end without a farewell."""
        async with delivering(server.url, tmp_path / "spool", LIMITS) as delivery:
            state, stamp = tmp_path / "places.json", Stamp("n01", "default", linger, 1)
            ranks = Ranks(tmp_path / "hooks", state, stamp, delivery, linger=linger, idle_after=60.0)
            await ranks.hand_on()
            await until(lambda: delivery.settled == delivery.last_ticket, "what was offered has arrived")
            await ranks.save()
            assert {frame.step for frame in server.frames} == steps

    async def story() -> None:
        async with RecordingServer() as server:
            first, second = hooks(tmp_path, 2)
            train(first, 0)
            train(second, 0)
            train(first, 1)
            train(second, 2)
            train(first, 2)
            first.flush()
            second.flush()
            await live(server, 1000.0, {0, 2})
            await live(server, 0.0, {0, 1, 2})

    run(story)


def test_given_up_records_are_reported(tmp_path: Path) -> None:
    """What had to be given up in an outage is told by job, when the server is back."""

    async def story() -> None:
        async with RecordingServer() as server:
            port = server.port
        tight = Limits(
            memory_bytes=4000, spool_bytes=4000, every=0.01, first_pause=0.02, longest_pause=0.05, farewell=0.2
        )
        spool = tmp_path / "spool"
        (hook,) = hooks(tmp_path, 1)
        link = HttpLink(f"http://127.0.0.1:{port}")
        agent = NodeAgent(tmp_path / "hooks", "n01", link, spool, rhythm=RHYTHM, limits=tight)
        task = asyncio.create_task(agent.run())
        for step in range(200):
            train(hook, step)
        hook.event("log.line", text="kept")
        await until(lambda: (spool / "places.json").exists(), "the lines have been read")
        async with RecordingServer(port=port) as again:
            await until(lambda: again.events_named("agent.dropped"), "the report")
            agent.stop()
            await task
            lost = again.events_named("agent.dropped")
            told = {(event.job, event.attempt) for event in lost}
            assert {("wm-64", 1)} <= told <= {("wm-64", 1), ("default", 0)}  # of a sample before the first look
            assert sum(event.data["steps"] for event in lost) + len(again.frames) == 200
            assert sum(event.data["events"] for event in lost) == 0
            assert len(again.events_named("log.line")) == 1

    run(story)


def test_a_second_agent_on_the_same_spool_is_refused(tmp_path: Path) -> None:
    """Two agents would send everything twice; the second ends at once and says why."""

    async def story() -> None:
        async with RecordingServer() as server, serving(tmp_path, server.url):
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", AGENT, str(tmp_path), server.url],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            assert done.returncode == 1
            assert "another agent uses it" in done.stderr

    run(story)
