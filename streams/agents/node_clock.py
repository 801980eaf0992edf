"""How far the node's clock is off, as the kernel knows it from the time service that disciplines it."""

import ctypes
import ctypes.util
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Sample

_UNSYNCHRONISED, _NANOSECONDS = 0x0040, 0x2000


class _Timex(ctypes.Structure):
    """The kernel's answer; only what is read has a name, the rest is room."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("frequency", ctypes.c_long),
        ("most_error", ctypes.c_long),
        ("estimated_error", ctypes.c_long),
        ("status", ctypes.c_int),
        ("room", ctypes.c_char * 256),
    )


class NodeClock:
    """Asks the kernel; the offset is absent while nobody disciplines the clock."""

    def __init__(self) -> None:
        self._ask = ctypes.CDLL(None, use_errno=True).adjtimex

    def __call__(self) -> Sequence[Sample]:
        """Ask once.

        Raises:
            OSError: the kernel does not say.
        """
        answer = _Timex()
        if self._ask(ctypes.byref(answer)) < 0:
            raise OSError(ctypes.get_errno(), "the kernel does not tell the state of its clock")
        synchronised = not answer.status & _UNSYNCHRONISED
        values: dict[str, list[Reading]] = {"clock_synchronised": [float(synchronised)]}
        if synchronised:
            values["clock_offset_seconds"] = [answer.offset / (1e9 if answer.status & _NANOSECONDS else 1e6)]
        return [Sample(of="node", values=values)]
