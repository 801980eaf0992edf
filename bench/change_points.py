"""Yardstick B: F1 and covering on annotated series (TCPD), one setting for all, only the past seen."""

import itertools
import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from msgspec import Struct

from bench.command import main_on
from bench.peers import binary_segmentation, online_alarms, river
from bench.table import Table
from detectors.base import Floats
from streams.detecting import Series, detect

MARGIN = 5
PUBLISHED = (
    ("published: saying nothing", 0.668, 0.575),
    ("published: BOCPD, causal", 0.641, 0.584),
    ("published: binary segmentation, offline", 0.738, 0.693),
)

Annotations = dict[str, list[int]]
Points = Callable[[Floats], Iterable[int]]


class Annotated(Struct, frozen=True):
    """A series, shape (rows, columns), standardised, and what each annotator marked."""

    name: str
    rows: Floats
    marked: Annotations


def collection(folder: Path) -> list[Annotated]:
    """Read the series that are there."""
    marked = json.loads((folder / "annotations.json").read_text(encoding="utf-8"))
    found = []
    for path in sorted(folder.glob("datasets/*/*.json")):
        columns = [one["raw"] for one in json.loads(path.read_text(encoding="utf-8"))["series"]]
        rows = np.array([[np.nan if x is None else float(x) for x in column] for column in columns]).T
        spread = np.nanstd(rows, axis=0)
        rows = (rows - np.nanmean(rows, axis=0)) / np.where(spread > 0, spread, 1.0)
        found.append(Annotated(path.stem, rows, marked[path.stem]))
    return found


def _hits(truth: set[int], said: set[int]) -> int:
    free, hits = set(said), 0
    for point in sorted(truth):
        near = sorted((abs(one - point), one) for one in free if abs(one - point) <= MARGIN)
        if near:
            free.discard(near[0][1])
            hits += 1
    return hits


def f1(marked: Annotations, points: Iterable[int]) -> float:
    """Harmonic mean of precision against all annotators and mean recall of each; every series begins at 0."""
    said = {*points, 0}
    annotators = [{*one, 0} for one in marked.values()]
    precision = _hits(set().union(*annotators), said) / len(said)
    recall = float(np.mean([_hits(one, said) / len(one) for one in annotators]))
    return 2 * precision * recall / (precision + recall)


def _segments(points: Iterable[int], rows: int) -> list[tuple[int, int]]:
    cuts = [*sorted({0, *(point for point in points if 0 < point < rows)}), rows]
    return list(itertools.pairwise(cuts))


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    common = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return common / (max(one[1], other[1]) - min(one[0], other[0])) if common else 0.0


def covering(marked: Annotations, points: Iterable[int], rows: int) -> float:
    """Mean over annotators of how well their segments are covered by those said, weighted by length."""
    said = _segments(points, rows)
    covers = []
    for one in marked.values():
        best = [(end - begin) * max(_overlap((begin, end), s) for s in said) for begin, end in _segments(one, rows)]
        covers.append(sum(best) / rows)
    return float(np.mean(covers))


def ours(field: str, detectors: tuple[str, ...] = ()) -> Points:
    """Take the alarms of `detect`, at the row they were raised in or the row they are dated to."""

    def points(column: Floats) -> list[int]:
        series = Series(("x",), [[None if np.isnan(x) else float(x)] for x in column])
        return [int(alarm[field]) for alarm in detect(series, detectors)["x"].alarms]

    return points


def scored(of: list[Annotated], points: Points) -> tuple[float, float]:
    """Mean F1 and covering; the points of several columns are put together."""
    results = []
    for one in of:
        said = [point for column in one.rows.T for point in points(column)]
        results.append((f1(one.marked, said), covering(one.marked, said, len(one.rows))))
    means = np.mean(results, axis=0)
    return float(means[0]), float(means[1])


def run(data: Path) -> Table:
    """Score ours by onset and by alarm, and the peers that are installed."""
    of = collection(data / "tcpd")
    methods: dict[str, Points | None] = {
        "detect, onset": ours("onset"),
        "detect, row of the alarm": ours("index"),
        "saying nothing": lambda _: [],
        "ruptures binary segmentation, offline": binary_segmentation,
    }
    for name in ("ADWIN", "PageHinkley"):
        made = river("drift", name)
        methods[f"river {name}"] = partial(online_alarms, made) if made else None
    rows: list[tuple[str | float | int, ...]] = [
        (name, *(scored(of, points) if points else ("not installed", "not installed")))
        for name, points in methods.items()
    ]
    columns = ("method", "F1", "covering")
    return Table("change_points", f"TCPD, {len(of)} visible series, margin {MARGIN}", columns, (*rows, *PUBLISHED))


if __name__ == "__main__":
    main_on(run)
