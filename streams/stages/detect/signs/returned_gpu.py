"""A GPU that was taken out of the pool and is back under another node's name: identity is the UUID."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

KEPT = 4096


class ReturnedGpuMemory(Struct):
    """GPU -> node it was taken out with."""

    removed: dict[str, str] = field(default_factory=dict)


class ReturnedGpu(Sign[ReturnedGpuMemory]):
    """Compare the GPUs of a node that joins with those that were removed."""

    name = "returned_gpu"
    memory = ReturnedGpuMemory

    def event(self, memory: ReturnedGpuMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Follow what leaves and joins the pool."""
        given = event.data.get("gpus")
        gpus = [one for one in (given if isinstance(given, list) else []) if isinstance(one, str)]
        node = event.subject or event.node
        if event.event == "node.removed" and event.data.get("reason"):
            memory.removed = dict([*memory.removed.items(), *((gpu, node) for gpu in gpus)][-KEPT:])
        elif event.event == "node.joined":
            back = tuple(gpu for gpu in gpus if memory.removed.get(gpu, node) != node)
            if back:
                was = memory.removed[back[0]]
                yield Seen(
                    sign=self.name,
                    subject=f"node:{node}",
                    onset_time=event.time,
                    nodes=(node,),
                    gpus=back,
                    text=f"{node} joined with {count(len(back), 'GPU')} that had been taken out as {was}",
                )
