"""How a trainer's control document changes: the version grows with every change and with nothing else.

Settings die with their attempt: the first wish to a newer attempt starts from an empty document.
"""

from collections.abc import Mapping

from playbooks.ports import NotAllowed
from schemas.action import Control, Setting

Wishes = Mapping[str, str | int | float | bool]


def with_settings(present: Control | None, job: str, attempt: int, settings: Wishes, request: str) -> Control:
    """Change some settings; the others stay.

    Raises:
        NotAllowed: the document already speaks to a newer attempt.

    >>> first = with_settings(None, "wm-64", 1, {"loader.path": "cache"}, "r1")
    >>> first.version, with_settings(first, "wm-64", 1, {"loader.path": "cache"}, "r1") == first
    (1, True)
    """
    base = _base(present, job, attempt)
    wished = {name: Setting(value=value, request=request) for name, value in settings.items()}
    return _changed(base, {**base.settings, **wished})


def without(present: Control | None, job: str, attempt: int, names: tuple[str, ...]) -> Control:
    """Give settings back to the trainer's own way.

    Raises:
        NotAllowed: the document already speaks to a newer attempt.
    """
    base = _base(present, job, attempt)
    return _changed(base, {name: one for name, one in base.settings.items() if name not in names})


def _base(present: Control | None, job: str, attempt: int) -> Control:
    if present is None:
        return Control(job=job, attempt=attempt, version=0)
    if present.attempt > attempt:
        raise NotAllowed(f"attempt {attempt} is over, the control document speaks to attempt {present.attempt}")
    if present.attempt < attempt:
        return Control(job=job, attempt=attempt, version=present.version)
    return present


def _changed(base: Control, settings: dict[str, Setting]) -> Control:
    if settings == base.settings:
        return base
    return Control(job=base.job, attempt=base.attempt, version=base.version + 1, settings=settings)
