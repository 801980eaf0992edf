"""The real demo: a small training in a process of its own, whose data path is slowed for real in the middle.

Only the disturbance is staged. That it is found, that the loader is switched to the copy on this node, that the trainer
acknowledges and that the job recovers, happens by itself.
"""

import asyncio
import contextlib
import json
import math
import statistics
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import aiohttp

from schemas.incident import Incident
from streams.agents.http_link import HttpLink
from streams.agents.node import run_agent
from streams.clock import monotonic_seconds
from streams.commands.output import say
from streams.demo_real.dataset import Dataset, copy_dataset, make_dataset
from streams.serve import Service
from streams.stores.store import IncidentQuery

JOB, NODE = "small-and-real", "this-node"
HEALTHY_STEPS = 250
"""Steps before the disturbance: what is normal has to be learned first."""
LEFT_SHARE, ERROR_SHARE = 0.2, 0.2
"""A slow store gives so much of what the training takes on this machine, and refuses so many requests."""
STEP_SECONDS = 180.0
CURE_SECONDS = 240.0
POLL_SECONDS = 0.25
ENDING_SECONDS = 20.0


class GivenUp(ConnectionError):
    """Something that should have happened did not."""


def real_story(service: Service, folder: Path) -> Callable[[str], Coroutine[object, object, None]]:
    """Make the story of a real training.

    Args:
        service: watched for the steps and for the cure.
        folder: for the dataset, its copy, checkpoints and the hook's files.
    """

    async def story(url: str) -> None:
        data, cache, hook, saves = (folder / name for name in ("data", "cache", "hook", "saves"))
        make_dataset(data, Dataset())
        copy_dataset(data, cache)
        async with _running("streams.demo_real.object_store", "--root", data, "--announce", folder / "store"):
            store = await _address(folder / "store")
            arguments = ("--data", store, "--cache", cache, "--hook", hook, "--job", JOB, "--checkpoints", saves)
            train = _running("streams.demo_real.training", *arguments)
            async with _agent(hook, url, folder / "spool"), train as training:
                await _until(lambda: _step(service) >= HEALTHY_STEPS, STEP_SECONDS, "the training did not get going")
                slow = {"bytes_per_second": round(LEFT_SHARE * _taken(service)), "error_share": ERROR_SHARE}
                say(f"the object store becomes slow now, for real: {json.dumps(slow)}")
                await _control(store, slow)
                await _until(lambda: _is_cured(service), CURE_SECONDS, "no incident was cured and verified")
                training.terminate()
                await asyncio.wait_for(training.wait(), ENDING_SECONDS)
                await _until(lambda: _is_over(service), ENDING_SECONDS, "the incident was not resolved")

    return story


def _step(service: Service) -> int:
    return max((job.step or 0 for job in service.archive.jobs() if job.job == JOB), default=0)


def _taken(service: Service) -> float:
    """Bytes per second that the training reads while it is well; a row is a token."""
    points = service.archive.series(JOB, "step", 0.0, math.inf, HEALTHY_STEPS)
    return Dataset().row_bytes * statistics.median(
        pace for point in points if (pace := point.values.get("tokens_per_second")) is not None
    )


def _incidents(service: Service) -> list[Incident]:
    return service.archive.incidents(IncidentQuery(job=JOB))[0]


def _is_cured(service: Service) -> bool:
    return any(entry.verification == "verified" for one in _incidents(service) for entry in one.actions)


def _is_over(service: Service) -> bool:
    return all(one.state == "resolved" for one in _incidents(service))


async def _until(holds: Callable[[], bool], seconds: float, complaint: str) -> None:
    deadline = monotonic_seconds() + seconds
    while not holds():
        if monotonic_seconds() > deadline:
            raise GivenUp(f"{complaint} within {seconds:g} s")
        await asyncio.sleep(POLL_SECONDS)


async def _address(announced: Path) -> str:
    await _until(announced.is_file, ENDING_SECONDS, "the object store did not start")
    return announced.read_text(encoding="utf-8").strip()


async def _control(store: str, limits: dict[str, float]) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{store}/control", json=limits) as answer:
        answer.raise_for_status()


@contextlib.asynccontextmanager
async def _running(module: str, *arguments: object) -> AsyncIterator[Process]:
    """Keep a process of ours running, and end it whatever happens."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, *map(str, arguments))
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), ENDING_SECONDS)
        if process.returncode is None:
            process.kill()
            await process.wait()


@contextlib.asynccontextmanager
async def _agent(hook: Path, url: str, spool: Path) -> AsyncIterator[None]:
    """Keep the node agent running."""
    agent = asyncio.create_task(run_agent(hook, NODE, HttpLink(url), spool, 1.0))
    try:
        yield
    finally:
        agent.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await agent
