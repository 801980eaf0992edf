"""The real demo."""

from collections.abc import Callable, Coroutine
from pathlib import Path

from streams.serve import Service


def real_story(service: Service, folder: Path) -> Callable[[str], Coroutine[object, object, None]]:
    """To be written when its parts are there."""
    raise SystemExit(f"{service} {folder}")
