"""What the node agent costs a node: processor time and memory at one look a second, with eight GPUs and eight ranks."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import psutil
from aiohttp import web

from bench.table import Table
from streams.agents.trainer import Hook
from tests.agents.nvml_standin import build, environment

GPUS = 8
WARM_UP_SECONDS, SECONDS = 5.0, 30.0
LINE = (
    "[titan] 2026-03-11 08:14:09,436 - root - INFO - step: {step}  loss:  6.58  grad_norm:  0.59  "
    "memory: 51.20GiB(53.90%)  tps: 6,310  tflops: 365.10  mfu: 36.91%\n"
)


class Sink:
    """A server that takes everything."""

    def __init__(self) -> None:
        self.records = 0

    async def take(self, request: web.Request) -> web.Response:
        """Count the records."""
        lines = len((await request.read()).splitlines())
        self.records += lines
        return web.json_response({"accepted": lines, "rejected": 0})

    async def control(self, request: web.Request) -> web.Response:  # noqa: ARG002 - there is never one
        """Give no document."""
        return web.Response(status=204)


async def measure(train: bool, logs: bool = False) -> tuple[float, float, int]:
    """Run an agent; give its share of a core, its megabytes, and the records that came of it.

    Args:
        train: whether eight ranks write a step a second.
        logs: whether each prints a line a second, to a log that the agent follows.
    """
    sink = Sink()
    app = web.Application()
    app.router.add_post("/api/v1/telemetry", sink.take)
    app.router.add_get("/api/v1/control/{job}", sink.control)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    with tempfile.TemporaryDirectory() as folder:
        words = ["--dir", f"{folder}/hooks", "--spool", f"{folder}/spool", "--every", "1", "--node", "n01"]
        words += ["--log", f"{folder}/rank*.log"] if logs else []
        agent = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "streams", "agent", "--url", f"http://127.0.0.1:{port}", *words),
            env=environment(build(Path(folder) / "nvml"), GPUS),
        )
        hooks = [Hook(f"{folder}/hooks", "bench", rank) for rank in range(GPUS)] if train else []
        printed = [Path(folder, f"rank{rank}.log") for rank in range(GPUS)] if logs else []
        try:
            await _run(hooks, printed, WARM_UP_SECONDS)
            while not sink.records:
                await asyncio.sleep(0.1)
            process = psutil.Process(agent.pid)
            begin, before, spent = time.monotonic(), sink.records, process.cpu_times()
            await _run(hooks, printed, SECONDS)
            now = process.cpu_times()
            share = (now.user + now.system - spent.user - spent.system) / (time.monotonic() - begin)
            return share, process.memory_info().rss / 1e6, sink.records - before
        finally:
            agent.terminate()
            await agent.wait()
            await runner.cleanup()


async def _run(hooks: list[Hook], logs: list[Path], seconds: float) -> None:
    """Let time pass, with one step a second where there are ranks, and a line of each log."""
    end, step = time.monotonic() + seconds, int(time.monotonic())
    while time.monotonic() < end:
        for hook in hooks:
            with hook.step(step):
                pass
        for log in logs:
            with log.open("a") as file:
                file.write(LINE.format(step=step))
        step += 1
        await asyncio.sleep(1.0)


def run() -> Table:
    """Measure an idle node and one that trains."""
    rows = []
    for name, train, logs in (
        ("idle node", False, False),
        ("eight ranks, a step a second", True, False),
        ("eight ranks and their eight logs", True, True),
    ):
        share, megabytes, records = asyncio.run(measure(train, logs))
        rows.append((name, f"{share:.2%}", round(megabytes, 1), records))
    what = f"share of a core over {SECONDS:.0f} s at 1 Hz, {GPUS} GPUs of the stand-in library"
    return Table("agent_cost", what, ("node", "core", "MB", "records"), tuple(rows))
