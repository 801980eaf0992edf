"""What one GPU says at one moment, in the signals' units; what it does not say is absent and never 0."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.nvml import Handle, Nvml, pynvml

LOADED = 0.05
"""Share of time with a kernel running, from which a GPU counts as at work: idle links slow down by design."""
RECOVERY_ACTIONS = (
    "none",
    "reset the GPU",
    "reboot the node",
    "drain peer to peer",
    "drain and reset the GPU",
    "recover the IMEX domain",
    "reset the bus",
    "reboot the system",
)
REASONS = {
    0x1: "gpu_idle",
    0x2: "clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "hw_power_brake",
}
"""Bit of the clocks' event reasons -> the end of the signal `throttle_*`; some of them blame no GPU."""
_QUIET = {"gpu_idle", "clocks_setting", "sync_boost"}
HELD = {74: "power", 75: "thermal", 76: "sync_boost", 77: "board_limit", 79: "reliability"}
"""Field with the nanoseconds for which clocks were held down -> the end of the signal `clocks_held_*_seconds_total`."""
_HELD_NEWER = {269: "sw_thermal", 270: "hw_thermal", 271: "hw_power_brake"}
_COUNTERS = {
    3: "ecc_sbe_volatile_total",
    4: "ecc_dbe_volatile_total",
    5: "ecc_sbe_aggregate_total",
    6: "ecc_dbe_aggregate_total",
    94: "pcie_replays_total",
    142: "remapped_rows_correctable",
    143: "remapped_rows_uncorrectable",
    144: "remapped_rows_pending",
    145: "remapped_rows_failure",
}
_LINK_ERRORS = (38, 45, 52, 59, 208, 211, 214)
"""CRC of flits and data, replays, recoveries; receive errors, link integrity and failed recoveries of newer parts."""
_POWER_NOW, _MEMORY_TEMPERATURE, _RECOVERY_ACTION = 186, 82, 230
FIELDS = (*HELD, *_HELD_NEWER, *_COUNTERS, *_LINK_ERRORS, _POWER_NOW, _MEMORY_TEMPERATURE, _RECOVERY_ACTION)
_MAX_LINKS = 18

Readings = dict[str, Reading]


class Look(Struct, frozen=True):
    """One look at one GPU.

    Attributes:
        readings: signal -> reading.
        action: what the driver advises, as the number of field 230; None where it advises nothing.
    """

    readings: Readings
    action: int | None = None


def look_at(nvml: Nvml, device: Handle) -> Look:
    """Read everything that a GPU says and that changes within seconds.

    Raises:
        GpuLost: it does not answer any more.
    """
    fields = nvml.fields(device, FIELDS)
    readings: Readings = {
        **_activity(nvml, device),
        **memory(nvml, device),
        **_clocks(nvml, device),
        **_heat_and_power(nvml, device, fields),
        **_lanes(nvml, device),
        **counters(fields),
    }
    if (readings.get("gpu_util") or 0.0) < LOADED:
        readings.pop("pcie_generation", None)
        readings.pop("pcie_width", None)
    action = fields.get(_RECOVERY_ACTION)
    return Look({name: value for name, value in readings.items() if value is not None}, _whole(action))


def standing(nvml: Nvml, device: Handle) -> Readings:
    """Read what seldom changes: limits, and the links that are up, each of which is a question of its own.

    Raises:
        GpuLost: it does not answer any more.
    """
    readings: Readings = {
        "sm_clock_limit_mhz": _number(nvml.ask("nvmlDeviceGetMaxClockInfo", device, pynvml.NVML_CLOCK_SM)),
        "power_limit_watts": _scaled(_number(nvml.ask("nvmlDeviceGetEnforcedPowerLimit", device)), 1e-3),
        "nvlink_lanes_up": _links_up(lambda link: nvml.ask("nvmlDeviceGetNvLinkState", device, link)),
    }
    return {name: value for name, value in readings.items() if value is not None}


def counters(fields: dict[int, float]) -> Readings:
    """Give what only grows.

    >>> counters({4: 1.0, 38: 2.0, 208: 3.0, 75: 5e8})["nvlink_errors_total"]
    5.0
    """
    readings: Readings = {name: fields[field] for field, name in _COUNTERS.items() if field in fields}
    for field, name in {**HELD, **_HELD_NEWER}.items():
        if field in fields:
            readings[f"clocks_held_{name}_seconds_total"] = fields[field] / 1e9
    errors = [fields[field] for field in _LINK_ERRORS if field in fields]
    if errors:
        readings["nvlink_errors_total"] = sum(errors)
    return readings


def throttles(mask: int) -> Readings:
    """Give a flag for every reason for which clocks can be held down.

    >>> [name for name, flag in throttles(0x60).items() if flag]
    ['throttle_sw_thermal', 'throttle_hw_thermal']
    """
    return {f"throttle_{name}": float(bool(mask & bit)) for bit, name in REASONS.items() if name not in _QUIET}


def memory(nvml: Nvml, device: Handle) -> Readings:
    """Give what of the memory is in use; MIG instances answer it too."""
    said = nvml.ask("nvmlDeviceGetMemoryInfo", device)
    return {"hbm_used_bytes": float(said.used), "hbm_total_bytes": float(said.total)} if said else {}


def _activity(nvml: Nvml, device: Handle) -> Readings:
    said = nvml.ask("nvmlDeviceGetUtilizationRates", device)
    return {"gpu_util": said.gpu / 100} if said else {}


def _clocks(nvml: Nvml, device: Handle) -> Readings:
    mask = nvml.ask("nvmlDeviceGetCurrentClocksEventReasons", device)
    if mask is None:
        mask = nvml.ask("nvmlDeviceGetCurrentClocksThrottleReasons", device)
    return {
        "sm_clock_mhz": _number(nvml.ask("nvmlDeviceGetClockInfo", device, pynvml.NVML_CLOCK_SM)),
        **(throttles(mask) if mask is not None else {}),
    }


def _heat_and_power(nvml: Nvml, device: Handle, fields: dict[int, float]) -> Readings:
    power = _number(nvml.ask("nvmlDeviceGetPowerUsage", device)) or fields.get(_POWER_NOW)
    return {
        "temperature_c": _number(nvml.ask("nvmlDeviceGetTemperature", device, pynvml.NVML_TEMPERATURE_GPU)),
        "temperature_margin_c": _number(nvml.ask("nvmlDeviceGetMarginTemperature", device)),
        "memory_temperature_c": fields.get(_MEMORY_TEMPERATURE),
        "power_watts": _scaled(power, 1e-3),
    }


def _lanes(nvml: Nvml, device: Handle) -> Readings:
    return {
        "pcie_generation": _number(nvml.ask("nvmlDeviceGetCurrPcieLinkGeneration", device)),
        "pcie_width": _number(nvml.ask("nvmlDeviceGetCurrPcieLinkWidth", device)),
    }


def _links_up(state: Callable[[int], Any]) -> Reading:  # Any: 0, 1 or None
    """Count the links that are up; absent where the part has none, and so the first gives no answer."""
    states = []
    for link in range(_MAX_LINKS):
        said = state(link)
        if said is None:
            break
        states.append(float(said))
    return sum(states) if states else None


def _number(said: Any) -> Reading:  # noqa: ANN401 - a number or None
    return None if said is None else float(said)


def _scaled(value: Reading, by: float) -> Reading:
    return None if value is None else value * by


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
