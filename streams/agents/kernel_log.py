"""The kernel's own log: Xid errors, GPUs off the bus, killed and blocked processes, as the kernel prints them."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
from msgspec.structs import replace

from streams.agents.finding import Finding, Happening
from streams.agents.logs.reader import LogReader
from streams.clock import local_zone, unix_seconds

DEVICE = Path("/dev/kmsg")
_RECORD_BYTES = 8192
_MOST_RECORDS = 2000


class KernelLog:
    """Reads what the kernel printed since the look before; what was there before the first is history.

    Args:
        device: where the kernel gives its records.
        names: gives the UUIDs of the node's GPUs by address, for the kernel knows addresses alone.
    """

    def __init__(self, device: Path = DEVICE, names: Callable[[], Mapping[str, str]] = dict) -> None:
        self._device, self._file, self._names = device, -1, names
        self._reader = LogReader(local_zone(), psutil.boot_time())

    def __call__(self) -> Sequence[Finding]:
        """Look once.

        Raises:
            OSError: this process may not read the kernel's log.
        """
        if self._file < 0:
            self._file = os.open(self._device, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._file, 0, os.SEEK_END)
        findings: list[Finding] = []
        for _ in range(_MOST_RECORDS):
            record = self._next()
            if not record:
                findings += self._reader.flush()
                break
            findings += self._reader.feed(printed(record), unix_seconds())
        names = self._names() if findings else {}
        return [_named(finding, names) for finding in findings]

    def _next(self) -> bytes:
        try:
            return os.read(self._file, _RECORD_BYTES)
        except BlockingIOError:
            return b""
        except BrokenPipeError:
            return self._next()  # records were overwritten before they were read; the next one is there


def _named(finding: Finding, names: Mapping[str, str]) -> Finding:
    if isinstance(finding, Happening) and not finding.subject and (uuid := names.get(finding.data.get("pci", ""))):
        return replace(finding, subject=uuid)
    return finding


def printed(record: bytes) -> bytes:
    r"""Write a record as the kernel prints it: `PRIORITY,NUMBER,MICROSECONDS,...;TEXT`, then lines that begin blank.

    >>> printed(b"4,339,5140900,-;NVRM: Xid (PCI:0000:3b:00): 79\n SUBSYSTEM=pci\n")
    b'[    5.140900] NVRM: Xid (PCI:0000:3b:00): 79\n'
    """
    head, semicolon, text = record.partition(b";")
    fields = head.split(b",")
    if not semicolon or len(fields) < 3 or not fields[2].isdigit():
        return record
    seconds = int(fields[2]) / 1e6
    return f"[{seconds:12.6f}] ".encode() + text.split(b"\n", 1)[0] + b"\n"
