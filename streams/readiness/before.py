"""What a preflight keeps of an attempt for the next one, in a folder that nodes may share."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from streams.agents.whole_file import write_whole

Kept = dict[str, Any]  # Any: what was kept


_KEPT = 3
"""Attempts of which a node keeps what they had: another node may look for the one before when this one has begun."""


class _Attempt(Struct):
    """What an attempt had."""

    attempt: int
    kept: Kept


class _Record(Struct):
    """One file: what a node kept of its last attempts, the latest last."""

    job: str
    node: str
    attempts: list[_Attempt]


class Before:
    """One file per job, node and kind.

    Every node of a job looks before every attempt. Where they share the folder, the first to look must not become the
    attempt before for all others: a node compares with what it kept itself or, where another one kept something of a
    later attempt that is still before this one, with that.

    Args:
        folder: where they are.
        job: the job.
        kind: what is kept.
        node: this node.
        attempt: the start number of the attempt that is about to begin.
    """

    def __init__(self, folder: Path, job: str, kind: str, node: str, attempt: int) -> None:
        self.job, self._node, self._attempt = job, node, attempt
        self._folder, self._name = folder, f"{kind}-{_hash(job)}"
        self._file = folder / f"{self._name}-{_hash(node)}.json"

    def read(self) -> Kept | None:
        """Give what was kept of the attempt before, by this node or another; None where nothing was."""
        own = self._attempts(self._file)[-1:]
        others = [one for file in self._others() for one in self._attempts(file) if one.attempt < self._attempt]
        known = sorted([*others, *own], key=lambda one: one.attempt)  # of those as late its own comes last
        return known[-1].kept if known else None

    def read_own(self) -> Kept | None:
        """Give what this node kept; None where it kept nothing."""
        own = self._attempts(self._file)
        return own[-1].kept if own else None

    def write(self, kept: Kept) -> None:
        """Keep it.

        Raises:
            OSError: it cannot be written.
        """
        earlier = [one for one in self._attempts(self._file) if one.attempt != self._attempt]
        attempts = [*earlier, _Attempt(self._attempt, kept)][-_KEPT:]
        record = _Record(self.job, self._node, attempts)
        write_whole(self._file, json.dumps(msgspec.to_builtins(record), sort_keys=True).encode())

    def _others(self) -> Iterator[Path]:
        return (file for file in sorted(self._folder.glob(f"{self._name}-*.json")) if file != self._file)

    def _attempts(self, file: Path) -> list[_Attempt]:
        """Read one file; nothing where it is not there, cannot be read, or is another job's."""
        try:
            record = msgspec.convert(json.loads(file.read_bytes()), _Record)
        except (OSError, ValueError, RecursionError, msgspec.ValidationError):
            return []
        return record.attempts if record.job == self.job else []


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
