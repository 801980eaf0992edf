"""A small dataset on disk with something to learn in it: rows of numbers and the class a hidden network gives them.

DIR/index.json            how many shards, rows, features and classes
DIR/shard-00000.bin       rows of float32: the features, then the class
"""

import shutil
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Rows = NDArray[np.float32]

_INDEX = "index.json"
_HIDDEN = 32


class Dataset(Struct, frozen=True, kw_only=True):
    """What the index says.

    Attributes:
        shards: how many files.
        rows: rows in each.
        features: numbers in a row beside its class.
        classes: how many there are.
        mistakes: share of rows with a class drawn by lot, so that the loss stays away from 0.
        seed: the same seed makes the same bytes.
    """

    shards: int = 64
    rows: int = 1024
    features: int = 255
    classes: int = 10
    mistakes: float = 0.2
    seed: int = 7

    @property
    def row_bytes(self) -> int:
        """Size of one row."""
        return 4 * (self.features + 1)


def shard_name(number: int) -> str:
    """Name a shard's file.

    >>> shard_name(3)
    'shard-00003.bin'
    """
    return f"shard-{number:05d}.bin"


def make_dataset(folder: Path, dataset: Dataset) -> None:
    """Write the shards, then the index: where there is an index, all shards are there."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(dataset.seed)
    inner = random.standard_normal((dataset.features, _HIDDEN)) / np.sqrt(dataset.features)
    outer = random.standard_normal((_HIDDEN, dataset.classes))
    for number in range(dataset.shards):
        features = random.standard_normal((dataset.rows, dataset.features))
        classes = np.argmax(np.tanh(2 * features @ inner) @ outer, axis=1)
        mistaken = random.random(dataset.rows) < dataset.mistakes
        classes = np.where(mistaken, random.integers(0, dataset.classes, dataset.rows), classes)
        rows = np.column_stack([features, classes]).astype(np.float32)
        (folder / shard_name(number)).write_bytes(rows.tobytes())
    (folder / _INDEX).write_bytes(msgspec.json.encode(dataset))


def read_index(raw: bytes) -> Dataset:
    """Read the bytes of an index.

    Raises:
        msgspec.DecodeError: they are none.
    """
    return msgspec.json.decode(raw, type=Dataset)


def copy_dataset(source: Path, folder: Path) -> None:
    """Lay a copy of all files into a folder, as a cache on the node does."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*sorted(source.glob("shard-*.bin")), source / _INDEX]:
        shutil.copyfile(path, folder / path.name)


def rows_from(raw: bytes, dataset: Dataset) -> Rows:
    """Read rows; shape (rows, features + 1), the last column is the class."""
    return np.frombuffer(raw, dtype=np.float32).reshape(-1, dataset.features + 1)
