"""Writing a small file whole or not at all, so that a reader never meets half of it."""

import os
from pathlib import Path


def write_whole(path: Path, body: bytes) -> None:
    """Write beside the file and rename over it.

    Raises:
        OSError: it could not be written; what was there is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(body)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
