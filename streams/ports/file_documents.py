"""Post-mortems as files in a folder."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")


class FileDocuments:
    """One file each; a reader sees the old text or the new one, never half of it.

    Args:
        folder: made when it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def write(self, name: str, text: str) -> str:
        """Write a document whole or not at all; give where it is.

        Raises:
            OSError: there is no room, or the folder cannot be made.
            ValueError: the name is none of a file in this folder.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a document")
        return str(await asyncio.to_thread(_replace, self._folder / name, text))


def _replace(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return path
