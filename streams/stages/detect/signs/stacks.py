"""Stack dumps of all ranks: nearly everybody waits in a collective, and a few stand elsewhere."""

import re
from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Event, as_count
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

COLLECTIVE = re.compile(r"nccl|all_?reduce|all_?gather|reduce_?scatter|broadcast|barrier|\bsend\b|\brecv\b", re.I)
PLACES = (
    ("loader", re.compile(r"loader|dataset|queue|fetch|collate|prefetch", re.I)),
    ("checkpoint", re.compile(r"checkpoint|save|serializ|upload", re.I)),
    ("collective", COLLECTIVE),
)
"""What a group is doing, by the first expression that fits where it stands."""


class StacksMemory(Struct):
    """Nothing is kept: a summary is judged by itself."""


class Stacks(Sign[StacksMemory]):
    """Name the ranks of the smallest group that is not in a collective while most ranks are."""

    name = "stacks"
    memory = StacksMemory

    def event(self, memory: StacksMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Judge one summary."""
        if event.event != "stack.summary":
            return
        given = event.data.get("groups")
        groups = [one for one in (given if isinstance(given, list) else []) if isinstance(one, dict)]
        sizes = [as_count(one.get("count")) or 0 for one in groups]
        odd = [
            (size, str(one.get("where", "")), _ranks(one))
            for one, size in zip(groups, sizes, strict=True)
            if 0 < 2 * size < sum(sizes) and place_of(str(one.get("where", ""))) != "collective"
        ]
        if not odd:
            return
        size, where, ranks = min(odd)
        yield Seen(
            sign=self.name,
            part=place_of(where),
            onset_time=min(scene.progress, event.time),
            onset_step=scene.step,
            ranks=ranks,
            nodes=tuple(sorted({scene.node_of(rank) for rank in ranks} - {""})),
            gpus=tuple(gpu for rank in ranks if (gpu := scene.gpu_of(rank))),
            numbers={"ranks": float(size), "of": float(sum(sizes))},
            text=f"{count(size, 'rank')} of {sum(sizes)} in {where}: {', '.join(map(str, ranks[:4])) or 'not named'}",
            passes=20,
        )


def place_of(where: str) -> str:
    """Say in one word what a group is doing.

    >>> place_of("validation loader queue get"), place_of("nccl all_reduce / broadcast"), place_of("?")
    ('loader', 'collective', 'other')
    """
    return next((name for name, pattern in PLACES if pattern.search(where)), "other")


def _ranks(group: dict[str, object]) -> tuple[int, ...]:
    given = group.get("ranks")
    ranks = [as_count(one) for one in (given if isinstance(given, list) else [])]
    return tuple(sorted(rank for rank in ranks if rank is not None))
