"""The job that is simulated: its size, its layout, what a healthy step is made of, and what it does on schedule."""

from typing import Any

from msgspec import Struct

from schemas.ids import derived_id

_PCI = ("1b", "3b", "44", "5e", "9d", "b3", "cc", "df")


class Parts(Struct, frozen=True, kw_only=True):
    """Seconds of one healthy step by part. All but `communication` are a rank's own work."""

    compute: float = 0.79
    loader: float = 0.031
    input_copy: float = 0.012
    host_prep: float = 0.008
    optimizer: float = 0.045
    communication: float = 0.133

    @property
    def seconds(self) -> float:
        """Length of the step when nobody is late."""
        return self.compute + self.loader + self.input_copy + self.host_prep + self.optimizer + self.communication


class Job(Struct, frozen=True, kw_only=True):
    """One attempt of a synchronous training run.

    Attributes:
        nodes: host names, in the order of the ranks.
        pipeline: pipeline stages; `tensor`: GPUs that share a layer; the rest is data parallel.
        stage_weights: compute of each stage relative to `parts.compute`; empty: all alike.
        tokens: tokens per step.
        loss: waypoints (step, loss), straight lines between them.
        mixture: share of each data source in a batch, by name; empty: not reported.
        checkpoint_every: steps from one save to the next; 0: none.
        checkpoint_seconds: pause of a healthy save.
        evaluate_every: steps from one evaluation to the next; 0: none.
        spread: median absolute deviation of the step time that all ranks share, relative.
        rank_spread: the same for what each rank has of its own.
        sample_seconds: time from one sample of GPUs, hosts and mounts to the next.
        announces: it says when it saves and evaluates. One that does not has its first rank save alone, while the
            others wait for it in a collective.
        config: what the trainer was started with.

    Raises:
        ValueError: the layout does not fit the number of GPUs.
    """

    name: str
    nodes: tuple[str, ...]
    attempt: int = 1
    cluster: str = "default"
    gpus_per_node: int = 8
    pipeline: int = 1
    tensor: int = 1
    stage_weights: tuple[float, ...] = ()
    parts: Parts = Parts()
    tokens: int = 1_048_576
    loss: tuple[tuple[int, float], ...] = ((0, 2.4), (10_000, 2.3))
    grad_norm: float = 0.31
    learning_rate: float = 3e-4
    mixture: tuple[tuple[str, float], ...] = ()
    checkpoint_every: int = 0
    checkpoint_seconds: float = 6.0
    checkpoint_bytes: int = 120_000_000_000
    evaluate_every: int = 0
    evaluate_seconds: float = 60.0
    spread: float = 0.003
    rank_spread: float = 0.001
    sample_seconds: float = 10.0
    mount: str = "/data"
    announces: bool = True
    config: tuple[tuple[str, str | int | float], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a layout that does not fit."""
        if not self.nodes or self.world_size % (self.pipeline * self.tensor):
            raise ValueError(f"pipeline x tensor: {self.pipeline} x {self.tensor} does not divide {self.world_size}")
        if self.stage_weights and len(self.stage_weights) != self.pipeline:
            raise ValueError(f"stage_weights: {len(self.stage_weights)} for {self.pipeline} stages")

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return len(self.nodes) * self.gpus_per_node

    @property
    def fingerprint(self) -> str:
        """Name of the configuration: changes with what the trainer was started with, not with the attempt."""
        return "cfg-" + derived_id(self.name, self.world_size, self.pipeline, self.tensor, str(self.config))[:8]

    def ranks_on(self, node: str) -> list[int]:
        """Give the ranks of a node.

        Raises:
            ValueError: the job has no such node.
        """
        first = self.nodes.index(node) * self.gpus_per_node
        return list(range(first, first + self.gpus_per_node))

    def node_of(self, rank: int) -> str:
        """Give the node of a rank."""
        return self.nodes[rank // self.gpus_per_node]

    def gpu_of(self, rank: int) -> str:
        """Give the GPU of a rank; it belongs to the node, whatever the attempt."""
        return "GPU-" + derived_id(self.cluster, self.node_of(rank), rank % self.gpus_per_node)[:8]

    def pci_of(self, rank: int) -> str:
        """Give the PCI address of a rank's GPU."""
        return f"0000:{_PCI[rank % self.gpus_per_node % len(_PCI)]}:00"

    def stage_of(self, rank: int) -> int:
        """Give the pipeline stage of a rank."""
        return rank // (self.world_size // self.pipeline)

    def placement(self) -> list[dict[str, Any]]:  # Any: entries mix numbers and names
        """Say where every rank runs and which part of the model it holds."""
        data_parallel = self.world_size // (self.pipeline * self.tensor)
        return [
            {
                "rank": rank,
                "node": self.node_of(rank),
                "gpu": self.gpu_of(rank),
                "local_rank": rank % self.gpus_per_node,
                "pci": self.pci_of(rank),
                "pp": self.stage_of(rank),
                "tp": rank % self.tensor,
                "dp": rank // self.tensor % data_parallel,
            }
            for rank in range(self.world_size)
        ]


def nodes_named(count: int, first: int = 1) -> tuple[str, ...]:
    """Give host names.

    >>> nodes_named(3)
    ('n01', 'n02', 'n03')
    """
    return tuple(f"n{number:02d}" for number in range(first, first + count))
