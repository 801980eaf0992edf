"""THE table of scenarios: every course of events that can be simulated, by name."""

from collections.abc import Callable

from streams.agents.simulation import decoy_scenarios, fault_scenarios, training_scenarios
from streams.agents.simulation.brief_case import brief64
from streams.agents.simulation.scenario import Scenario

_BUILDERS: tuple[Callable[[], Scenario], ...] = (
    brief64,
    fault_scenarios.slow_rank,
    fault_scenarios.slow_rank_slight,
    fault_scenarios.slow_node,
    fault_scenarios.thermal,
    fault_scenarios.power,
    fault_scenarios.pcie,
    fault_scenarios.nvlink,
    fault_scenarios.network,
    fault_scenarios.storage,
    fault_scenarios.host_cpu,
    fault_scenarios.checkpoint_shared,
    fault_scenarios.memory_leak,
    fault_scenarios.xid,
    fault_scenarios.hang,
    fault_scenarios.hang_of_a_saving_job,
    fault_scenarios.node_silent,
    fault_scenarios.telemetry_stops,
    training_scenarios.nan,
    training_scenarios.inf,
    training_scenarios.absent_loss,
    training_scenarios.loss_spike,
    training_scenarios.data_mixture,
    decoy_scenarios.quiet,
    decoy_scenarios.pipeline_stages,
    decoy_scenarios.planned_checkpoint_long,
    decoy_scenarios.warmup,
    decoy_scenarios.evaluation,
    decoy_scenarios.silent_pauses,
    decoy_scenarios.batch_ramp,
    decoy_scenarios.restart_smaller,
    decoy_scenarios.uneven_sequences,
    decoy_scenarios.daily_drift,
    decoy_scenarios.lone_stalls,
)

SCENARIOS: dict[str, Callable[[], Scenario]] = {builder.__name__: builder for builder in _BUILDERS}


def scenario_named(name: str) -> Scenario:
    """Build a scenario.

    Raises:
        KeyError: there is none of that name.

    >>> scenario_named("hang").legs[0].job.world_size
    16
    """
    return SCENARIOS[name]()
