"""Collectives that timed out: a thousand lines that tell one story, and who is missing in it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import count
from streams.stages.detect.attempt import is_through
from streams.stages.detect.signs.sign import Scene, Seen, Sign

SETTLES_SECONDS = 30.0
"""After so long without another line the story is told again with everything that came."""


class Report(Struct):
    """What the watchdog of one rank said."""

    group: str
    seq: int | None
    what: str
    completed: int | None


class CollectiveTimeoutMemory(Struct):
    """The first report of every rank in this attempt.

    Attributes:
        onset: Unix seconds at which the oldest of the collectives began.
        latest: Unix seconds of the last report.
        judged: reports that the last verdict was made of.
        left: ranks that have ended well, as if there were nothing more to do.
    """

    reports: dict[int, Report] = field(default_factory=dict)
    onset: float = 0.0
    latest: float = 0.0
    judged: int = 0
    left: list[int] = field(default_factory=list)


class CollectiveTimeout(Sign[CollectiveTimeoutMemory]):
    """Fold the watchdog's lines of all ranks into one finding.

    All in the same collective name nobody. A rank that is silent while the others wait, or that waits for an earlier
    collective than they do, is the one they wait for. Different operations at the same place in the sequence are a
    fault of the program.
    """

    name = "collective_timeout"
    memory = CollectiveTimeoutMemory

    def event(self, memory: CollectiveTimeoutMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a report, or what tells that the run begins anew."""
        if event.event == "attempt.started":
            memory.reports, memory.judged, memory.left = {}, 0, []
        elif event.event == "rank.exit" and event.data.get("exit_code") == 0:
            rank = as_count(event.data.get("rank"))
            memory.left += [rank] if rank is not None and rank not in memory.reports else []
        elif event.event == "nccl.timeout":
            yield from self._report(memory, scene, event)
        elif event.event == "attempt.ended" and len(memory.reports) > memory.judged:
            yield self._told(memory, scene)

    def time(self, memory: CollectiveTimeoutMemory, scene: Scene) -> Iterator[Seen]:
        """Judge again when no more lines come."""
        if len(memory.reports) > memory.judged and scene.clock - memory.latest >= SETTLES_SECONDS:
            yield self._told(memory, scene)

    def _report(self, memory: CollectiveTimeoutMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        data = event.data
        rank = as_count(data.get("rank"))
        if rank is None or rank in memory.reports:
            return
        ran = as_count(data.get("ran_ms")) or 0
        began = event.time - ran / 1000.0
        memory.onset = began if not memory.reports else min(memory.onset, began)
        memory.latest = max(memory.latest, scene.clock, event.time)
        what = f"{data.get('op')} of {data.get('numel_in')}"
        memory.reports[rank] = Report(
            str(data.get("group")), as_count(data.get("seq")), what, as_count(data.get("last_completed"))
        )
        given, everyone = len(memory.reports), len(scene.attempt.participants.ranks)
        if given == everyone or given & (given - 1) == 0:  # at 1, 2, 4, 8 ...: a flood is not retold line by line
            yield self._told(memory, scene)

    def _told(self, memory: CollectiveTimeoutMemory, scene: Scene) -> Seen:
        memory.judged = len(memory.reports)
        part, ranks, text = self._verdict(memory, scene)
        begun = max(memory.onset, scene.progress) if memory.onset else scene.progress
        return Seen(
            sign=self.name,
            part=part,
            onset_time=min(begun, memory.latest),
            onset_step=scene.step,
            ranks=ranks,
            nodes=tuple(sorted({scene.node_of(rank) for rank in ranks} - {""})),
            gpus=tuple(gpu for rank in ranks if (gpu := scene.gpu_of(rank))),
            numbers={"reports": float(memory.judged)},
            text=f"{count(memory.judged, 'rank')} timed out in collectives; {text}",
            passes=20,
        )

    def _verdict(self, memory: CollectiveTimeoutMemory, scene: Scene) -> tuple[str, tuple[int, ...], str]:
        usual = Counter(report.group for report in memory.reports.values()).most_common(1)[0][0]
        reports = {rank: one for rank, one in memory.reports.items() if one.group == usual}  # numbers count per group
        if memory.left or is_through(scene.attempt):
            return self._at_the_end(memory)
        at: dict[int | None, set[str]] = {}
        for report in reports.values():
            at.setdefault(report.seq, set()).add(report.what)
        for seq, kinds in at.items():
            if len(kinds) > 1:
                return "mismatch", (), f"at sequence {seq} they are in different ones: {', '.join(sorted(kinds))}"
        if len(at) > 1:
            return self._behind(reports)
        everyone = set(scene.attempt.participants.ranks)
        silent = tuple(sorted(everyone - set(memory.reports)))
        if 0 < len(silent) * 4 <= len(everyone):
            return "silent", silent, f"{count(len(silent), 'rank')} said nothing: {_some(silent)}"
        if len(memory.reports) * 2 < len(everyone):
            return "early", (), "the others have not spoken yet"
        return "same", (), "all in the same one, which names nobody"

    def _at_the_end(self, memory: CollectiveTimeoutMemory) -> tuple[str, tuple[int, ...], str]:
        """Nobody is missing that should be there: those that the others wait for have ended, or all have."""
        if memory.left:
            return "left", (), f"{count(len(memory.left), 'rank')} had ended well before: {_some(memory.left)}"
        return "after_end", (), "the run itself was through"

    def _behind(self, reports: dict[int, Report]) -> tuple[str, tuple[int, ...], str]:
        usual = Counter(report.seq for report in reports.values()).most_common(1)[0][0]
        late = tuple(
            sorted(
                rank for rank, one in reports.items() if one.seq is not None and usual is not None and one.seq < usual
            )
        )
        if 0 < len(late) * 2 < len(reports):
            return "behind", late, f"{count(len(late), 'rank')} waited in an earlier one: {_some(late)}"
        return "mismatch", (), "they are at different places of the sequence"


def _some(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:4])) + (f" and {len(ranks) - 4} more" if len(ranks) > 4 else "")
