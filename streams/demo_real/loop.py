"""The training loop: load, compute, optimise, save, with the hook in it as any user would put it there."""

import itertools
import threading
from pathlib import Path

from msgspec import Struct

from streams.agents.trainer import Hook
from streams.clock import monotonic_seconds
from streams.demo_real.checkpoints import Checkpoints
from streams.demo_real.dataset import read_index
from streams.demo_real.loader import Loader
from streams.demo_real.network import Network
from streams.demo_real.storage_client import ReadFailed, StorageClient

_TELL_EVERY_SECONDS = 0.5
_MOUNT = "/data"


class Plan(Struct, frozen=True, kw_only=True):
    """What is trained.

    Attributes:
        data: address of the object store.
        cache: folder of the copies on this node.
        hook: folder the hook writes to.
        job: name of the run.
        attempt: start number of the run.
        checkpoints: folder of the checkpoints.
        steps: how many; 0 goes on until it is told to stop.
        every: steps from one checkpoint to the next.
        batch_rows: rows of a batch.
        hidden: width of the hidden layers.
        rate: learning rate.
    """

    data: str
    cache: Path
    hook: Path
    job: str
    attempt: int
    checkpoints: Path
    steps: int
    every: int
    batch_rows: int
    hidden: int
    rate: float


class _Storage:
    """Tells the hook how the data path is doing, at most so often."""

    def __init__(self, hook: Hook, client: StorageClient) -> None:
        self._hook, self._client = hook, client
        self._told = self._failed = monotonic_seconds()

    def tell(self) -> None:
        """Give the readings."""
        now = monotonic_seconds()
        if now - self._told >= _TELL_EVERY_SECONDS:
            self._told = now
            self._hook.sample("mount", _MOUNT, **self._client.look())

    def failed(self, failure: ReadFailed) -> None:
        """Tell of a read that failed for good."""
        now = monotonic_seconds()
        if now - self._failed >= _TELL_EVERY_SECONDS:
            self._failed = now
            self._hook.event("storage.error", _MOUNT, str(failure), code=failure.code, rank=self._hook.rank)


class Training:
    """A run.

    Args:
        stop: set to end it after the present step.

    Raises:
        OSError: the data cannot be found.
    """

    def __init__(self, plan: Plan, stop: threading.Event) -> None:
        self._plan, self._stop = plan, stop
        self._hook = Hook(str(plan.hook), plan.job, rank=0, attempt=plan.attempt)
        self._client = StorageClient(plan.data, plan.cache)
        self._dataset = read_index(self._client.read_whole("index.json"))
        self._network = Network(self._dataset.features, plan.hidden, self._dataset.classes, rate=plan.rate)
        self._checkpoints = Checkpoints(plan.checkpoints, self._network, self._hook, plan.every)
        self._storage = _Storage(self._hook, self._client)

    def run(self) -> None:
        """Train until all steps are done or it is told to stop."""
        plan = self._plan
        config = {"batch_rows": plan.batch_rows, "hidden": plan.hidden, "rate": plan.rate, "every": plan.every}
        self._hook.start(config, total_steps=plan.steps or None, resume_step=0)
        try:
            with Loader(self._client, self._dataset, plan.batch_rows, self._path, self._storage.failed) as loader:
                self._learn(loader)
        except OSError:
            self._hook.end("failed", 1)
            raise
        finally:
            self._checkpoints.finish()
        self._hook.end("stopped" if self._stop.is_set() else "finished")

    def _path(self) -> str:
        return str(self._hook.setting("loader.path", default="origin"))

    def _learn(self, loader: Loader) -> None:
        for step in range(self._plan.steps) if self._plan.steps else itertools.count():
            if self._stop.is_set():
                return
            with self._hook.step(step) as s:
                with s.loading():
                    batch = next(loader)
                with s.computing():
                    loss, gradients = self._network.gradients(batch.rows)
                with s.optimizing():
                    lesson = self._network.learn(loss, gradients)
                s.log(loss=lesson.loss, grad_norm=lesson.gradient_norm, learning_rate=self._network.rate)
                s.log(tokens=len(batch.rows), epoch=batch.epoch, sampler_cursor=batch.cursor)
            self._storage.tell()
            self._checkpoints.after(step)
