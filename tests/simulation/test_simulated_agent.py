"""The simulated agent against a real server on the loopback: order, repetition, back-pressure, control."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
from aiohttp import web

from schemas.action import Control, Setting
from schemas.codec import decode, encode, split
from schemas.telemetry import Event, StepFrame
from streams import clock
from streams.agents.simulated import Delivery, Refused, SimulatedAgent
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario
from streams.agents.simulation.simulation import Simulation

DEADLINE = 15.0
STEPS = 40


class Server:
    """Takes telemetry as the real one does, and misbehaves on demand.

    Attributes:
        bodies: every body that was acknowledged, in order.
        refusals: statuses to answer with before the next body is taken; 0 drops the connection unanswered.
        control: what it gives out.
    """

    def __init__(self, refusals: list[int] | None = None) -> None:
        self.bodies: list[bytes] = []
        self.refused: list[bytes] = []
        self.refusals = refusals or []
        self.control: Control | None = None
        self.control_after = 0
        self.tags: list[str | None] = []
        self.leads: list[int] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def take(self, request: web.Request) -> web.Response:
        """Answer a batch."""
        body = await request.read()
        await self.gate.wait()
        if self.refusals:
            status = self.refusals.pop(0)
            self.refused.append(body)
            if status == 0 and request.transport is not None:
                request.transport.close()
            return web.Response(status=status or 500, text="not now")
        self.bodies.append(body)
        return web.json_response(
            {"accepted": len(split(body)), "rejected": 0, "offset": len(self.bodies), "faults": []}
        )

    async def give(self, request: web.Request) -> web.Response:
        """Answer a question for the control document."""
        assert request.match_info["job"] == "sim job"
        self.tags.append(request.headers.get("If-None-Match"))
        self.leads.append(len(self.tags) - len(self.bodies))
        if self.control is None or len(self.bodies) < self.control_after:
            return web.Response(status=204)
        if self.tags[-1] == '"1"':
            return web.Response(status=304)
        return web.Response(body=encode(self.control), content_type="application/json", headers={"ETag": '"1"'})


@asynccontextmanager
async def _serving(server: Server, port: int = 0) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/api/v1/telemetry", server.take)
    app.router.add_get("/api/v1/control/{job}", server.give)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _simulation() -> Simulation:
    job = Job(name="sim job", nodes=nodes_named(2), gpus_per_node=2)
    scenario = Scenario(name="small", summary="", legs=(Leg(job=job, steps=(1, STEPS)),))
    return Simulation(scenario, np.random.default_rng(3))


def _sent() -> list[bytes]:
    simulation, bodies = _simulation(), []
    while not simulation.finished:
        bodies.append(b"".join(encode(record) + b"\n" for record in simulation.advance()))
    return bodies


async def _until(held: Callable[[], bool]) -> None:
    """Wait for a condition, with a deadline."""
    give_up = clock.monotonic_seconds() + DEADLINE
    while not held():
        assert clock.monotonic_seconds() < give_up, "the condition never held"
        await asyncio.sleep(0.005)


def test_everything_arrives_once_and_in_order() -> None:
    """The server gets the batches of the simulation, byte for byte, one after the other."""

    async def scene() -> tuple[Server, Delivery]:
        server = Server()
        async with _serving(server) as url:
            return server, await SimulatedAgent(_simulation(), url).run()

    server, delivery = asyncio.run(scene())
    assert server.bodies == _sent()
    assert delivery.batches == STEPS + 1
    assert delivery.accepted == sum(len(split(body)) for body in server.bodies)
    assert (delivery.rejected, delivery.retries) == (0, 0)


@pytest.mark.parametrize(
    "refusals",
    [
        pytest.param([0, 0], id="connections dropped after the body was read"),
        pytest.param([503, 429, 500], id="statuses that ask to come again"),
    ],
)
def test_a_batch_is_sent_again_until_it_is_taken(refusals: list[int]) -> None:
    """What was not acknowledged is repeated with the same bytes, and nothing overtakes it or is skipped."""

    async def scene() -> tuple[Server, Delivery]:
        server = Server(list(refusals))
        async with _serving(server) as url:
            return server, await SimulatedAgent(_simulation(), url).run()

    server, delivery = asyncio.run(scene())
    assert server.bodies == _sent()
    assert server.refused == [server.bodies[0]] * len(refusals)
    assert delivery.retries == len(refusals)


def test_a_server_may_come_later() -> None:
    """An agent that finds nobody goes on trying, and delivers all of it once the server is there."""

    async def scene() -> Server:
        server = Server()
        async with _serving(Server()) as url:
            port = int(url.rpartition(":")[2])
        agent = SimulatedAgent(_simulation(), url)
        run = asyncio.create_task(agent.run())
        await _until(lambda: agent.delivery.retries >= 2)
        async with _serving(server, port):
            await run
        return server

    assert asyncio.run(scene()).bodies == _sent()


def test_it_waits_when_too_much_is_unacknowledged() -> None:
    """With the server holding its answers back the simulation gets as far ahead as it may, and never further."""

    async def scene() -> Server:
        server = Server()
        server.gate.clear()
        async with _serving(server) as url:
            run = asyncio.create_task(SimulatedAgent(_simulation(), url, ahead=3).run())
            await _until(lambda: len(server.tags) == 3)
            server.gate.set()
            await run
            return server

    server = asyncio.run(scene())
    assert max(server.leads) == 3
    assert server.bodies == _sent()


def test_a_control_document_reaches_the_trainer() -> None:
    """A document that appears during the run is applied once, acknowledged in the telemetry, and not fetched again."""

    async def scene() -> tuple[Server, Delivery]:
        server = Server()
        settings = {"loader.path": Setting(value="cache", request="r-1")}
        server.control = Control(job="sim job", attempt=1, version=1, settings=settings)
        server.control_after = 10
        async with _serving(server) as url:
            return server, await SimulatedAgent(_simulation(), url, ahead=1).run()

    server, delivery = asyncio.run(scene())
    records = [decode(raw) for body in server.bodies for raw in split(body)]
    acknowledged = [record for record in records if isinstance(record, Event) and record.subject == "r-1"]
    assert [event.data["setting"] for event in acknowledged] == ["loader.path"]
    assert 9 <= acknowledged[0].data["step"] <= 12
    assert delivery.controls == 1
    assert server.tags[0] is None
    assert server.tags[-1] == '"1"'


def test_a_batch_that_is_refused_for_good_ends_the_run() -> None:
    """A status that will not change by trying again raises, with the server's words."""

    async def scene() -> None:
        async with _serving(Server([413])) as url:
            await SimulatedAgent(_simulation(), url).run()

    with pytest.raises(Refused, match="413: not now"):
        asyncio.run(scene())


def test_patience_has_an_end() -> None:
    """A server that never answers raises once the patience is over."""

    async def scene() -> None:
        async with _serving(Server()) as url:
            pass
        await SimulatedAgent(_simulation(), url, patience=0.25).run()

    with pytest.raises(ConnectionError, match=r"within 0\.25 s"):
        asyncio.run(scene())


def test_speed_is_kept() -> None:
    """At 100 times real time a run of some sixty seconds takes no less than its hundredth."""

    async def scene() -> tuple[float, float]:
        simulation = _simulation()
        begin, first = clock.monotonic_seconds(), simulation.now
        async with _serving(Server()) as url:
            await SimulatedAgent(simulation, url, speed=100.0).run()
        return clock.monotonic_seconds() - begin, simulation.now - first

    took, lived = asyncio.run(scene())
    assert lived > 55.0
    assert took >= lived / 100.0


@pytest.mark.parametrize("parameters", [{"speed": 0.0}, {"ahead": 0}])
def test_parameters_out_of_range_are_refused(parameters: dict[str, int]) -> None:
    """No speed and no batch ahead are refused when the agent is made."""
    with pytest.raises(ValueError, match="expected"):
        SimulatedAgent(_simulation(), "http://127.0.0.1:1", **parameters)  # type: ignore[arg-type]  # wrong on purpose


def test_the_steps_of_a_run_are_all_there() -> None:
    """The scenario used here has the steps it should have, so that the tests above look at something."""
    records = [decode(raw) for body in _sent() for raw in split(body)]
    assert {record.step for record in records if isinstance(record, StepFrame)} == set(range(1, STEPS + 1))
