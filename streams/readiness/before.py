"""What a preflight keeps of an attempt for the next one."""

import hashlib
import json
from pathlib import Path
from typing import Any

from streams.agents.whole_file import write_whole


class Before:
    """One file per job and kind.

    Args:
        folder: where they are.
        job: the job.
        kind: what is kept.
    """

    def __init__(self, folder: Path, job: str, kind: str) -> None:
        self.job = job
        self._file = folder / f"{kind}-{hashlib.sha256(job.encode()).hexdigest()[:16]}.json"

    def read(self) -> dict[str, Any] | None:  # Any: what was kept
        """Give what was kept; None where nothing was, or it cannot be read."""
        try:
            kept = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) else None

    def write(self, kept: dict[str, Any]) -> None:  # Any: what is to be kept
        """Keep it.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(self._file, json.dumps(kept, sort_keys=True).encode())
