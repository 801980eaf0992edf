"""Asking NVML: what a part does not have is absent, what an old driver lacks is asked once, what is lost is said."""

import struct
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

with warnings.catch_warnings():  # the package tells of its other name when it is imported
    warnings.simplefilter("ignore", FutureWarning)
    import pynvml

__all__ = ["DriverAway", "GpuLost", "Handle", "Nvml", "pynvml"]
Handle = Any  # pynvml's opaque pointers

_LOST = {pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED, pynvml.NVML_ERROR_GPU_NOT_FOUND}
_AWAY = {
    pynvml.NVML_ERROR_UNINITIALIZED: "NVML is not initialised",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is not loaded",
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "there is no NVIDIA driver",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "driver and library differ: a reboot is pending",
}
_FIELD = struct.Struct("=IIqqII8s")
"""One field as the library writes it: its number, its scope, time, latency, type, answer, and eight bytes of value.

Read in one go: the binding's own structures take longer to read than the driver to answer.
"""
_VALUES = tuple(struct.Struct(code).unpack_from for code in "dILQqiH")
"""How to read the value of each type: double, unsigned int, long and long long, long long, int, unsigned short."""


class GpuLost(Exception):
    """A GPU does not answer any more; the others do."""


class DriverAway(OSError):
    """There is no driver that could be asked."""


class Nvml:
    """One start of the library.

    Attributes:
        doing: the call that is being made; what is stuck where nothing comes back.
        denied: calls that need rights this process does not have.
    """

    def __init__(self) -> None:
        self._missing: set[str] = set()
        self.denied: set[str] = set()
        self.doing = ""

    def open(self) -> None:
        """Start the library.

        Raises:
            DriverAway: there is none, or it cannot be used.
        """
        self.doing = "nvmlInit"
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as fault:
            raise DriverAway(_AWAY.get(fault.value, str(fault))) from None
        finally:
            self.doing = ""

    def close(self) -> None:
        """End the library; a driver that is gone already has nothing to end."""
        self.ask("nvmlShutdown")

    def ask(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 - each call gives something else
        """Make a call by its name; None where this part, driver or process cannot have the answer.

        Raises:
            GpuLost: the GPU does not answer any more.
            DriverAway: the driver does not.
        """
        if name in self._missing:
            return None
        self.doing = name
        try:
            return getattr(pynvml, name)(*arguments)
        except pynvml.NVMLError as fault:
            return self._without(name, fault.value)
        finally:
            self.doing = ""

    def fields(self, device: Handle, wanted: Sequence[int]) -> dict[int, float]:
        """Ask for many fields at once; those the part does not have are left out."""
        values = self.ask("nvmlDeviceGetFieldValues", device, wanted)
        return {} if values is None else dict(_readings(values))

    def _without(self, name: str, code: int) -> None:
        if code in _LOST:
            raise GpuLost(name)
        if code in _AWAY:
            raise DriverAway(_AWAY[code])
        if code == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            self._missing.add(name)
        if code == pynvml.NVML_ERROR_NO_PERMISSION:
            self.denied.add(name)


def _readings(values: Any) -> Iterator[tuple[int, float]]:  # noqa: ANN401 - an array of pynvml's structures
    """Read fields: each has its own answer and its own type."""
    for number, _, _, _, kind, answer, value in _FIELD.iter_unpack(bytes(values)):
        if answer == pynvml.NVML_SUCCESS and kind < len(_VALUES):
            yield number, float(_VALUES[kind](value)[0])
