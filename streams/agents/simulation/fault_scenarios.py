"""Scenarios of a fault in machines, links, storage or agents: somebody should be told."""

from streams.agents.simulation.gpu_faults import PowerBrake, SlowRank, ThermalThrottle, XidError
from streams.agents.simulation.host_faults import CpuStarvedLoader, MemoryLeak, SlowNode
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.link_faults import NetworkCongestion, NvlinkErrors, PcieDowngrade
from streams.agents.simulation.scenario import Expectation, Leg, Scenario
from streams.agents.simulation.stoppages import Hang, SilentJob, SilentNode
from streams.agents.simulation.storage_faults import SharedCheckpointPath, StorageStutter

FIRST, ONSET, LAST = 1_000, 1_300, 1_700
SMALL = Job(name="sim-16", nodes=nodes_named(2), tokens=262_144)
FOUR_NODES = Job(name="sim-32", nodes=nodes_named(4), tokens=524_288)
SAVING = Job(name="sim-16", nodes=nodes_named(2), tokens=262_144, checkpoint_every=100)
_NEAR = (ONSET - 5, ONSET + 40)


def _watched(
    name: str,
    summary: str,
    influence: Influence,
    expect: Expectation,
    *,
    job: Job = SMALL,
    ended: str = "",
) -> Scenario:
    leg = Leg(job=job, steps=(FIRST, LAST), influences=(influence,), ended=ended)
    return Scenario(name=name, summary=summary, legs=(leg,), expect=expect)


def slow_rank() -> Scenario:
    """One GPU computes a third slower."""
    fault = SlowRank(onset=ONSET, ranks=(11,), factor=1.35)
    expect = Expectation(layers=("gpu", "host", "unknown"), onset=_NEAR, ranks=(11,), nodes=("n02",))
    return _watched("slow_rank", "Rank 11 computes 1.35 times as long; all others wait for it.", fault, expect)


def slow_rank_slight() -> Scenario:
    """One GPU computes 8 % slower, which is less than many alarms ask for."""
    fault = SlowRank(onset=ONSET, ranks=(5,), factor=1.08)
    expect = Expectation(layers=("gpu", "host", "unknown"), onset=_NEAR, ranks=(5,), nodes=("n01",))
    return _watched("slow_rank_slight", "Rank 5 computes 8 % longer; the job loses 6 %.", fault, expect)


def slow_node() -> Scenario:
    """One node does everything slower, within three steps and without a line of error."""
    fault = SlowNode(onset=ONSET, ramp=3, node="n03")
    expect = Expectation(layers=("host", "gpu", "unknown"), onset=_NEAR, nodes=("n03",))
    return _watched("slow_node", "Everything on n03 takes longer; step time +5.7 %.", fault, expect, job=FOUR_NODES)


def thermal() -> Scenario:
    """Two GPUs of a node run hot and lose a fifth of their clock for about ten minutes."""
    fault = ThermalThrottle(onset=ONSET, ramp=10, duration=330, ranks=(8, 9))
    expect = Expectation(layers=("gpu",), onset=_NEAR, ranks=(8, 9), nodes=("n02",))
    return _watched("thermal", "Two GPUs on n02 throttle for heat: clock and throughput -20 %.", fault, expect)


def power() -> Scenario:
    """The power brake pulls the clocks of a whole node down."""
    fault = PowerBrake(onset=ONSET, nodes=("n01",))
    expect = Expectation(layers=("gpu", "host"), onset=_NEAR, nodes=("n01",))
    return _watched("power", "The power brake of n01 holds its GPUs at 450 W and 70 % of their clock.", fault, expect)


def pcie() -> Scenario:
    """The PCIe link of one GPU falls back to generation 1 while it is busy."""
    fault = PcieDowngrade(onset=ONSET, ranks=(3,))
    expect = Expectation(layers=("interconnect", "gpu"), onset=_NEAR, ranks=(3,), nodes=("n01",))
    return _watched("pcie", "Input copies of rank 3 take 12 times as long at PCIe generation 1.", fault, expect)


def nvlink() -> Scenario:
    """NVLink of one GPU corrects errors without end."""
    fault = NvlinkErrors(onset=ONSET, ramp=5, ranks=(6,))
    expect = Expectation(layers=("interconnect", "gpu"), onset=_NEAR, nodes=("n01",))
    return _watched("nvlink", "NVLink errors on one GPU of n01; collectives take 1.6 times as long.", fault, expect)


def network() -> Scenario:
    """The fabric is congested and nobody in particular is slow."""
    fault = NetworkCongestion(onset=ONSET, ramp=6)
    expect = Expectation(layers=("network",), onset=_NEAR)
    return _watched("network", "Congestion: retransmits up, throughput -35 %, all wait.", fault, expect, job=FOUR_NODES)


def storage() -> Scenario:
    """The storage stutters without relief; a smaller relative of the worked case."""
    fault = StorageStutter(onset=ONSET, shares=((0, 0.03), (8, 0.03), (60, 0.16), (400, 0.2)))
    expect = Expectation(layers=("storage", "data"), onset=(ONSET, ONSET + 60))
    return _watched("storage", "Object-store retries; loader share 3 % to 20 % on all ranks.", fault, expect)


def host_cpu() -> Scenario:
    """The loaders are short of CPU; the storage is at rest."""
    fault = CpuStarvedLoader(onset=ONSET, ramp=5)
    expect = Expectation(layers=("host", "data"), onset=_NEAR)
    return _watched("host_cpu", "Loaders confined to 8 CPUs, all busy; loader share 20 %.", fault, expect)


def checkpoint_shared() -> Scenario:
    """Saves go through storage that other jobs load, and take longer each time."""
    fault = SharedCheckpointPath(onset=ONSET - 50, seconds=41.0, growth=8.0)
    expect = Expectation(layers=("checkpoint", "storage"), onset=(ONSET - 5, ONSET + 110))
    summary = "Saves every 100 steps pause 6 s, then 41 s and growing; steps between them are healthy."
    return _watched("checkpoint_shared", summary, fault, expect, job=SAVING)


def memory_leak() -> Scenario:
    """Host memory of a node runs out and a loader worker is killed; the job dies."""
    fault = MemoryLeak(onset=FIRST + 60, node="n02", rank=14, steps_to_kill=ONSET - FIRST)
    expect = Expectation(layers=("host",), onset=(FIRST + 60, ONSET + 70), nodes=("n02",))
    return _watched(
        "memory_leak", "Memory of n02 creeps up until the OOM killer ends it.", fault, expect, ended="failed"
    )


def xid() -> Scenario:
    """A GPU falls off the bus and the job stands still."""
    fault = XidError(onset=ONSET, rank=9, code=79, text="GPU has fallen off the bus.", stuck_seconds=120.0)
    expect = Expectation(layers=("gpu",), onset=_NEAR, ranks=(9,), nodes=("n02",))
    return _watched("xid", "Xid 79 on rank 9: the GPU is gone, the job dies.", fault, expect, ended="failed")


def hang() -> Scenario:
    """A rank stops in the middle of a step; for fifteen minutes nothing times out."""
    expect = Expectation(layers=("unknown", "software", "network"), onset=_NEAR, ranks=(4,))
    return _watched("hang", "Rank 4 never ends step 1,300; GPUs 100 % busy.", Hang(onset=ONSET, rank=4), expect)


def hang_of_a_saving_job() -> Scenario:
    """The same in a job that has announced its saves, so that a pause which nobody announced says more."""
    expect = Expectation(layers=("unknown", "software", "network"), onset=_NEAR, ranks=(4,))
    words = "Rank 4 never ends step 1,300; GPUs 100 % busy; the job announces its saves."
    return _watched("hang_of_a_saving_job", words, Hang(onset=ONSET, rank=4), expect, job=SAVING)


def node_silent() -> Scenario:
    """The agent of a node dies; the job goes on."""
    fault = SilentNode(onset=ONSET, node="n02")
    expect = Expectation(layers=("monitoring",), onset=_NEAR, nodes=("n02",))
    return _watched("node_silent", "n02 sends nothing more while the job goes on.", fault, expect, job=FOUR_NODES)


def telemetry_stops() -> Scenario:
    """All agents of a job fall silent while the scheduler calls it running."""
    expect = Expectation(layers=("monitoring",), onset=_NEAR)
    return _watched("telemetry_stops", "No telemetry from any node; the job runs.", SilentJob(onset=ONSET), expect)
