"""The simulated trainer obeys a control document as the real hook does: at the next step, once, and says so."""

from schemas.action import Control, Setting
from streams.agents.simulation.conditions import Happening
from streams.agents.simulation.job import Job

REWARM_STEPS = 4
"""Steps until a loader that changed its path runs at full speed."""
_PATHS = ("cache", "shared")
_MODES = ("sync", "async")


class TrainerControl:
    """What one attempt was asked to do differently, and since which step.

    Args:
        job: the attempt; documents for another job or attempt are ignored.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._offered: Control | None = None
        self._version = 0
        self._settings: dict[str, Setting] = {}
        self._cached_since: int | None = None
        self._uncached_since: int | None = None
        self._save_wanted = False

    def offer(self, control: Control) -> None:
        """Keep a document for the next step unless it is another attempt's or not newer than the last one."""
        newest = self._offered.version if self._offered else self._version
        if control.job == self._job.name and control.attempt == self._job.attempt and control.version > newest:
            self._offered = control

    def take_effect(self, step: int) -> list[Happening]:
        """Apply what was offered from this step on; give the acknowledgements of settings that are new or changed."""
        if self._offered is None:
            return []
        offered, self._offered = self._offered, None
        before, self._version = self._settings, offered.version
        self._settings = {name: setting for name, setting in offered.settings.items() if not _fault(name, setting)}
        self._switch_loader(step)
        changed = [(name, setting) for name, setting in offered.settings.items() if before.get(name) != setting]
        self._save_wanted |= any(name == "checkpoint.now" and not _fault(name, setting) for name, setting in changed)
        return [self._acknowledgement(name, setting, step) for name, setting in changed]

    def cached(self, step: int) -> float:
        """Give the share of the loader's reads that the node's own disk answers at a step."""
        if self._cached_since is not None:
            return min((step - self._cached_since) / REWARM_STEPS, 1.0)
        if self._uncached_since is not None:
            return max(1.0 - (step - self._uncached_since) / REWARM_STEPS, 0.0)
        return 0.0

    def is_deferred(self, step: int) -> bool:
        """Tell whether a save that is due at a step shall wait."""
        setting = self._settings.get("checkpoint.defer_until_step")
        return setting is not None and step < int(setting.value)

    def checkpoint_mode(self) -> str:
        """Give how saves are written: `sync` in the critical path, `async` beside it."""
        setting = self._settings.get("checkpoint.mode")
        return str(setting.value) if setting else "sync"

    def take_wanted_save(self) -> bool:
        """Tell whether a save was asked for since the last one, and forget it."""
        wanted, self._save_wanted = self._save_wanted, False
        return wanted

    def _switch_loader(self, step: int) -> None:
        path = self._settings.get("loader.path")
        on_cache = path is not None and path.value == "cache"
        if on_cache and self._cached_since is None:
            self._cached_since, self._uncached_since = step, None
        elif not on_cache and self._cached_since is not None:
            self._cached_since, self._uncached_since = None, step

    def _acknowledgement(self, name: str, setting: Setting, step: int) -> Happening:
        data = {"request": setting.request, "setting": name, "step": step}
        fault = _fault(name, setting)
        if fault:
            data["error"] = fault
        return Happening(node=self._job.nodes[0], event="control.acknowledged", subject=setting.request, data=data)


def _fault(name: str, setting: Setting) -> str:
    """Say why a trainer cannot do what a setting asks for, or ""."""
    value = setting.value
    if name == "loader.path":
        return "" if value in _PATHS else f"loader.path: one of {', '.join(_PATHS)} is expected, not {value!r}"
    if name == "checkpoint.mode":
        return "" if value in _MODES else f"checkpoint.mode: one of {', '.join(_MODES)} is expected, not {value!r}"
    if name == "checkpoint.defer_until_step":
        is_step = isinstance(value, int) and not isinstance(value, bool)
        return "" if is_step else f"checkpoint.defer_until_step: a step is expected, not {value!r}"
    if name == "checkpoint.now":
        return "" if value else f"checkpoint.now: the id of a request is expected, not {value!r}"
    return f"{name}: this trainer does not know it"
