"""A storage server that nodes say does not answer, while the job makes no progress: that is no time to wait longer."""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import amount, count, step_words
from streams.stages.detect.signs.sign import Scene, Seen, Sign

SILENT = re.compile(
    r"server .*not responding|evicted by|connection to .*(ost|mdt|mds)\S* .*lost|lost connection to .*(ost|mdt|mon)",
    re.IGNORECASE,
)
"""Lines of a node's kernel or client on a server that does not answer it."""
BACK = re.compile(r"server .*\bok\b|connection .*restored|re-?connected to|recovery (is )?complete", re.IGNORECASE)
"""Lines with which it answers again."""
SECONDS, STEPS, PAUSES = 75.0, 8.0, 2.0
"""So long, so many usual steps, and so often the longest pause, the job has to stand after the first such line."""
IN_PHASE, LONE = 4.0, 2.0
"""Times as long where a save, an evaluation or the like has been announced; where one node alone says so."""


class StorageSilenceMemory(Struct):
    """Nodes whose server does not answer -> Unix seconds since when; and whether that was told."""

    silent: dict[str, float] = field(default_factory=dict)
    told: bool = False


class StorageSilence(Sign[StorageSilenceMemory]):
    """Tell that the job stands since a storage server no longer answers; a hiccup that passes is none."""

    name = "storage_silence"
    memory = StorageSilenceMemory

    def event(self, memory: StorageSilenceMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Read what nodes say of their servers."""
        if event.event == "attempt.started":
            memory.silent, memory.told = {}, False
        elif event.event == "log.line" and SILENT.search(event.text):
            if event.node in scene.attempt.participants.nodes:
                memory.silent.setdefault(event.node, event.time)
        elif event.node in memory.silent and event.event == "log.line" and BACK.search(event.text):
            del memory.silent[event.node]
        yield from ()

    def time(self, memory: StorageSilenceMemory, scene: Scene) -> Iterator[Seen]:
        """Look how long the job has stood since the first of these lines."""
        if not memory.silent or scene.attempt.ended is not None or scene.attempt.through is not None:
            return
        usual = _usual_step(scene)
        if scene.progress > max(memory.silent.values()) + usual:
            memory.silent, memory.told = {}, False  # it trains on: the word that all is well was lost
            return
        stood = scene.clock - max(scene.progress + usual, min(memory.silent.values()))
        if not memory.told and stood >= _patience(scene, usual, len(memory.silent)):
            memory.told = True
            yield self._seen(memory, scene)

    def _seen(self, memory: StorageSilenceMemory, scene: Scene) -> Seen:
        age, nodes = scene.clock - scene.progress, len(memory.silent)
        return Seen(
            sign=self.name,
            again=str(scene.step),
            onset_time=scene.progress,
            onset_step=scene.step,
            after=age,
            numbers={"nodes": float(nodes)},
            text=(
                f"no step for {amount('interval_seconds', age)} after {step_words(scene.step)}, and "
                f"{count(nodes, 'node')} of {len(set(scene.attempt.participants.nodes))} got no answer from storage"
            ),
            passes=3,
        )


def _patience(scene: Scene, usual: float, nodes: int) -> float:
    patience = max(SECONDS, STEPS * usual, PAUSES * scene.attempt.longest)
    lone = nodes == 1 < len(set(scene.attempt.participants.nodes))
    return patience * (IN_PHASE if scene.attempt.phases.open else 1.0) * (LONE if lone else 1.0)


def _usual_step(scene: Scene) -> float:
    """Seconds of a usual step; where none is known it may take as long as the job is waited for."""
    stalled = scene.attempt.stalled
    usual = float(stalled.typical[0]) if stalled is not None else float("nan")
    return usual if usual == usual else SECONDS
