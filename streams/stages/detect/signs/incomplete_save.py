"""A save whose shards are empty or short: files that exist are no checkpoint."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Event, as_count
from schemas.wording import count, step_words
from streams.stages.detect.signs.sign import Scene, Seen, Sign

ALIKE = 0.5
"""Share of the shards that have to be of one size before another size means anything."""


class IncompleteSaveMemory(Struct):
    """Nothing is kept: a save is judged by itself."""


class IncompleteSave(Sign[IncompleteSaveMemory]):
    """Hold every shard of a save against the size most of them have; the last one alone may be a smaller rest."""

    name = "incomplete_save"
    memory = IncompleteSaveMemory

    def event(self, memory: IncompleteSaveMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Judge the list of shards."""
        if event.event != "checkpoint.shards":
            return
        given = event.data.get("sizes")
        sizes = [size for one in (given if isinstance(given, list) else []) if (size := as_count(one)) is not None]
        empty, short = broken_shards(sizes)
        if not empty and not short:
            return
        step = as_count(event.data.get("step"))
        yield Seen(
            sign=self.name,
            again=str(step),
            onset_time=event.time,
            onset_step=step,
            before=float(len(sizes)),
            after=float(len(sizes) - empty - short),
            numbers={"empty": float(empty), "short": float(short), "shards": float(len(sizes))},
            text=(
                f"the save at {step_words(step)} is incomplete: of {count(len(sizes), 'shard')} "
                f"{empty} are empty and {short} are short"
            ),
        )


def broken_shards(sizes: list[int]) -> tuple[int, int]:
    """Count the empty and the short shards.

    >>> broken_shards([9, 9, 9, 0, 8, 9]), broken_shards([9, 9, 9, 4]), broken_shards([])
    ((1, 1), (0, 0), (0, 0))
    """
    empty = sum(size == 0 for size in sizes)
    full, times = Counter(size for size in sizes if size).most_common(1)[0] if any(sizes) else (0, 0)
    if times < ALIKE * len(sizes):
        return empty, 0
    short = [place for place, size in enumerate(sizes) if 0 < size < full]
    rest = short == [len(sizes) - 1] and not empty
    return empty, 0 if rest else len(short)
