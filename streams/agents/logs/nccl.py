"""Collectives that gave up: PyTorch's watchdog in its three spellings, and what NCCL says of the network."""

import re
from collections.abc import Sequence
from typing import Any

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_TIMEOUT = re.compile(
    r"\[Rank (\d+)\] Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d+), OpType=(\w+)"
    r"(?:, NumelIn=(\d+), NumelOut=(\d+))?, Timeout\(ms\)=(\d+)\) ran for (\d+) milliseconds"
)
_STATUS = re.compile(
    r"\[PG (?:ID )?(?P<id>\d+)(?: PG GUID (?P<guid>[^ ]+))? Rank (?P<rank>\d+)\] +"
    r"(?:Timeout at NCCL work|Exception \(either an error or timeout\) detected by watchdog at work"
    r"|failure detected by watchdog at work sequence id): (?P<seq>\d+)"
    r".*?last enqueued (?:NCCL )?work: (?P<enqueued>-?\d+), last completed (?:NCCL )?work: (?P<completed>-?\d+)"
)
_STUCK = re.compile(r"Rank (\d+)\] ProcessGroupNCCL's watchdog got stuck for (\d+) seconds")
_COMPLETION = re.compile(
    r"NET/IB ?: Got completion (?:from peer (\S+) )?with (?:status=|error )(\d+),? opcode[ =]\d+,? len[ =]\d+,? "
    r"vendor err (\d+)(?:.*?hca (\S+))?"
)
_PORT = re.compile(r"NET/IB ?: (?:(\S+?):\d+ )?Got async event ?: (port error[^\n]*|.*)")
_CLOSED = re.compile(r"NCCL WARN .*?(Connection closed by remote peer)(?: (\S+))?")
_KNOWN = ("Some NCCL operations have failed", "To avoid data inconsistency", "ProcessGroupNCCL")


class Nccl:
    """Reads them; a time-out and the status that follows it from the same rank are one event."""

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
        self._open: dict[int, Happening] = {}

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _TIMEOUT.search(line.text):
            return self._timeout(found, line)
        if found := _STATUS.search(line.text):
            return self._status(found, line)
        if found := _STUCK.search(line.text):
            data = {"level": "error", "rank": int(found[1]), "seconds": int(found[2]), "what": "watchdog stuck"}
            return [Happening(event="log.line", data=data, text=line.text.strip(), time=line.time)]
        if "NCCL WARN" in line.text:
            return _network(line)
        return [] if any(word in line.text for word in _KNOWN) else None

    def flush(self) -> Sequence[Finding]:
        """Give the time-outs that no status followed."""
        left, self._open = list(self._open.values()), {}
        return left

    def _timeout(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        rank = int(found[1])
        data: dict[str, Any] = {  # Any: numbers and words
            "rank": rank,
            "seq": int(found[2]),
            "op": found[3],
            "ran_ms": int(found[7]),
            "limit_ms": int(found[6]),
        }
        if found[4]:
            data |= {"numel_in": int(found[4]), "numel_out": int(found[5])}
        before = self._open.pop(rank, None)
        self._open[rank] = Happening(event="nccl.timeout", data=data, text=line.text.strip(), time=line.time)
        return [before] if before else []

    def _status(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        rank, seq = int(found["rank"]), int(found["seq"])
        status = {
            "group": found["guid"] or found["id"],
            "last_enqueued": int(found["enqueued"]),
            "last_completed": int(found["completed"]),
        }
        opened = self._open.pop(rank, None)
        if opened is None or opened.data["seq"] != seq:
            data = {"rank": rank, "seq": seq, **status}
            told = Happening(event="nccl.timeout", data=data, text=line.text.strip(), time=line.time)
            return [each for each in (opened, told) if each]
        return [
            Happening(event="nccl.timeout", data={**opened.data, **status}, text=opened.text, time=opened.time),
        ]


def _network(line: Line) -> Sequence[Finding]:
    text = line.text
    if found := _COMPLETION.search(text):
        data = {"status": int(found[2]), "vendor_err": int(found[3]), "peer": found[1] or "", "hca": found[4] or ""}
        return [Happening(event="nccl.error", data=data, text=text.strip(), time=line.time)]
    if found := _PORT.search(text):
        return [Happening(event="nccl.port_error", data={"hca": found[1] or ""}, text=text.strip(), time=line.time)]
    if found := _CLOSED.search(text):
        data = {"status": "closed", "peer": found[2] or ""}
        return [Happening(event="nccl.error", data=data, text=text.strip(), time=line.time)]
    data = {"level": "warning", "rank": line.rank}
    return [Happening(event="log.line", data=data, text=text.strip(), time=line.time)]
