"""One try of a piece of work: its target held, its key open, the world looked at again, then run."""

import asyncio
import logging

from msgspec import structs

from playbooks.actions.action import AnyAction
from playbooks.actions.standing import lapsed
from playbooks.actions.work import Outcome, Work
from playbooks.retry import Finished, Refused, Retry
from schemas.action import Request
from streams.acting.footing import Footing
from streams.acting.settings import ActSettings
from streams.stores.store import Archive, FencedOff, Lease, Leases, StoreAway

_log = logging.getLogger(__name__)


class Busy(Retry, frozen=True):
    """Somebody else acts on the target."""


class OneTry:
    """Tries a piece once; never repeats, and waits only for a free slot and for a store that shall note the end.

    The kill switch stops what acts on jobs and nodes; people are still told, and the record is still kept.
    """

    def __init__(self, archive: Archive, leases: Leases, footing: Footing, settings: ActSettings) -> None:
        self._archive = archive
        self._leases = leases
        self._footing = footing
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.at_once)

    async def __call__(self, request: Request, action: AnyAction, work: Work) -> Outcome | Retry:
        """Try; what has ended is noted before the target is given back."""
        try:
            return await self._try(request, action, work)
        except StoreAway as fault:
            return Retry(str(fault))

    def give_up(self, work: Work, last: Retry, tries: int) -> Outcome | None:
        """End a piece whose schedule is through; None where that is not ours to say: somebody else is at it.

        What was never begun was refused and has not failed.
        """
        try:
            if isinstance(last, Busy):
                refused = Outcome("refused", f"{last.reason} for too long")
                stands = self._leases.finish_unbegun(work.key, refused.note())
            else:
                stands = self._failed(work, Outcome("failed", f"{last.reason}; gave up after {tries} tries"))
        except StoreAway:
            return None
        return None if stands is None else structs.replace(Outcome.read(stands), tries=tries)

    def _failed(self, work: Work, outcome: Outcome) -> str | None:
        lease = self._leases.acquire(work.target, self._holder(work), self._now(), self._settings.lease_seconds)
        if lease is None:
            return None
        try:
            return self._leases.finish_under(work.key, outcome.note(), lease)
        finally:
            self._leases.release(lease)

    def _holder(self, work: Work) -> str:
        return f"{self._settings.holder}/{work.key}"

    def _now(self) -> float:
        return self._footing.ports.clock.now()

    async def _try(self, request: Request, action: AnyAction, work: Work) -> Outcome | Retry:
        async with self._slots:
            lease = self._leases.acquire(work.target, self._holder(work), self._now(), self._settings.lease_seconds)
            if lease is None:
                return Busy(f"{work.target} is in other hands")
            try:
                if not self._leases.begin(work.key, lease):
                    return self._noted(work.key) or Busy(f"{work.target} was taken over by somebody else")
                known = self._noted(work.message) or self._forbidden(request, action)
                ended = known or self._unfit(action) or await self._run(request, action, work, lease)
                return await self._until_noted(work, ended, lease) if isinstance(ended, Outcome) else ended
            finally:
                self._leases.release(lease)

    def _noted(self, key: str) -> Outcome | None:
        note = self._leases.finished(key) if key else None
        return None if note is None else Outcome.read(note)

    async def _until_noted(self, work: Work, outcome: Outcome, lease: Lease) -> Outcome | Busy:
        """Note an outcome, however long it takes: what was done is not done again because nobody could note it."""
        while True:
            try:
                return self._noted_as(work, outcome, lease)
            except StoreAway as fault:
                _log.warning("the end of %s cannot be noted yet: %s", work.key, fault)
                await self._footing.ports.clock.sleep(self._settings.poll_seconds)

    def _noted_as(self, work: Work, outcome: Outcome, lease: Lease) -> Outcome | Busy:
        """Note an outcome; give the one that stands. Who has lost the target leaves the word to its new holder."""
        # The message first: a crash between both leaves the key open, and the next try finds the message told.
        if work.message and outcome.ended == "done":
            self._leases.finish(work.message, outcome.note())
        stands = self._leases.finish_under(work.key, outcome.note(), lease)
        if stands is None:
            return Busy(f"{work.target} was taken over by somebody else")
        return outcome if stands == outcome.note() else Outcome.read(stands)

    def _forbidden(self, request: Request, action: AnyAction) -> Outcome | None:
        """Read everything again that may have changed since the decision."""
        incident = self._archive.incident(request.incident)
        if incident is None:
            return Outcome("refused", "no such incident")
        newest = max((job.attempt for job in self._archive.jobs() if job.job == request.job), default=0)
        if (gone := lapsed(request, action, incident, newest)) is not None:
            return Outcome(gone.outcome, gone.reason)
        stopper = None if action.risk == "none" else self._leases.stopped_by()
        return None if stopper is None else Outcome("refused", f"the kill switch is on, turned by {stopper}")

    def _unfit(self, action: AnyAction) -> Retry | None:
        why = "" if action.risk == "none" else self._footing.unfit()
        return Retry(why) if why else None

    async def _run(self, request: Request, action: AnyAction, work: Work, lease: Lease) -> Outcome | Retry:
        try:
            async with asyncio.timeout(self._settings.try_seconds):
                ending = await action.run(request, work.params, self._footing.under(lease))
        except TimeoutError:
            late = f"no end within {self._settings.try_seconds:g} s"
            return Retry(late) if action.risk == "none" else Outcome("failed", f"{late}; it may have been done")
        except StoreAway:
            raise
        except FencedOff as fault:
            return Busy(str(fault))
        except Exception as fault:  # noqa: BLE001 - the fault of one action must not stop the others
            _log.error("action %s of request %s raised %s", request.action, request.id, _place(fault))
            return Outcome("failed", f"a fault of the action itself: {_place(fault)}")
        if isinstance(ending, Finished):
            return Outcome("done", ending.detail)
        return Outcome("refused", ending.reason) if isinstance(ending, Refused) else ending


def _place(fault: Exception) -> str:
    """Say what was raised and where; never its message, which may hold an address or a key."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return type(fault).__name__ + (f" in {trace.tb_frame.f_code.co_qualname}" if trace is not None else "")
