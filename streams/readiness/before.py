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


class _Record(Struct):
    """One file: what a node kept of an attempt."""

    job: str
    node: str
    attempt: int
    kept: Kept


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
        own = self._record(self._file)
        others = (self._record(file) for file in self._others())
        before = [one for one in others if one is not None and one.attempt < self._attempt]
        known = [*before, *([own] if own is not None else [])]  # of two that are as late its own, which comes last
        return sorted(known, key=lambda one: one.attempt)[-1].kept if known else None

    def read_own(self) -> Kept | None:
        """Give what this node kept; None where it kept nothing."""
        own = self._record(self._file)
        return None if own is None else own.kept

    def write(self, kept: Kept) -> None:
        """Keep it.

        Raises:
            OSError: it cannot be written.
        """
        record = _Record(self.job, self._node, self._attempt, kept)
        write_whole(self._file, json.dumps(msgspec.to_builtins(record), sort_keys=True).encode())

    def _others(self) -> Iterator[Path]:
        return (file for file in sorted(self._folder.glob(f"{self._name}-*.json")) if file != self._file)

    def _record(self, file: Path) -> _Record | None:
        """Read one file; None where it is not there, cannot be read, or is another job's."""
        try:
            record = msgspec.convert(json.loads(file.read_bytes()), _Record)
        except (OSError, ValueError, RecursionError, msgspec.ValidationError):
            return None
        return record if record.job == self.job else None


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
