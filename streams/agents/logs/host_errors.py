"""Errors of a host's own parts as the kernel prints them: memory, processors, disks, PCIe, heat, lockups."""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line


class _Kind(Struct, frozen=True):
    """One kind of line; its first group, where it has one, is the part at fault."""

    what: str
    pattern: re.Pattern[str]
    level: Literal["error", "warning", "info"] = "error"


_KINDS = (
    _Kind("memory error", re.compile(r"EDAC (?:\w+ )?MC\d+: \d+ UE (?:.{0,200}? )?on (?:any memory|(\S+))")),
    _Kind("memory error", re.compile(r"Memory failure: 0x[0-9a-f]+: Killing ")),
    _Kind("machine check", re.compile(r"mce: \[Hardware Error\]: CPU \d+: Machine Check Exception")),
    _Kind("hardware error", re.compile(r"\[Hardware Error\]: event severity: (?:recoverable|fatal)")),
    _Kind("disk", re.compile(r"nvme (nvme\d+): (?:I/O .{0,80}?QID \d+ timeout|controller is down)")),
    _Kind("disk", re.compile(r"(?:I/O error|critical (?:medium|target|space allocation) error), dev (\w[\w-]*)")),
    _Kind("disk", re.compile(r"Buffer I/O error on (?:dev|device) (\w[\w-]*)")),
    _Kind(
        "disk", re.compile(r"EXT4-fs error \(device ([\w-]+)\)|EXT4-fs \(([\w-]+)\): Remounting filesystem read-only")
    ),
    _Kind("disk", re.compile(r"XFS \(([\w-]+)\): (?:metadata I/O error|Corruption|.{0,80}?Shutting down filesystem)")),
    _Kind("PCIe", re.compile(r"([0-9a-f:.]{7,16}): PCIe Bus Error: severity=Uncorrected")),
    _Kind("lockup", re.compile(r"BUG: soft lockup - |Watchdog detected hard LOCKUP")),
    _Kind("heat", re.compile(r"(CPU\d+): (?:Core|Package) temperature above threshold"), "warning"),
    _Kind("heat", re.compile(r"(CPU\d+): (?:Core|Package) temperature/speed normal"), "info"),
)
_NO_STORAGE = re.compile(r"(?:fd|sr|loop|ram|zram)\d+")
"""Drives of removable media and files: what they report is of no account to a run."""


class HostErrors:
    """Reads them; what the hardware corrected by itself is no error, nor is a line that only announces another."""

    needles = (
        "EDAC MC",
        "EDAC i",
        "EDAC s",
        "Memory failure: 0x",
        "PCIe Bus Error",
        "[Hardware Error]",
        "QID ",
        "CSTS=",
        "I/O error",
        "(READ)",
        "(WRITE)",
        "EXT4-fs ",
        "Shutting down filesystem",
        "CPU#",
        "LOCKUP",
        "(total events",
        "/speed normal",
    )

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        for kind in _KINDS:
            if found := kind.pattern.search(line.text):
                part = next((group for group in found.groups() if group), "")
                if kind.what == "disk" and _NO_STORAGE.match(part):
                    return []
                return [_told(kind, part, line, found.start())]
        return []


def _told(kind: _Kind, part: str, line: Line, begin: int) -> Happening:
    """Heat is no machine check, whoever prints it: its words begin at the processor."""
    text = line.text[begin:] if kind.what == "heat" else line.text
    data = {"level": kind.level, "rank": None, "what": kind.what, "device": part}
    return Happening(event="log.line", data=data, text=text.strip(), time=line.time)
