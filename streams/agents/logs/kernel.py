"""Kernel lines of the NVIDIA driver: Xid and SXid errors, GPUs off the bus, slow PCIe links; and blocked tasks."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.gpu import pci_address
from streams.agents.logs.line import Line

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)(?: GPU-I:(\d{1,3}))?\): (\d+)(?:, (.*))?")
_WHO = re.compile(r"(?:pid=([^,]{0,40}), )?(?:name=([^,]*), )?")
_NOBODY = frozenset({"", "<unknown>", "N/A", "<n/a>"})
_SXID = re.compile(r"(nvidia-nvswitch\d+): SXid \(PCI:([0-9a-fA-F:.]+)\): (\d+), (.*)")
_OFF_BUS = re.compile(r"NVRM: (?:The NVIDIA )?GPU ([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.\d)?(.*)")
_NAME = re.compile(r"NVRM: GPU at PCI:([0-9a-fA-F:.]+): (GPU-[0-9a-zA-Z-]+)")
_PCIE = re.compile(r"pci ([0-9a-f:.]+): ([\d.]+) Gb/s available PCIe bandwidth, limited by .*?capable of ([\d.]+)")
_BLOCKED = re.compile(r"INFO: task (.+):(\d+) blocked for more than (\d+) seconds")
_MOST_LINES = 4


class Kernel:
    """Reads them through whatever wrapper; where the driver named a GPU by its address before, the event has its UUID.

    A GPU off the bus may be told over several lines: the first has the address, a later one says what happened.
    """

    needles = ("NVRM: ", "SXid (", "PCIe bandwidth, limited", "INFO: task ")

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._open: tuple[str, Line] | None = None
        self._lines = 0
        self._fell = False

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        text = line.text
        if found := _XID.search(text):
            return [self._xid(found, line)]
        if found := _NAME.search(text):
            self._names[pci_address(found[1])] = found[2]
            return []
        if found := _OFF_BUS.search(text):
            return self._gpu(found, line)
        if found := _SXID.search(text):
            return _switch(found, line)
        return _others(line)

    @property
    def is_open(self) -> bool:
        """Whether a record has begun."""
        return self._open is not None

    def goes_on(self, line: Line) -> bool:
        """Take a further line of the driver while it has not said what happened to the GPU."""
        self._lines += 1
        if self._open is None or self._fell or "NVRM:" not in line.text or "Xid" in line.text:
            return False
        self._fell = "fallen off the bus" in line.text
        return self._lines <= _MOST_LINES

    def complete(self) -> Sequence[Finding]:
        """Give the GPU that fell off the bus; a GPU that was only named is none."""
        opened, self._open = self._open, None
        return [self._off_bus(*opened)] if opened and self._fell else []

    def _gpu(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        if "fallen off the bus" in found[2]:
            return [self._off_bus(found[1], line)]
        self._open, self._lines, self._fell = (found[1], line), 0, False
        return []

    def _off_bus(self, address: str, line: Line) -> Happening:
        pci = pci_address(address)
        return Happening(
            event="gpu.off_bus",
            subject=self._names.get(pci, ""),
            data={"pci": pci},
            text="fallen off the bus and is not responding to commands",
            time=line.time,
        )

    def _xid(self, found: re.Match[str], line: Line) -> Happening:
        pci, rest = pci_address(found[1]), found[4] or ""
        data: dict[str, object] = {"code": int(found[3]), "pci": pci}
        if found[2]:
            data["instance"] = str(int(found[2]))
        who = _WHO.match(rest)
        if who and who[1] and who[1].isdecimal():
            data["pid"] = int(who[1])
        if who and who[2] and who[2] not in _NOBODY:
            data["process"] = who[2]
        if "Nonfatal" in rest or "Fatal" in rest:
            data["fatal"] = "Nonfatal" not in rest
        text = rest[who.end() :].strip().rstrip('"}') if who else rest
        return Happening(event="xid", subject=self._names.get(pci, ""), data=data, text=text, time=line.time)


def _switch(found: re.Match[str], line: Line) -> Sequence[Finding]:
    """Tell of a switch's error; the lines with its registers that follow are of the same."""
    detail = found[4]
    if detail.startswith(("Severity ", "Data ")):
        return []
    data: dict[str, str | bool] = {
        "code": f"SXid {found[3]}",
        "detail": detail,
        "healthy": False,
        "switch": found[1],
    }
    fatal = data["fatal"] = detail.startswith("Fatal")
    text = line.text.strip()
    told = Happening(event="node.condition", data=data, text=text, time=line.time)
    spoken = Happening(event="log.line", data={"level": "error", "rank": None}, text=text, time=line.time)
    return [told, spoken] if fatal else [told]


def _others(line: Line) -> Sequence[Finding] | None:
    if found := _PCIE.search(line.text):
        data = {"level": "info", "pci": found[1], "gigabits": float(found[2]), "capable": float(found[3])}
        return [Happening(event="log.line", data=data, text=line.text.strip(), time=line.time)]
    if found := _BLOCKED.search(line.text):
        data = {"level": "warning", "process": found[1], "pid": int(found[2]), "seconds": int(found[3])}
        return [Happening(event="log.line", data=data, text=line.text.strip(), time=line.time)]
    return None if "NVRM: Xid " in line.text or "SXid (" in line.text else []
