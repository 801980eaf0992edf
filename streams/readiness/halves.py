"""Weights and optimizer of a checkpoint, where its folder keeps them in files of their own."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

_OPTIMIZER = ("optim",)
_WEIGHTS = ("model", "weights", "consolidated", "adapter", ".safetensors")
_TEXTS = (".json", ".jsonl", ".txt", ".yaml", ".yml", ".md", ".py")


class Halves(Struct, frozen=True):
    """What of a checkpoint are weights and what is the optimizer's state.

    Attributes:
        weights: bytes.
        optimizer: bytes.
        apart: seconds from the last write of the optimizer's files to that of the weights'.
    """

    weights: int
    optimizer: int
    apart: float


def halves(root: Path, states: Mapping[Path, os.stat_result]) -> Halves | None:
    """Tell weights and optimizer apart by the names of files; None where one of them has no file of its own.

    Args:
        root: the folder of the checkpoint.
        states: its files.
    """
    found: dict[str, list[os.stat_result]] = {"weights": [], "optimizer": []}
    for file, state in states.items():
        if file.suffix not in _TEXTS and (kind := kind_of(file.relative_to(root).as_posix())):
            if kind == "both":
                return None
            found[kind].append(state)
    if not found["weights"] or not found["optimizer"]:
        return None
    weights, optimizer = found["weights"], found["optimizer"]
    return Halves(
        weights=sum(each.st_size for each in weights),
        optimizer=sum(each.st_size for each in optimizer),
        apart=max(each.st_mtime for each in weights) - max(each.st_mtime for each in optimizer),
    )


def kind_of(name: str) -> str:
    """Say what a file holds by its name; "" where the name does not say.

    >>> [kind_of(name) for name in ("model.safetensors", "optimizer.pt", "model_optim_rng.pt", "scheduler.pt")]
    ['weights', 'optimizer', 'both', '']
    """
    lower = name.lower()
    is_optimizer, is_weights = (any(word in lower for word in words) for words in (_OPTIMIZER, _WEIGHTS))
    if is_optimizer and is_weights:
        return "both"
    return "optimizer" if is_optimizer else "weights" if is_weights else ""
