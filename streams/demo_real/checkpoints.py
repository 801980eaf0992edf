"""Checkpoints of the network: written whole, forced to the disk, the newest two kept."""

import os
import threading
from pathlib import Path

import numpy as np

from streams.agents.trainer import Hook
from streams.demo_real.network import Array, Network

_KEPT = 2


class Checkpoints:
    """Saves when the hook says so, in the mode it says.

    Args:
        folder: where they go.
        network: what is saved.
        hook: measures and tells.
        every: steps from one save to the next.
    """

    def __init__(self, folder: Path, network: Network, hook: Hook, every: int) -> None:
        self._folder, self._network, self._hook, self._every = folder, network, hook, every
        self._writer: threading.Thread | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def after(self, step: int) -> None:
        """Save if a save is due after this step; an asynchronous one takes a copy and is written meanwhile."""
        if not self._hook.checkpoint_due(step, self._every):
            return
        with self._hook.checkpoint(step) as save:
            self.finish()
            if save.mode == "async":
                parameters = [parameter.copy() for parameter in self._network.parameters]

                def write() -> None:
                    save.size_bytes = self._write(step, parameters)
                    save.done()

                self._writer = threading.Thread(target=write, name="checkpoint")
                self._writer.start()
            else:
                save.size_bytes = self._write(step, self._network.parameters)

    def finish(self) -> None:
        """Wait for a save that is being written."""
        if self._writer is not None:
            self._writer.join()
            self._writer = None

    def _write(self, step: int, parameters: list[Array]) -> int:
        path, draft = self._folder / f"step-{step:08d}.npz", self._folder / ".draft"
        with draft.open("wb") as file:
            np.savez(file, *parameters)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        for old in sorted(self._folder.glob("step-*.npz"))[:-_KEPT]:
            old.unlink()
        return path.stat().st_size
