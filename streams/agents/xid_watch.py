"""Waiting for Xid errors as the driver reports them: events are lost while nobody waits, so a thread always does."""

import threading
from collections import deque
from collections.abc import Mapping

from streams.agents.finding import Happening
from streams.agents.nvml import Handle, Nvml, pynvml
from streams.clock import unix_seconds

_WAIT_MS = 1000
_KEPT = 1000


class XidWatch:
    """Waits in a thread of its own until it is closed or the driver goes.

    Args:
        devices: UUID -> handle of the GPUs to wait for; those without such events are left out.
    """

    def __init__(self, nvml: Nvml, devices: Mapping[str, Handle]) -> None:
        self._found: deque[Happening] = deque(maxlen=_KEPT)
        self._closing = threading.Event()
        self._uuids = {_address(device): uuid for uuid, device in devices.items()}
        self._set = nvml.ask("nvmlEventSetCreate")
        wanted = pynvml.nvmlEventTypeXidCriticalError
        if self._set is not None:
            for device in devices.values():
                supported = nvml.ask("nvmlDeviceGetSupportedEventTypes", device) or 0
                if supported & wanted:
                    nvml.ask("nvmlDeviceRegisterEvents", device, wanted, self._set)
            threading.Thread(target=self._wait, name="xid watch", daemon=True).start()

    def take(self) -> list[Happening]:
        """Give what happened since the last call."""
        return [self._found.popleft() for _ in range(len(self._found))]

    def close(self) -> None:
        """Wait no longer."""
        self._closing.set()

    def _wait(self) -> None:
        while not self._closing.is_set():
            try:
                event = pynvml.nvmlEventSetWait_v2(self._set, _WAIT_MS)
            except pynvml.NVMLError_Timeout:
                continue
            except pynvml.NVMLError:
                return  # the driver went away; whoever asks it next will notice
            uuid, code = self._uuids.get(_address(event.device), ""), int(event.eventData)
            text = f"NVML reports Xid {code}"
            self._found.append(
                Happening(event="xid", subject=uuid, data={"code": code}, text=text, time=unix_seconds())
            )


def _address(device: Handle) -> int | None:
    """Handles are pointers; two of the same GPU differ as objects."""
    address: int | None = pynvml.cast(device, pynvml.c_void_p).value
    return address
