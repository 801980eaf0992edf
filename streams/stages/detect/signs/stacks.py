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

OPERATION = re.compile(r"all_?reduce|all_?gather|reduce_?scatter|broadcast|barrier|all_?to_?all", re.I)
FEW = 0.125
"""Largest share of the ranks that may have gone astray: halves of a job in two collectives are two groups at work."""


class StacksMemory(Struct):
    """Nothing is kept: a summary is judged by itself."""


class Stacks(Sign[StacksMemory]):
    """Name the ranks of the smallest group that is not in a collective while most ranks are, or in another one."""

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
        odd = odd or list(_astray(groups, sizes))
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


def _astray(groups: list[dict[str, object]], sizes: list[int]) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Give the few that wait in another collective than all others, who are in the same."""
    most = operations(str(groups[sizes.index(max(sizes))].get("where", ""))) if groups else set()
    others = [(one, size) for one, size in zip(groups, sizes, strict=True) if size < max(sizes)]
    if len(others) != 1 or not most:
        return
    [(group, size)] = others
    where = str(group.get("where", ""))
    if 0 < size <= FEW * sum(sizes) and operations(where) and not most & operations(where):
        yield size, where, _ranks(group)


def operations(where: str) -> set[str]:
    """Name the collectives that a place tells of; sends and receives between stages are none.

    >>> operations("nccl all_reduce / barrier") == {"allreduce", "barrier"}, operations("send")
    (True, set())
    """
    return {found.lower().replace("_", "") for found in OPERATION.findall(where)}


def _ranks(group: dict[str, object]) -> tuple[int, ...]:
    given = group.get("ranks")
    ranks = [as_count(one) for one in (given if isinstance(given, list) else [])]
    return tuple(sorted(rank for rank in ranks if rank is not None))
