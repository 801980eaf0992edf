"""Which version of each detector and sign is at work: its own source and that of the parts it is made of, hashed.

Nobody has to remember to raise a number: another source is another version. The source is read once, as an import
reads it; where a program was installed without its sources, there is no version to tell.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec

from detectors.catalogue import DETECTORS
from streams.stages.detect.signs.catalogue import CATALOGUE

SIGNS = "streams.stages.detect.signs"
_IMPORTS = re.compile(rf"^from ((?:detectors|{re.escape(SIGNS)})\.\w+) import ", re.MULTILINE)


@lru_cache(maxsize=1)
def detector_versions() -> dict[str, str]:
    """Give the version of every detector and sign by name.

    >>> len(detector_versions()["slow_rank"])
    8
    """
    modules = {name: f"detectors.{name}" for name in DETECTORS} | {one.name: f"{SIGNS}.{one.name}" for one in CATALOGUE}
    return {name: version for name, module in sorted(modules.items()) if (version := _version(module))}


def _version(module: str) -> str:
    """Hash the source of a module with those that it imports from its room."""
    sources: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        source = _source(name)
        if source is None:
            return ""
        sources[name] = source
        waiting += _IMPORTS.findall(source)
    return blake2b("\x1f".join(sources[name] for name in sorted(sources)).encode(), digest_size=4).hexdigest()


def _source(module: str) -> str | None:
    spec = find_spec(module)
    read = getattr(spec.loader, "get_source", None) if spec is not None else None
    return read(module) if read is not None else None
