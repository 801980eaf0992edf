"""Dumps of PyTorch's flight recorder: where a rank stands in the collectives of its groups when they timed out."""

import json
import re
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Any

from streams.agents.finding import Finding, Happening
from streams.agents.plain_pickle import load

_MOST_BYTES = 64 << 20
_RANK = re.compile(r"(\d+)(?:\.\w+)?$")
Dump = Any  # what a dump holds: dicts, lists, strings, numbers


class FlightRecorder:
    """Reads the dumps that are new; those that are there at the first look are history.

    Args:
        pattern: of the dumps' paths; a rank's number stands at the end of its file's name.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._known = {(path, changed) for path, changed in self._present()}

    def __call__(self) -> Sequence[Finding]:
        """Look once; a dump that is still being written is read at a later look."""
        findings: list[Finding] = []
        for path, changed in self._present():
            if (path, changed) in self._known:
                continue
            try:
                findings += states(read(path), rank_of(path))
            except ValueError:
                continue  # half of it; it changes once more
            self._known.add((path, changed))
        return findings

    def _present(self) -> Iterator[tuple[Path, float]]:
        for path in sorted(map(Path, glob(self._pattern))):
            try:
                state = path.stat()
            except OSError:
                continue
            if 0 < state.st_size <= _MOST_BYTES:
                yield path, state.st_mtime


def rank_of(path: Path) -> int | None:
    """Read the rank off a name.

    >>> rank_of(Path("/tmp/nccl_trace_rank_7")), rank_of(Path("dump12.json")), rank_of(Path("dump"))
    (7, 12, None)
    """
    found = _RANK.search(path.name)
    return int(found[1]) if found else None


def read(path: Path) -> Dump:
    """Read a dump, pickle or JSON.

    Raises:
        ValueError: it is neither, not whole, or holds more than plain data.
    """
    raw = path.read_bytes()
    try:
        return json.loads(raw) if raw[:1] == b"{" else load(raw)
    except (ValueError, RecursionError) as fault:  # JSON may be nested without end
        raise ValueError(f"no dump: {fault}") from None


def states(dump: Dump, rank: int | None) -> Iterator[Happening]:
    """Say of every group how far this rank came, and which collective it did not complete."""
    if not isinstance(dump, dict):
        return
    status, config = dump.get("pg_status"), dump.get("pg_config")
    listed = dump.get("entries")
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    for group, reached in (status if isinstance(status, dict) else {}).items():
        if not isinstance(reached, dict):
            continue
        named = (config or {}).get(group) if isinstance(config, dict) else None
        named = named if isinstance(named, dict) else {}
        hanging = _first_hanging(entries, group)
        data = {
            "rank": rank,
            "group": _word(named.get("desc")) or _word(named.get("name")) or str(group),
            "last_enqueued": _whole(reached.get("last_enqueued_collective")),
            "last_started": _whole(reached.get("last_started_collective")),
            "last_completed": _whole(reached.get("last_completed_collective")),
            "op": _word(hanging.get("profiling_name")),
            "seq": _whole(hanging.get("collective_seq_id")),
            "state": _word(hanging.get("state")) or "completed",
        }
        text = (
            f"rank {rank} completed {data['last_completed']} of {data['last_enqueued']} collectives of {data['group']}"
        )
        yield Happening(event="nccl.state", data=data, text=text)


def _first_hanging(entries: Sequence[dict[str, Any]], group: object) -> dict[str, Any]:
    ours = (each for each in entries if _word(each.get("pg_id")) == str(group) and each.get("state") != "completed")
    return min(ours, key=lambda each: _whole(each.get("collective_seq_id")) or 0, default={})


def _word(value: object) -> str:
    """Give a name or a number as text, and nothing of what is built of others: that may print without end."""
    return str(value) if isinstance(value, str | int) else ""


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and abs(value) <= 1 << 53 else None
