"""`trainmaster demo`: the worked case of a 64-GPU job, live; with --real a small training that really runs."""

import asyncio
import socket
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from schemas.action import Mode
from schemas.codec import Plain, from_wire
from schemas.detection import Detection
from schemas.incident import Incident
from streams.agents.simulated import SimulatedAgent, seeded
from streams.commands.output import fail, give, say
from streams.commands.real_story import real_story
from streams.commands.serving import service_or_fail
from streams.commands.watching import Watch, tell
from streams.contract import contract
from streams.serve import Service
from streams.settings import Settings
from streams.stores.store import IncidentQuery

SCENARIO = "brief64"
ACTING = ("loader-to-nvme-cache", "checkpoint-off-the-critical-path", "mark-contaminated-steps", "open-postmortem")
"""Playbooks that act in the demo; everywhere else they observe until somebody says otherwise."""
TELLING = "tell-people"
"""There is nobody to page in a demo."""
SETTLING_SECONDS = 20.0
PORT = 8420
PAGE = 1000
Story = Callable[[str], Coroutine[object, object, None]]
"""What happens to a job, told to the server at an address."""


class Ending(Struct, frozen=True):
    """How a demo came out."""

    incidents: list[Incident]
    contract: dict[str, Plain]


def demo(
    real: Annotated[bool, typer.Option("--real", help="A small real training instead of the simulated job.")] = False,
    leave: Annotated[bool, typer.Option("--exit", help="End when the case is over; else the page stays.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the object of the contract at the end.")] = False,
    seed: Annotated[int, typer.Option(help="Another seed is another noise.")] = 1,
    speed: Annotated[float, typer.Option(help="Simulated seconds per second.")] = 30.0,
    port: Annotated[int | None, typer.Option(help="Port of the page; 0 takes a free one.")] = None,
) -> None:
    """Watch a job slow down, and what Trainmaster makes of it: one incident, its cause, the cure, the proof."""
    with tempfile.TemporaryDirectory(prefix="trainmaster-demo-") as folder:
        service = service_or_fail(demo_settings(Path(folder), port))
        story = real_story(service, Path(folder)) if real else _simulated(seed, speed)
        try:
            ending = asyncio.run(_play(service, story, leave))
        except KeyboardInterrupt:
            return
        except ExceptionGroup as faults:
            fail(str(faults.exceptions[0]))
    if as_json:
        give(ending.contract)
    if not _is_well(ending.incidents, alone=not real):
        fail("the case did not end as it should: one incident cured, all resolved, every action verified")


def demo_settings(folder: Path, port: int | None) -> Settings:
    """Settings of a demo: a folder of its own, and the harmless playbooks acting."""
    chosen = port if port is not None else _free_or(PORT)
    modes: dict[str, Mode] = {**dict.fromkeys(ACTING, "act"), TELLING: "observe"}
    return Settings(state=folder / "state", port=chosen, modes=modes, tick=2.0, snapshot=5.0)


async def _play(service: Service, story: Story, leave: bool) -> Ending:
    """Serve, play the story, let it settle, and go on serving unless told to leave."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(service.run(address.set_result))
        url = await address
        say(f"The page is at {url}")
        playing = group.create_task(story(url))
        watching = group.create_task(Watch(service.archive).run(playing.done))
        await playing
        await watching
        await _settle(service)
        ending = Ending(_incidents(service), _contract(service))
        for incident in ending.incidents:
            tell(incident)
        if leave:
            service.stop()
        else:
            say(f"\nThe page stays at {url}; Ctrl-C ends the demo.")
        await serving
    return ending


async def _settle(service: Service) -> None:
    """Let the line and the runner finish what is under way."""
    deadline = asyncio.get_running_loop().time() + SETTLING_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        behind = service.archive.progress() < service.journal.last()
        acting = any(entry.outcome == "pending" for one in _incidents(service) for entry in one.actions)
        if not behind and not acting:
            return
        await asyncio.sleep(0.1)


def _simulated(seed: int, speed: float) -> Story:
    async def story(url: str) -> None:
        await SimulatedAgent(seeded(SCENARIO, seed), url, speed=speed).run()

    return story


def _incidents(service: Service) -> list[Incident]:
    return service.archive.incidents(IncidentQuery())[0]


def _contract(service: Service) -> dict[str, Plain]:
    detections, after = [], 0
    while page := service.archive.feed(after, PAGE, ("detections",)):
        detections += [from_wire(filed.raw, Detection) for filed in page]
        after = page[-1].sequence
    memories = service.runtime.memories.keys.values()
    dead = len(service.archive.dead(PAGE))
    return contract(service.runtime.taken + dead, dead, memories, detections, reversed(_incidents(service)))


def _is_well(incidents: list[Incident], *, alone: bool) -> bool:
    """One incident was cured, everything is over, and every action that was verified has helped.

    Args:
        incidents: all of them.
        alone: nothing else may be told. A real machine may be slow for reasons of its own, and that is told as well.
    """
    cured = [one for one in incidents if any(entry.verification == "verified" for entry in one.actions)]
    if len(cured) != 1 or (alone and len(incidents) != 1) or any(one.state != "resolved" for one in incidents):
        return False
    return all(entry.verification in ("", "verified") for one in incidents for entry in one.actions)


def _free_or(port: int) -> int:
    """The usual port, or any free one where somebody has it already."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port
