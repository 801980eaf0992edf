"""The node's GPUs through NVML: readings by UUID, Xid errors, what the driver advises, and GPUs that are lost."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, Sample
from streams.agents.gpm import Monitor
from streams.agents.gpu_readings import RECOVERY_ACTIONS, Look, look_at, memory, standing
from streams.agents.nvml import DriverAway, GpuLost, Handle, Nvml
from streams.agents.xid_watch import XidWatch
from streams.clock import monotonic_seconds

_STANDING_SECONDS = 5.0
"""From one look at what seldom changes to the next; in between it is told as it was."""
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 300.0
_HELD_SHARE = 0.01
_HELD_FLAGS = {"sw_thermal": "sw_thermal", "hw_thermal": "hw_thermal", "hw_power_brake": "hw_power_brake"}


class _Part(Struct):
    """A MIG instance of a GPU."""

    uuid: str
    device: Handle
    monitor: Monitor


class _Gpu(Struct):
    """One GPU, and what was last known of it."""

    uuid: str
    pci: str
    device: Handle
    monitor: Monitor
    parts: list[_Part]
    lost: bool = False
    action: int = 0
    before: dict[str, Reading] = {}
    looked: float = 0.0
    standing: dict[str, Reading] = {}
    stood: float = float("-inf")


class Gpus:
    """Looks at every GPU of the node; a lost one is told of once and the others go on.

    Without a driver it raises DriverAway at every look, and tries to find one less and less often.

    Args:
        clock: gives seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic_seconds) -> None:
        self._nvml, self._clock = Nvml(), clock
        self._gpus: list[_Gpu] = []
        self._watch: XidWatch | None = None
        self._closed_because, self._again_at, self._pause = "", 0.0, _FIRST_PAUSE
        self._at = ""

    @property
    def doing(self) -> str:
        """The call that is being made, and of which GPU."""
        call = self._nvml.doing
        return f"{call} of {self._at}" if call and self._at else call

    @property
    def denied(self) -> frozenset[str]:
        """Calls that need rights the agent does not have."""
        return frozenset(self._nvml.denied)

    def names(self) -> dict[str, str]:
        """The UUIDs of the GPUs by their addresses, as the kernel writes them."""
        return {gpu.pci: gpu.uuid for gpu in self._gpus if gpu.pci}

    @property
    def driver(self) -> str:
        """The driver's version; "" where there is none."""
        return _text(self._nvml.ask("nvmlSystemGetDriverVersion") or "") if self._watch else ""

    def __call__(self) -> Sequence[Finding]:
        """Look once at every GPU.

        Raises:
            DriverAway: there is no driver to ask.
        """
        now = self._clock()
        try:
            self._open(now)
            findings: list[Finding] = [*self._look(now), *(self._watch.take() if self._watch else ())]
        except DriverAway as away:
            self._close(str(away), now)
            raise
        self._pause = _FIRST_PAUSE
        return findings

    def _open(self, now: float) -> None:
        if self._watch is not None:
            return
        if now < self._again_at:
            raise DriverAway(self._closed_because)
        nvml = Nvml()
        nvml.open()
        self._nvml = nvml
        self._gpus = [gpu for index in range(nvml.ask("nvmlDeviceGetCount") or 0) if (gpu := self._find(index))]
        self._watch = XidWatch(nvml, {gpu.uuid: gpu.device for gpu in self._gpus})

    def _close(self, because: str, now: float) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if now >= self._again_at:
            self._closed_because, self._again_at = because, now + self._pause
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def _find(self, index: int) -> _Gpu | None:
        """Make the acquaintance of a GPU; one that is lost from the start has no name to speak of."""
        nvml, self._at = self._nvml, f"GPU {index}"
        try:
            device = nvml.ask("nvmlDeviceGetHandleByIndex", index)
            uuid = nvml.ask("nvmlDeviceGetUUID", device) if device is not None else None
            if not uuid:
                return None
            parts = [_Part(*part) for part in self._instances(device)]
            return _Gpu(_text(uuid), _pci(nvml, device), device, Monitor(nvml, device), parts)
        except GpuLost:
            return None

    def _instances(self, device: Handle) -> Iterator[tuple[str, Handle, Monitor]]:
        nvml = self._nvml
        mode = nvml.ask("nvmlDeviceGetMigMode", device)
        count = nvml.ask("nvmlDeviceGetMaxMigDeviceCount", device) if mode and mode[0] else 0
        for index in range(count or 0):
            part = nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", device, index)
            uuid = nvml.ask("nvmlDeviceGetUUID", part) if part is not None else None
            number = nvml.ask("nvmlDeviceGetGpuInstanceId", part) if uuid else None
            if uuid and number is not None:
                yield _text(uuid), part, Monitor(nvml, device, number)

    def _look(self, now: float) -> Iterator[Finding]:
        rows: dict[str, dict[str, Reading]] = {}
        for gpu in self._gpus:
            self._at = gpu.uuid
            try:
                look = look_at(self._nvml, gpu.device)
                rows[gpu.uuid] = {**look.readings, **self._standing(gpu, now), **gpu.monitor.look(now)}
                rows |= {part.uuid: self._part(part, now) for part in gpu.parts}
            except GpuLost as lost:
                yield from _say_lost(gpu, str(lost))
                continue
            gpu.lost = False
            _flag_what_was_held_between(gpu, rows[gpu.uuid], now)
            yield from _say_advice(gpu, look)
        self._at = ""
        yield from _as_sample({uuid: row for uuid, row in rows.items() if row})

    def _standing(self, gpu: _Gpu, now: float) -> dict[str, Reading]:
        if now - gpu.stood >= _STANDING_SECONDS:
            gpu.standing, gpu.stood = standing(self._nvml, gpu.device), now
        return gpu.standing

    def _part(self, part: _Part, now: float) -> dict[str, Reading]:
        return {**memory(self._nvml, part.device), **part.monitor.look(now)}


def _as_sample(rows: dict[str, dict[str, Reading]]) -> Iterator[Sample]:
    if rows:
        names = dict.fromkeys(name for row in rows.values() for name in row)
        values = {name: [row.get(name) for row in rows.values()] for name in names}
        yield Sample(of="gpu", ids=list(rows), values=values)


def _say_lost(gpu: _Gpu, call: str) -> Iterator[Happening]:
    if not gpu.lost:
        gpu.lost = True
        text = f"GPU {gpu.uuid} is lost: {call} gives no answer any more"
        yield Happening(event="gpu.lost", subject=gpu.uuid, data={"error": call, "pci": gpu.pci}, text=text)


def _say_advice(gpu: _Gpu, look: Look) -> Iterator[Happening]:
    """Tell once what the driver advises, and once that it advises nothing any more."""
    if look.action is None or look.action == gpu.action:
        return
    gpu.action = look.action
    known = 0 <= look.action < len(RECOVERY_ACTIONS)
    advice = RECOVERY_ACTIONS[look.action] if known else f"action {look.action}"
    data = {"action": look.action, "advice": advice, "pci": gpu.pci}
    yield Happening(event="gpu.recovery_action", subject=gpu.uuid, data=data, text=f"the driver advises: {advice}")


def _flag_what_was_held_between(gpu: _Gpu, row: dict[str, Reading], now: float) -> None:
    """Raise the flags of reasons that came and went between two looks: their time grew by more than a hundredth."""
    elapsed = now - gpu.looked
    for counter, flag in _HELD_FLAGS.items():
        name = f"clocks_held_{counter}_seconds_total"
        older, newer = gpu.before.get(name), row.get(name)
        if older is not None and newer is not None and newer - older > _HELD_SHARE * elapsed:
            row[f"throttle_{flag}"] = 1.0
    gpu.before, gpu.looked = dict(row), now


def _pci(nvml: Nvml, device: Handle) -> str:
    said = nvml.ask("nvmlDeviceGetPciInfo", device)
    return pci_address(_text(said.busId)) if said is not None else ""


def pci_address(text: str) -> str:
    """Write a PCI address as the kernel does, so that all sources name a GPU alike.

    >>> pci_address("00000000:3B:00.0"), pci_address("0000:3b:00")
    ('0000:3b:00', '0000:3b:00')
    """
    head, _, _ = text.strip().lower().partition(".")
    domain, _, rest = head.partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest}" if rest else head


def _text(said: str | bytes) -> str:
    return said.decode("ascii", "replace") if isinstance(said, bytes) else said
