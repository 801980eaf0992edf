"""The node agent: sends what the ranks write and samples of the node, and brings control files to the trainers."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from msgspec import Struct

from streams.agents.assemble import Attempt
from streams.agents.background import Background
from streams.agents.beat import Beat
from streams.agents.control_file import ControlMail
from streams.agents.delivery import Delivery, Limits
from streams.agents.finding import Of, Source, in_one
from streams.agents.host import Host
from streams.agents.link import Link
from streams.agents.once import Once
from streams.agents.ranks import Ranks
from streams.agents.sampling import Sampling
from streams.agents.stamp import Stamp
from streams.clock import monotonic_seconds, unix_seconds

log = logging.getLogger(__name__)


class Rhythm(Struct, frozen=True, kw_only=True):
    """How often the agent does what, at whole multiples; seconds.

    Attributes:
        poll_every: looks at the ranks' files.
        search_every: looks for ranks while there are none.
        linger: waits for the other ranks of a step.
        sample_every: samples the node.
        watch_every: looks for new lines of logs and for events.
        control_every: asks for control documents.
        save_every: writes down how far the files have been read.
        idle_after: silence of its ranks after which a job no longer counts as running here.
    """

    poll_every: float = 0.5
    search_every: float = 1.0
    linger: float = 0.7
    sample_every: float = 1.0
    watch_every: float = 1.0
    control_every: float = 2.0
    save_every: float = 2.0
    idle_after: float = 3600.0


class NodeAgent:
    """Serves the jobs of one node until it is stopped or cancelled; what has not arrived then is in the spool.

    Args:
        directory: where the hooks write, and look for their control file.
        node: name of the node.
        link: the way to the pipeline and back.
        spool: a folder for records while the pipeline is away, and for what the agent has to remember.
        cluster: name of the cluster; also the `job` of an idle node's samples.
        rhythm: how often it does what.
        limits: how much it holds on to.
        sources: further sources of samples by name; the host itself is one already.
        watchers: sources of what happens and of steps, by name; they are asked more often.
    """

    def __init__(
        self,
        directory: Path,
        node: str,
        link: Link,
        spool: Path,
        *,
        cluster: str = "default",
        rhythm: Rhythm | None = None,
        limits: Limits | None = None,
        sources: Mapping[str, Source] | None = None,
        watchers: Mapping[str, Source] | None = None,
    ) -> None:
        self._directory, self._link, self._spool = directory, link, spool
        self._rhythm, self._limits = rhythm or Rhythm(), limits or Limits()
        self._stamp = Stamp(node, cluster, unix_seconds(), os.getpid())
        self._sources, self._watchers = dict(sources or {}), dict(watchers or {})
        self._once, self._beat = Once(), Beat()
        self._troubles: set[str] = set()

    def stop(self) -> None:
        """Let `run` hand on what is there and return."""
        self._beat.stop()

    async def run(self) -> None:
        """Serve.

        Raises:
            OSError: the spool cannot be used.
        """
        delivery, mail = Delivery(self._link, self._spool, self._limits), ControlMail(self._link, self._directory)
        background = Background("agent")
        ranks = Ranks(
            self._directory,
            self._spool / "places.json",
            self._stamp,
            delivery,
            linger=self._rhythm.linger,
            idle_after=self._rhythm.idle_after,
            background=background,
        )
        sampling = Sampling({"host": Host(ranks.allowed_cpus), **self._sources}, background=background)
        watching = Sampling(self._watchers, background=background)
        async with self._link:
            try:
                async with delivery:
                    try:
                        await self._serve(delivery, ranks, (sampling, watching), mail)
                    finally:
                        sampling.close()
                        watching.close()
                        await ranks.finish()
                        self._report_losses(delivery)
            finally:
                await self._save(ranks)
                background.close()

    async def _serve(
        self, delivery: Delivery, ranks: Ranks, looks: tuple[Sampling, Sampling], mail: ControlMail
    ) -> None:
        rhythm, (sampling, watching) = self._rhythm, looks
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(delivery, ranks))
            group.create_task(self._every(rhythm.save_every, lambda: self._save(ranks)))
            group.create_task(self._every(rhythm.sample_every, lambda: self._look(delivery, ranks, sampling)))
            group.create_task(self._every(rhythm.watch_every, lambda: self._look(delivery, ranks, watching)))
            group.create_task(self._every(rhythm.control_every, lambda: self._fetch(ranks, mail)))

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while not await self._beat.rest(seconds):
            await work()

    async def _follow(self, delivery: Delivery, ranks: Ranks) -> None:
        """Look at once, so that the first samples are those of the jobs that run here, and then ever again."""
        while not self._beat.is_stopped:
            behind = await ranks.hand_on()
            self._report_faults(delivery, ranks)
            every = self._rhythm.poll_every if ranks.are_here else self._rhythm.search_every
            await self._beat.rest(0.0 if behind else every)

    def _report_faults(self, delivery: Delivery, ranks: Ranks) -> None:
        for path, why in ranks.faults.items():
            self._tell_gap(delivery, ranks, path, why)
        for name in [name for name in self._troubles if name.startswith(str(self._directory))]:
            if name not in ranks.faults:
                self._settle(name)

    async def _save(self, ranks: Ranks) -> None:
        if not ranks.may_save:
            return
        try:
            await ranks.save()
        except OSError as fault:
            self._complain("places", str(fault))
        else:
            self._settle("places")

    async def _look(self, delivery: Delivery, ranks: Ranks, sampling: Sampling) -> None:
        found, gaps = await sampling.take()
        findings = list(self._once.first(in_one(found), monotonic_seconds()))
        now, targets = unix_seconds(), self._targets(ranks)
        for finding in findings:
            for job, attempt in [(finding.job, finding.attempt)] if isinstance(finding, Of) else targets:
                delivery.offer(self._stamp.record(job, attempt, now, finding))
        for gap in gaps:
            self._tell_gap(delivery, ranks, gap.source, gap.reason)
        for name in sampling.names - {gap.source for gap in gaps}:
            self._settle(name)
        self._report_losses(delivery)

    def _tell_gap(self, delivery: Delivery, ranks: Ranks, source: str, reason: str) -> None:
        """Say once that a source gives nothing, until it is well again."""
        if self._complain(source, reason):
            now = unix_seconds()
            data = {"source": source, "from": now, "to": now, "reason": reason}
            for job, attempt in self._targets(ranks):
                delivery.offer(self._stamp.event(job, attempt, now, "source.gap", data, source))

    def _targets(self, ranks: Ranks) -> list[Attempt]:
        return ranks.running() or [(self._stamp.cluster, 0)]

    async def _fetch(self, ranks: Ranks, mail: ControlMail) -> None:
        for job, _ in ranks.running():
            try:
                if await mail.fetch(job):
                    log.info("a new control file for %s", job)
                self._settle(f"control of {job}")
            except (OSError, ValueError) as fault:
                self._complain(f"control of {job}", str(fault))

    def _report_losses(self, delivery: Delivery) -> None:
        lost: dict[Attempt, dict[str, int]] = {}
        for loss, count in delivery.take_losses().items():
            lost.setdefault((loss.job, loss.attempt), {"samples": 0, "steps": 0, "events": 0})[loss.kind] = count
        for (job, attempt), data in lost.items():
            delivery.offer(self._stamp.event(job, attempt, unix_seconds(), "agent.dropped", data, self._stamp.node))

    def _complain(self, name: str, why: str) -> bool:
        """Log trouble when it begins; True if it has just begun."""
        if name in self._troubles:
            return False
        self._troubles.add(name)
        log.warning("%s: %s", name, why)
        return True

    def _settle(self, name: str) -> None:
        if name in self._troubles:
            self._troubles.discard(name)
            log.info("%s: well again", name)


async def run_agent(
    directory: Path, node: str, link: Link, spool: Path, sample_every: float, cluster: str = "default"
) -> None:
    """Run a node agent of ranks and host alone until the task is cancelled; see NodeAgent."""
    await NodeAgent(directory, node, link, spool, cluster=cluster, rhythm=Rhythm(sample_every=sample_every)).run()
