"""The ranks of a node: their lines on the way out, and which jobs are running here."""

import asyncio
from collections.abc import Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from schemas.telemetry import Event
from streams.agents.assemble import Assembler, Attempt
from streams.agents.background import Background
from streams.agents.delivery import Delivery
from streams.agents.rank_file import RankFile, parse
from streams.agents.stamp import Stamp
from streams.agents.tail import Places, Read, Tail, load_places, save_places
from streams.agents.translate import Translator
from streams.clock import monotonic_seconds, unix_seconds

_HELLO_BYTES = 1 << 16


class Ranks:
    """Hands on what the ranks write, and remembers on disk how far that is safe.

    Args:
        directory: where the hooks write.
        state: the file that remembers; written when all that was read so far has arrived or is in the spool.
        stamp: makes the records.
        delivery: takes them.
        linger: seconds to wait for the other ranks of a step.
        idle_after: seconds of silence after which a job no longer counts as running here.
        background: the threads that read and write.
    """

    def __init__(
        self,
        directory: Path,
        state: Path,
        stamp: Stamp,
        delivery: Delivery,
        *,
        linger: float,
        idle_after: float,
        background: Background | None = None,
    ) -> None:
        self._background = background or Background("ranks")
        self._state, self._stamp, self._delivery, self._idle_after = state, stamp, delivery, idle_after
        self._tail = Tail(directory, load_places(state))
        self._assembler = Assembler(linger)
        self._translator = Translator(stamp, self._assembler)
        self._ended: set[Attempt] = set()
        self._hellos: dict[int, frozenset[int]] = {}
        self._saved = Places()
        self._candidate: tuple[int, Places] | None = None

    async def hand_on(self) -> bool:
        """Read once and hand on what is complete; True where more can be read at once."""
        reads = await asyncio.wrap_future(self._background.do(self._tail.poll))
        self._take(reads)
        for assembled in self._assembler.take(monotonic_seconds(), self._known()):
            self._delivery.offer(self._stamp.steps(assembled))
        self._remember()
        return self._tail.behind

    async def finish(self) -> None:
        """Hand on everything, complete or not."""
        while await self.hand_on():
            pass
        for assembled in self._assembler.take_all():
            self._delivery.offer(self._stamp.steps(assembled))
        self._candidate = None
        self._remember()

    @property
    def faults(self) -> Mapping[str, str]:
        """Why files could not be read at the last look, by path."""
        return self._tail.faults

    @property
    def are_here(self) -> bool:
        """Whether any rank has ever written here."""
        return bool(self._tail.files)

    @property
    def may_save(self) -> bool:
        """Whether there is something new that is safe to forget."""
        return self._candidate is not None and self._delivery.settled >= self._candidate[0]

    async def save(self) -> None:
        """Write down how far it is safe to forget.

        Raises:
            OSError: it could not be written.
        """
        if self._candidate is not None and self.may_save:
            _, places = self._candidate
            await asyncio.wrap_future(self._background.do(partial(save_places, self._state, places)))
            self._saved, self._candidate = places, None

    def running(self) -> list[Attempt]:
        """Give the newest attempt of every job whose ranks here wrote lately and did not say that it ended."""
        lately = unix_seconds() - self._idle_after
        newest: dict[str, int] = {}
        for file in self._tail.files:
            if file.changed >= lately:
                newest[file.source.job] = max(newest.get(file.source.job, 0), file.source.attempt)
        return [attempt for attempt in newest.items() if attempt not in self._ended]

    def allowed_cpus(self) -> Set[int]:
        """Give the processors that the ranks of the running jobs may use; may be called from another thread."""
        running = set(self.running())
        current = [file for file in self._tail.files if (file.source.job, file.source.attempt) in running]
        return frozenset[int]().union(*(self._cpus(file) for file in current if file.age == 0))

    def _take(self, reads: Sequence[Read]) -> None:
        for read in reads:
            for record in self._translator.take(read, monotonic_seconds()):
                self._delivery.offer(record)
                if isinstance(record, Event) and record.event == "attempt.ended":
                    self._ended.add((record.job, record.attempt))

    def _known(self) -> Mapping[Attempt, Set[int]]:
        known: dict[Attempt, set[int]] = {}
        for file in self._tail.files:
            known.setdefault((file.source.job, file.source.attempt), set()).add(file.source.rank)
        return known

    def _remember(self) -> None:
        """Note where reading stands; one note at a time, so that memory stays bounded while the server is away."""
        if self._candidate is None:
            places = self._tail.places(self._assembler.pending())
            if places != self._saved:
                self._candidate = (self._delivery.last_ticket, places)

    def _cpus(self, file: RankFile) -> frozenset[int]:
        """Read the processors of a rank from the first line of its file, once."""
        if file.inode not in self._hellos:
            try:
                with file.path.open("rb") as stream:
                    hello = parse(stream.readline(_HELLO_BYTES))
            except OSError:
                return frozenset()
            self._hellos[file.inode] = frozenset(hello.cpus) if hello else frozenset()
        return self._hellos[file.inode]
