"""Collectives that gave up: PyTorch's watchdog in the spellings of its versions."""

import re
from collections.abc import Sequence
from typing import Any

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line
from streams.agents.logs.nccl_network import network

_TIMEOUT = re.compile(
    r"\[Rank (\d+)\] Watchdog caught collective operation timeout: WorkNCCL\((?:SeqNum=(\d+), )?OpType=(\w+)"
    r"(?:, NumelIn=(\d+), NumelOut=(\d+)|, TensorShape=[^)]{0,400}?)?"
    r", Timeout\(ms\)=(\d+)\) ran for (\d+) milliseconds"
)
_STATUS = re.compile(
    r"\[PG (?:ID )?(?P<id>\d+)(?: PG GUID (?P<guid>[^ ]+)| \([^)]{0,80}\))? Rank (?P<rank>\d+)\] +"
    r"(?:Timeout at NCCL work|Exception \(either an error or timeout\) detected by watchdog at work"
    r"|failure detected by watchdog at work sequence id): (?P<seq>\d+)"
    r".*?last enqueued (?:NCCL )?work: (?P<enqueued>-?\d+), last completed (?:NCCL )?work: (?P<completed>-?\d+)"
)
_DIED = re.compile(r"watchdog thread terminated with exception: (?!\[Rank )(\S.{0,500})")
_STUCK = re.compile(r"Rank (\d+)\] ProcessGroupNCCL's watchdog got stuck for (\d+) seconds")
_GLOBAL = re.compile(r"\[rank(\d{1,7})\]:\[[EWIF]")
"""The rank in the whole job, which versions from 2.2 on print first; what follows `Rank` counts within its group."""
_KNOWN = ("Some NCCL operations have failed", "To avoid data inconsistency", "ProcessGroupNCCL", "HeartbeatMonitor")
_LARGEST_SIZE = 1 << 53
"""Elements; several collectives in one have no size, and print the largest number there is."""


class Nccl:
    """Reads them; a time-out and the status after it from the same rank are one event, however often repeated."""

    needles = (
        "ProcessGroupNCCL",
        "Watchdog caught",
        "NCCL WARN",
        "NCCL operations",
        "NCCL work",
        "[PG ",
        "To avoid data",
    )

    def __init__(self) -> None:
        self._open: dict[int | None, Happening] = {}
        self._told: dict[int | None, tuple[object, ...]] = {}
        self._status_told: dict[int | None, tuple[object, ...]] = {}

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _TIMEOUT.search(line.text):
            return self._timeout(found, line)
        if found := _STATUS.search(line.text):
            return self._status(found, line)
        if found := _DIED.search(line.text):
            data = {"rank": _rank(line, line.rank), "error": found[1].strip()}
            return [Happening(event="rank.error", data=data, text=line.text.strip(), time=line.time)]
        if found := _STUCK.search(line.text):
            data = {"level": "error", "rank": _rank(line, found[1]), "seconds": int(found[2]), "what": "watchdog stuck"}
            return [Happening(event="log.line", data=data, text=line.text.strip(), time=line.time)]
        if "NCCL WARN" in line.text:
            return network(line)
        return [] if any(word in line.text for word in _KNOWN) else None

    def flush(self) -> Sequence[Finding]:
        """Give the time-outs that no status followed."""
        left, self._open = list(self._open.values()), {}
        return left

    def _timeout(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        """Take a time-out; the thread that dies of it, and the process, print it again."""
        rank = _rank(line, found[1]) if found[4] else int(found[1])
        if self._told.get(rank) == found.groups():
            return []
        self._told[rank] = found.groups()
        data: dict[str, Any] = {"rank": rank}  # Any: numbers and words
        if found[2]:  # versions before 2.0 number nothing
            data["seq"] = int(found[2])
        data |= {"op": found[3], "ran_ms": int(found[7]), "limit_ms": int(found[6])}
        if found[4] and max(int(found[4]), int(found[5])) < _LARGEST_SIZE:
            data |= {"numel_in": int(found[4]), "numel_out": int(found[5])}
        before = self._open.pop(rank, None)
        self._open[rank] = Happening(event="nccl.timeout", data=data, text=line.text.strip(), time=line.time)
        return [before] if before else []

    def _status(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        """Take a status; one version prints the same in two spellings."""
        rank, seq = _rank(line, found["rank"]), int(found["seq"])
        status = {
            "group": found["guid"] or found["id"],
            "last_enqueued": int(found["enqueued"]),
            "last_completed": int(found["completed"]),
        }
        opened, said = self._open.pop(rank, None), (seq, *status.values())
        repeated, self._status_told[rank] = self._status_told.get(rank) == said, said
        if opened is None and repeated:
            return []
        if opened is None or opened.data.get("seq") != seq:
            data = {"rank": rank, "seq": seq, **status}
            told = Happening(event="nccl.timeout", data=data, text=line.text.strip(), time=line.time)
            return [each for each in (opened, told) if each]
        return [
            Happening(event="nccl.timeout", data={**opened.data, **status}, text=opened.text, time=opened.time),
        ]


def _rank(line: Line, named: str | int | None) -> int | None:
    """Give the rank in the whole job, else the one that is named."""
    found = _GLOBAL.search(line.text, 0, 400)
    return int(found[1]) if found else None if named is None else int(named)
