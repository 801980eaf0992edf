"""Runs requests through actions and sinks, each once: the one place that retries.

A request is finished in this order: its idempotency keys are closed, the event goes into the journal, the result into
the archive. A crash before the first repeats the try, and actions are harmless twice; a crash after it finds the keys
closed and only repeats the telling, which the readers know by the request's id.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from weakref import WeakValueDictionary

import msgspec
from msgspec import structs

from playbooks.actions.action import AnyAction
from playbooks.actions.catalogue import ACTIONS
from playbooks.actions.work import Outcome, Work, pieces, together
from playbooks.retry import Retry, Schedule
from schemas.action import Request, Result
from schemas.codec import encode, from_wire
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.acting.footing import Footing
from streams.acting.one_try import Busy, OneTry
from streams.acting.settings import ActSettings
from streams.stages.stage import Sent
from streams.stores.store import Archive, Intake, Leases, Numbers, StoreAway

SOURCE = "act"
PAGE = 500
INCIDENT_SECONDS = 0.5
INCIDENT_TRIES = 20
"""How long, and how often, to wait for the incident of a request before there is none."""
_WORDS = {"done": "action.done", "failed": "action.failed", "refused": "action.refused", "expired": "action.refused"}
_log = logging.getLogger(__name__)
DEFAULTS = ActSettings()


class Runner:
    """Takes requests with decision `act` from the archive, in order, and runs each once.

    Requests on one target follow one another; others run side by side, so a dead sink holds up nothing but itself.

    Args:
        archive: where requests come from and results go to.
        leases: who may act, once; and the kill switch.
        intake: where the pure line learns how it ended.
        numbers: what numbers the events of all runners.
        footing: the ways out.
        settings: see there.
        actions: the catalogue.
        after: sequence of the feed to begin after; 0 looks at every request, and skips those that have a result.
        wake_line: called after an event went into the journal.
    """

    def __init__(
        self,
        archive: Archive,
        leases: Leases,
        intake: Intake,
        numbers: Numbers,
        footing: Footing,
        settings: ActSettings = DEFAULTS,
        *,
        actions: Mapping[str, AnyAction] = ACTIONS,
        after: int = 0,
        wake_line: Callable[[], None] = lambda: None,
    ) -> None:
        self._archive = archive
        self._leases = leases
        self._intake = intake
        self._numbers = numbers
        self._ports = footing.ports
        self._settings = settings
        self._actions = actions
        self._read = after
        self._wake_line = wake_line
        self._serving: dict[str, int] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._try = OneTry(archive, leases, footing, settings)
        self._woken = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def position(self) -> int:
        """Give the sequence up to which every request has ended; a later runner may begin after it."""
        return min(self._serving.values(), default=self._read + 1) - 1

    def serving(self) -> int:
        """Count the requests at work."""
        return len(self._serving)

    def wake(self) -> None:
        """Say that there may be new requests; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._woken.set)

    async def run(self) -> None:
        """Run requests as they come, until cancelled; work that is cut off is found again by the next runner."""
        self._loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                self._woken.clear()
                self._take(group)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.poll_seconds):
                        await self._woken.wait()

    async def drain(self) -> None:
        """Run every request that is there, and those that come meanwhile; return when all have ended."""
        taken = 1
        while taken:
            async with asyncio.TaskGroup() as group:
                taken = self._take(group)

    def _take(self, group: asyncio.TaskGroup) -> int:
        taken = 0
        while page := self._archive.feed(self._read, PAGE, ("requests",)):
            for filed in page:
                request = from_wire(filed.raw, Request)
                self._read = filed.sequence
                if self._is_new(request):
                    self._serving[request.id] = filed.sequence
                    group.create_task(self._serve(request))
                    taken += 1
        return taken

    def _is_new(self, request: Request) -> bool:
        known = request.id in self._serving or self._archive.result(request.id) is not None
        return request.decision == "act" and not known

    async def _serve(self, request: Request) -> None:
        try:
            outcome = await self._outcome(request)
            await self._tell(request, outcome)
        finally:
            del self._serving[request.id]

    async def _outcome(self, request: Request) -> Outcome:
        action, revisions = self._actions.get(request.action), await self._revisions(request)
        if action is None or not revisions:
            return Outcome("refused", f"no action {request.action}" if action is None else "no such incident")
        try:
            params = msgspec.convert(request.params, action.params, strict=True)
        except msgspec.ValidationError as fault:
            return Outcome("refused", f"parameters: {fault}")
        works = pieces(request, action, params, revisions, self._ports.sinks.kinds())
        if not works:
            return Outcome("refused", "no sink is configured")
        async with asyncio.TaskGroup() as group:
            tasks = {work.name: group.create_task(self._until_ended(request, action, work)) for work in works}
        return together({name: task.result() for name, task in tasks.items()})

    async def _revisions(self, request: Request) -> list[Incident]:
        """Give what is known of the incident; a copy of the log may bring the request a moment earlier."""
        clock, tries = self._ports.clock, 0
        while not (revisions := self._archive.revisions(request.incident)) and tries < INCIDENT_TRIES:
            await clock.sleep(INCIDENT_SECONDS)
            tries += 1
        return revisions

    async def _until_ended(self, request: Request, action: AnyAction, work: Work) -> Outcome:
        """Try a piece until it has ended or its schedule has: the one retry loop."""
        schedule = self._settings.tell if action.risk == "none" else self._settings.act
        clock, tries = self._ports.clock, 1
        began = clock.now()
        async with self._turns.setdefault(work.target, asyncio.Lock()):
            while isinstance(ended := await self._try(request, action, work), Retry):
                wait = _wait(schedule, ended, tries, clock.now() - began)
                if wait is None and (given_up := self._try.give_up(work, ended, tries)) is not None:
                    return given_up
                await clock.sleep(schedule.longest if wait is None else wait)
                tries += not isinstance(ended, Busy)
        return structs.replace(ended, tries=tries)

    async def _tell(self, request: Request, outcome: Outcome) -> None:
        """Tell how a request ended; a store that does not answer is waited for, as there is nothing else to do."""
        while True:
            try:
                return await asyncio.to_thread(self._conclude, request, outcome)
            except StoreAway as fault:
                _log.warning("the end of request %s cannot be told yet: %s", request.id, fault)
                await self._ports.clock.sleep(self._settings.poll_seconds)

    def _conclude(self, request: Request, outcome: Outcome) -> None:
        """Tell the pure line, then the archive; with a result on file nobody looks at the request again."""
        if self._archive.result(request.id) is not None:
            return
        incident, now = self._archive.incident(request.incident), self._ports.clock.now()
        time = request.time if incident is None else incident.updated_time
        event = event_of(request, outcome, self._numbers.following(SOURCE), time)
        self._intake.append([(request.job, encode(event))], now)
        result = Result(
            request=request.id,
            incident=request.incident,
            job=request.job,
            attempt=request.attempt,
            action=request.action,
            outcome=outcome.ended,
            detail=outcome.detail,
            tries=outcome.tries,
            time=now,
        )
        self._archive.put([Sent("results", request.incident, result)], upto=self._archive.progress())
        _log.info("request %s, %s on %s: %s", request.id, request.action, request.target, outcome.note())
        self._wake_line()


def _wait(schedule: Schedule, last: Retry, tries: int, elapsed: float) -> float | None:
    """Give the seconds until the next look; None where the schedule is through.

    Somebody else's turn is no try of ours, and it may end at any moment: also because its runner is dead.
    """
    if isinstance(last, Busy):
        return schedule.first if elapsed + schedule.first <= schedule.seconds else None
    return schedule.wait(tries, elapsed, last.after)


def event_of(request: Request, outcome: Outcome, seq: int, time: float) -> Event:
    """Say how a request ended in the words of telemetry, in the time of the records."""
    return Event(
        job=request.job,
        attempt=request.attempt,
        cluster=request.cluster,
        node=SOURCE,
        boot=SOURCE,
        seq=seq,
        time=time,
        event=_WORDS[outcome.ended],
        subject=request.id,
        data={"action": request.action, "id": request.id, "detail": outcome.detail, **_why(outcome)},
    )


def _why(outcome: Outcome) -> dict[str, str]:
    """Give the field that the table of events wants beside action and id."""
    if outcome.ended == "done":
        return {}
    return {"error" if outcome.ended == "failed" else "reason": outcome.detail}
