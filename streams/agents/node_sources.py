"""Which sources a node has, by the settings: one line each."""

from hashlib import sha256
from pathlib import Path

from streams.agents.events.kubernetes import KubernetesEvents
from streams.agents.events.slurm import Slurm
from streams.agents.finding import Source
from streams.agents.flight_recorder import FlightRecorder
from streams.agents.gpu import Gpus
from streams.agents.kernel_log import KernelLog
from streams.agents.log_tail import LogTail
from streams.agents.mounts import Mounts
from streams.agents.network import Network
from streams.agents.node_clock import NodeClock
from streams.agents.paced import Paced
from streams.agents.pressure import Pressure
from streams.agents.scrape import Scrape
from streams.settings import AgentSettings, FollowedLog

SCHEDULER_SECONDS = 10.0
"""From one question to a scheduler to the next."""


def node_sources(settings: AgentSettings, exporter_every: float = 15.0) -> dict[str, Source]:
    """Give the sources of samples by name; an exporter is asked every so many seconds."""
    sources: dict[str, Source] = {}
    if settings.node:
        sources |= {"pressure": Pressure(), "network": Network(), "mounts": Mounts(), "clock": NodeClock()}
    sources |= {f"exporter {url}": Scrape(url, exporter_every) for url in settings.scrape}
    if settings.gpu:
        sources["gpu"] = Gpus()
    return sources


def node_watchers(
    settings: AgentSettings, logs: list[FollowedLog], state: Path, gpus: Source | None = None
) -> dict[str, Source]:
    """Give the sources of events and of steps by name.

    Args:
        logs: further logs to follow.
        state: where the sources remember how far they came.
        gpus: the source of the GPUs, which knows their names.
    """
    watchers: dict[str, Source] = {}
    for log in [*settings.logs, *logs]:
        name = sha256(f"{log.path} {log.job} {log.attempt}".encode()).hexdigest()[:16]
        watchers[f"log {log.path}"] = LogTail(
            [log.path], job=log.job, attempt=log.attempt, state=state / f"log-{name}.json"
        )
    if settings.dumps:
        watchers["flight recorder"] = FlightRecorder(settings.dumps)
    if settings.slurm:
        watchers["slurm"] = Paced(Slurm(), SCHEDULER_SECONDS)
    if settings.kubernetes:
        watchers["kubernetes"] = Paced(KubernetesEvents(), SCHEDULER_SECONDS)
    if settings.kernel:
        watchers["kernel log"] = KernelLog(names=gpus.names) if isinstance(gpus, Gpus) else KernelLog()
    return watchers
