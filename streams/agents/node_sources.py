"""Which sources a node has, by the settings: one line each."""

from streams.agents.finding import Source
from streams.agents.gpu import Gpus
from streams.agents.mounts import Mounts
from streams.agents.network import Network
from streams.agents.node_clock import NodeClock
from streams.agents.pressure import Pressure
from streams.settings import AgentSettings


def node_sources(settings: AgentSettings) -> dict[str, Source]:
    """Give the sources of samples by name."""
    sources: dict[str, Source] = {}
    if settings.node:
        sources |= {"pressure": Pressure(), "network": Network(), "mounts": Mounts(), "clock": NodeClock()}
    if settings.gpu:
        sources["gpu"] = Gpus()
    return sources
