"""A cluster that does not exist, as a stream of lines or as an agent that posts to a server and obeys its controls."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from urllib.parse import quote

import aiohttp
import msgspec
import numpy as np
from msgspec import Struct

from schemas.action import Control
from schemas.codec import encode
from schemas.telemetry import Inbound
from streams import clock
from streams.agents.simulation.scenarios import scenario_named
from streams.agents.simulation.simulation import START, Simulation
from streams.agents.simulation.telemetry_defects import TelemetryDefects

TIMEOUT_SECONDS = 30.0
FIRST_RETRY_SECONDS = 0.1
LONGEST_RETRY_SECONDS = 5.0
_TRY_AGAIN = (408, 425, 429, 500, 502, 503, 504)


class Refused(RuntimeError):
    """The server will not take a batch, however often it is sent."""


class Answer(Struct, frozen=True):
    """What the server says to a batch."""

    accepted: int = 0
    rejected: int = 0


class Delivery(Struct, kw_only=True):
    """What came of a run.

    Attributes:
        batches: posts that were acknowledged.
        accepted: records the server took; `rejected`: those it could not read.
        retries: posts that had to be sent again.
        controls: control documents that were handed to the trainer.
    """

    batches: int = 0
    accepted: int = 0
    rejected: int = 0
    retries: int = 0
    controls: int = 0


def simulate(scenario: str, seed: int, defects: bool) -> Iterator[bytes]:
    """Give a scenario as lines of JSON in order of arrival, each with its line end.

    Args:
        scenario: a name in the table of scenarios.
        seed: the same one gives the same bytes.
        defects: True loses, repeats, delays and reorders a little, as real telemetry does.

    Raises:
        KeyError: there is no scenario of that name.

    >>> next(simulate("quiet", 7, defects=False))[:38]
    b'{"attempt":1,"boot":"","cluster":"defa'
    """
    carrier = defects_for(seed) if defects else None
    for batch in arrivals(seeded(scenario, seed), carrier):
        for record in batch:
            yield encode(record) + b"\n"


def seeded(scenario: str, seed: int, start: float = START) -> Simulation:
    """Start a scenario from a seed.

    Args:
        scenario: a name in the table of scenarios.
        seed: the same one gives the same records.
        start: Unix seconds of the first record.

    Raises:
        KeyError: there is no scenario of that name.
    """
    return Simulation(scenario_named(scenario), np.random.default_rng(seed), start)


def defects_for(seed: int) -> TelemetryDefects:
    """Make the defects that go with a seed; they draw from a stream of their own, so the records stay the same."""
    return TelemetryDefects(np.random.default_rng((seed, 1)))


def arrivals(simulation: Simulation, defects: TelemetryDefects | None) -> Iterator[list[Inbound]]:
    """Advance a simulation to its end; give what arrives after each step, possibly nothing."""
    while not simulation.finished:
        sent = simulation.advance()
        yield defects.carry(sent, simulation.now) if defects else sent
    if defects:
        yield defects.flush()


class SimulatedAgent:
    """Posts a simulation to a server in order, and hands the server's control documents to its trainer.

    A batch is sent again, the same bytes, until it is acknowledged; the next one waits for it. So nothing is lost or
    overtaken, and the server may see a batch twice.

    Args:
        simulation: advanced here and nowhere else.
        url: where the server is, without a path.
        speed: simulated seconds per second; None: as fast as the server takes it.
        ahead: batches that may be unacknowledged before the simulation waits.
        defects: what happens to the telemetry on its way, if anything.
        headers: sent with every request.
        patience: seconds for which one batch is tried before the run is given up.

    Raises:
        ValueError: a parameter is out of range.
    """

    def __init__(
        self,
        simulation: Simulation,
        url: str,
        *,
        speed: float | None = None,
        ahead: int = 8,
        defects: TelemetryDefects | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float = 300.0,
    ) -> None:
        if (speed is not None and speed <= 0) or ahead < 1:
            raise ValueError(f"speed above 0 and ahead of at least 1 expected, not {speed} and {ahead}")
        self.delivery = Delivery()
        self._simulation = simulation
        self._telemetry_url = f"{url.rstrip('/')}/api/v1/telemetry"
        self._control_url = f"{url.rstrip('/')}/api/v1/control/{quote(simulation.job, safe='')}"
        self._speed = speed
        self._defects = defects
        self._headers = dict(headers or {})
        self._patience = patience
        self._may_run_ahead = asyncio.Semaphore(ahead)
        self._batches: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._entity_tag = ""

    async def run(self) -> Delivery:
        """Run the simulation to its end and deliver all of it.

        Raises:
            Refused: the server will not take a batch.
            ConnectionError: the server could not be reached within the patience.
        """
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, headers=self._headers) as session:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._produce(session))
                    group.create_task(self._deliver(session))
            except ExceptionGroup as faults:
                raise faults.exceptions[0] from None
        return self.delivery

    async def _produce(self, session: aiohttp.ClientSession) -> None:
        async for batch in self._paced():
            if batch:
                await self._may_run_ahead.acquire()
                self._batches.put_nowait(b"".join(encode(record) + b"\n" for record in batch))
            await self._poll_control(session)
        self._batches.put_nowait(None)

    async def _paced(self) -> AsyncIterator[list[Inbound]]:
        """Give what arrives, no sooner than the speed allows."""
        began, first = clock.monotonic_seconds(), self._simulation.now
        for batch in arrivals(self._simulation, self._defects):
            if self._speed is not None:
                due = began + (self._simulation.now - first) / self._speed
                await asyncio.sleep(max(due - clock.monotonic_seconds(), 0.0))
            yield batch

    async def _deliver(self, session: aiohttp.ClientSession) -> None:
        while (body := await self._batches.get()) is not None:
            answer = await self._post_until_taken(session, body)
            self.delivery.batches += 1
            self.delivery.accepted += answer.accepted
            self.delivery.rejected += answer.rejected
            self._may_run_ahead.release()

    async def _post_until_taken(self, session: aiohttp.ClientSession, body: bytes) -> Answer:
        give_up = clock.monotonic_seconds() + self._patience
        pause = FIRST_RETRY_SECONDS
        while True:
            answer = await self._post(session, body)
            if answer is not None:
                return answer
            if clock.monotonic_seconds() + pause > give_up:
                raise ConnectionError(f"no answer from the server within {self._patience:g} s")
            self.delivery.retries += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)

    async def _post(self, session: aiohttp.ClientSession, body: bytes) -> Answer | None:
        """Post a batch once; None means that it has to be sent again."""
        head = {"Content-Type": "application/x-ndjson"}
        try:
            async with session.post(self._telemetry_url, data=body, headers=head) as response:
                said = await response.read()
        except (aiohttp.ClientError, TimeoutError):
            return None
        if response.status in _TRY_AGAIN:
            return None
        if response.status >= 300:
            raise Refused(f"status {response.status}: {said[:200].decode(errors='replace')}")
        return msgspec.json.decode(said, type=Answer)

    async def _poll_control(self, session: aiohttp.ClientSession) -> None:
        """Ask for the control document; a server that cannot say is asked again after the next step."""
        head = {"If-None-Match": self._entity_tag} if self._entity_tag else {}
        try:
            async with session.get(self._control_url, headers=head) as response:
                said = await response.read()
        except (aiohttp.ClientError, TimeoutError):
            return
        if response.status == 200:
            self._entity_tag = response.headers.get("ETag", "")
            self._simulation.control(msgspec.json.decode(said, type=Control))
            self.delivery.controls += 1
