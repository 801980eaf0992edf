"""Yardstick C: the NAB score of `trainmaster detect --scores`, standard and low-FP profile, one threshold for all."""

import csv
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
from msgspec import Struct

from bench.command import main_on
from bench.peers import WindowedGaussian
from bench.table import Table
from detectors.base import Floats
from streams.detecting import Series, detect

THRESHOLD = 0.5
"""What `detect` itself calls an alarm."""


class File(Struct, frozen=True):
    """One file of the collection: its values, and its windows as (first row, last row)."""

    name: str
    values: Floats
    windows: tuple[tuple[int, int], ...]


class Profile(Struct, frozen=True):
    """What a false alarm and a missed window cost."""

    false: float = 0.11
    missed: float = 1.0


STANDARD, LOW_FP, LOW_FN = Profile(), Profile(false=0.22), Profile(missed=2.0)


def files(folder: Path) -> list[File]:
    """Read the collection."""
    windows = json.loads((folder / "labels/combined_windows.json").read_text(encoding="utf-8"))
    return [_file(path, windows) for path in sorted(folder.glob("data/*/*.csv"))]


def _file(path: Path, windows: dict[str, list[list[str]]]) -> File:
    name = f"{path.parent.name}/{path.name}"
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    times = np.array([_seconds(row["timestamp"]) for row in rows])
    spans = []
    for begin, end in windows.get(name, []):
        inside = np.flatnonzero((times >= _seconds(begin)) & (times <= _seconds(end)))
        spans.append((int(inside[0]), int(inside[-1])))
    return File(name, np.array([float(row["value"]) for row in rows]), tuple(spans))


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text[:19] + "+00:00").timestamp()


def worth(distance: float) -> float:
    """Say what an alarm is worth by its distance behind the end of a window, in window lengths: 1 early, -1 late."""
    return -1.0 if distance > 3 else float(2 / (1 + np.exp(5 * distance)) - 1)


def file_score(file: File, scores: Floats, threshold: float, profile: Profile) -> float:
    """Add up one file: the best alarm of each window, less what missed windows and false alarms cost."""
    first = min(int(0.15 * file.values.size), 750)
    alarms = [int(row) for row in np.flatnonzero(scores >= threshold) if row >= first]
    total = 0.0
    for begin, end in file.windows:
        inside = [worth(-(end - row + 1) / (end - begin + 1)) for row in alarms if begin <= row <= end]
        total += max(inside) / worth(-1.0) if inside else -profile.missed
    for row in alarms:
        if not any(begin <= row <= end for begin, end in file.windows):
            total += profile.false * _outside(file, row)
    return total


def _outside(file: File, row: int) -> float:
    before = [(begin, end) for begin, end in file.windows if end < row]
    if not before:
        return -1.0
    begin, end = before[-1]
    return worth((row - end) / max(end - begin, 1))


def nab_score(of: list[File], scores: dict[str, Floats], threshold: float, profile: Profile) -> float:
    """Give the score of the collection: 0 for saying nothing, 100 for a prompt alarm in each window and none else."""
    windows = sum(len(file.windows) for file in of)
    total = sum(file_score(file, scores[file.name], threshold, profile) for file in of)
    return 100 * (total + profile.missed * windows) / ((1 + profile.missed) * windows)


def best(of: list[File], scores: dict[str, Floats], profile: Profile) -> float:
    """Give the score with the best single threshold, as published figures have it."""
    graded = np.concatenate([one[one > 0] for one in scores.values()])
    thresholds = np.unique(np.quantile(graded, np.concatenate((np.linspace(0, 0.99, 60), np.linspace(0.99, 1, 40)))))
    return max(nab_score(of, scores, float(threshold), profile) for threshold in thresholds)


def ours(file: File) -> Floats:
    """Grade a file as the command does."""
    said = detect(Series(("value",), [[value] for value in file.values.tolist()]))
    return np.array(said["value"].scores)


def run(data: Path) -> Table:
    """Score ours at its own threshold and at the best one, and the plainest peer at its best."""
    of = files(data / "nab")
    graders: dict[str, Callable[[File], Floats]] = {
        "detect --scores": ours,
        "windowed Gaussian": lambda file: WindowedGaussian().scores(file.values),
    }
    rows: list[tuple[str | float | int, ...]] = []
    for name, grade in graders.items():
        scores = {file.name: grade(file) for file in of}
        profiles = (STANDARD, LOW_FP, LOW_FN)
        if name == "detect --scores":
            rows.append((f"{name}, at 0.5", *(nab_score(of, scores, THRESHOLD, one) for one in profiles)))
        rows.append((f"{name}, best threshold", *(best(of, scores, one) for one in profiles)))
    what = f"NAB score on {len(of)} visible files, one threshold for all, strictly online"
    return Table("streaming_anomalies", what, ("scores", "standard", "low FP", "low FN"), tuple(rows))


if __name__ == "__main__":
    main_on(run)
