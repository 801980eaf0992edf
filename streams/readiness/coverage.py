"""What each cause and detector needs, held against what a cluster gives; pure, so any record can be judged."""

from collections.abc import Iterable

from msgspec import Struct

from playbooks.cause import Cause, Clue, covers
from streams.readiness.sign_needs import SIGN_NEEDS

_DERIVED = {
    "loader_share": ("loader_seconds", "step_seconds"),
    "loader_share_median": ("loader_seconds", "step_seconds"),
    "tokens_per_second": ("tokens", "step_seconds"),
    "own_seconds": ("step_seconds", "wait_seconds"),
    "wait_least_seconds": ("wait_seconds",),
    "seconds_per_sample": ("step_seconds", "batch_size"),
    "interval_seconds": ("step_seconds",),
    "busy_power_watts": ("power_watts", "gpu_util"),
    "busy_sm_active": ("sm_active", "gpu_util"),
    "busy_temperature_c": ("temperature_c", "gpu_util"),
    "hbm_used_share": ("hbm_used_bytes", "hbm_total_bytes"),
}
"""Signals that the pipeline makes itself, and what of."""
_DETECTOR_NEEDS: dict[str, tuple[str, ...]] = {
    "slow_rank": ("compute_seconds", "wait_seconds"),
    "creep": ("step_seconds", "tokens_per_second"),
    "level_shift": ("step_seconds", "tokens_per_second", "samples_per_second", "tokens_per_second_per_gpu"),
    "nonfinite": ("loss", "grad_norm"),
    "spike": ("loss", "grad_norm"),
    "stalled": ("step_seconds", "loss", "samples_per_second"),
    "sustained": ("loader_share", "throttle_hw_thermal", "throttle_sw_thermal"),
    "checkpoint": ("checkpoint.end", "checkpoint_seconds"),
    "silence": ("",),
    "slow_step": ("step_seconds", "interval_seconds"),
    "counter_rate": ("ecc_volatile_total", "nic_errors_total", "pcie_replays_total", "storage_errors_total"),
    "continuity": ("sampler_cursor", "learning_rate"),
    "trend": ("memory_available_bytes", "space_free_bytes", "hbm_used_bytes"),
    "periodic": ("loader_seconds", "step_seconds"),
    "exposure": ("source_share.*", "length_share.*", "bad_sample_share"),
    "change_point": ("",),
    "extreme": ("",),
}
"""Signals or events of which a detector needs at least one; "" is any record."""


class Given(Struct, frozen=True):
    """The signals and events that come from somewhere."""

    signals: frozenset[str]
    events: frozenset[str]

    def has(self, name: str) -> bool:
        """Tell whether a signal or event is there; `*` at the end of a name stands for a family."""
        return not name or any(covers((name,), each) for each in self.signals | self.events)


class Sight(Struct, frozen=True):
    """How well one cause can be seen.

    Attributes:
        share: of the weight of all clues for it, what can be seen.
        opens: whether one of the findings that open an incident can be seen.
        missing: signals, events and detectors that are not there, the weightiest first.
    """

    cause: str
    title: str
    share: float
    opens: bool
    missing: tuple[str, ...]


def given(signals: Iterable[str], events: Iterable[str]) -> Given:
    """Say what is there, with what the pipeline makes of it.

    >>> given(["loader_seconds", "step_seconds"], []).has("loader_share")
    True
    """
    present = set(signals)
    present |= {name for name, parts in _DERIVED.items() if set(parts) <= present}
    return Given(frozenset(present), frozenset(events))


def runs(detector: str, there: Given) -> bool:
    """Tell whether a detector, or a sign of the pipeline, has anything to look at."""
    return any(there.has(name) for name in needs(detector) or ("",))


def needs(detector: str) -> tuple[str, ...]:
    """Give the signals and events of which a detector needs at least one."""
    return _DETECTOR_NEEDS.get(detector) or SIGN_NEEDS.get(detector, ())


def sight(cause: Cause, there: Given) -> Sight:
    """Say how well a cause can be seen: by the weight of the clues that speak for it."""
    speaking = [clue for clue in cause.clues if clue.weight > 0]
    seen = [clue for clue in speaking if _can_be_seen(clue, there)]
    whole = sum(clue.weight for clue in speaking)
    lost = sorted((clue for clue in speaking if clue not in seen), key=lambda clue: -clue.weight)
    opening = [clue for clue in cause.clues if clue.opens]
    return Sight(
        cause=cause.cause,
        title=cause.title,
        share=sum(clue.weight for clue in seen) / whole if whole else 1.0,
        opens=any(_can_be_seen(clue, there) for clue in opening) if opening else bool(seen) or not speaking,
        missing=tuple(dict.fromkeys(name for clue in lost for name in _names(clue))),
    )


def _can_be_seen(clue: Clue, there: Given) -> bool:
    if clue.detector and not clue.signal:
        return runs(clue.detector, there)
    return there.has(_name(clue))


def _names(clue: Clue) -> tuple[str, ...]:
    """Say what is missing: of a sign what it looks at, for nobody can switch on the sign itself."""
    if clue.detector in SIGN_NEEDS and not clue.signal:
        return SIGN_NEEDS[clue.detector]
    return (_name(clue),)


def _name(clue: Clue) -> str:
    return clue.moved or clue.value or clue.event or clue.signal or clue.detector
