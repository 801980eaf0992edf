"""A simulated job is synchronous: one step time, own work plus waiting, the slow rank waits least."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.agents.simulation.gpu_faults import SlowRank
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario
from streams.agents.simulation.scenarios import SCENARIOS
from streams.agents.simulation.simulation import Simulation
from tests.simulation.lived import Lived

_OWN = ("compute_seconds", "loader_seconds", "h2d_seconds", "host_prep_seconds", "optimizer_seconds")
_WHOLE = sorted(
    set(SCENARIOS) - {"hang", "hang_of_a_saving_job", "xid", "memory_leak", "node_silent", "restart_smaller"}
)


def _short(job: Job, *influences: Influence, steps: int = 12, seed: int = 1) -> Lived:
    leg = Leg(job=job, steps=(1, steps), influences=influences)
    scenario = Scenario(name="short", summary="", legs=(leg,))
    simulation, records = Simulation(scenario, np.random.default_rng(seed)), []
    while not simulation.finished:
        records += simulation.advance()
    return Lived(records)


@pytest.mark.parametrize("name", _WHOLE)
def test_a_step_is_own_work_and_waiting(name: str, lived: Callable[[str], Lived]) -> None:
    """For every rank and step the parts and the wait add up to the step, which is the same for all ranks."""
    run = lived(name)
    first, last = run.steps()[0], run.steps()[-1]
    step = run.over("step_seconds", first, last)
    wait = run.over("wait_seconds", first, last)
    own = sum(run.over(part, first, last) for part in _OWN)
    assert np.abs(step - own - wait).max() < 1e-5
    assert np.ptp(step, axis=1).max() == 0.0
    assert wait.min() > 0.0


@given(st.integers(1, 3), st.integers(2, 8), st.floats(1.1, 2.4), st.data())
@settings(max_examples=25, deadline=None)
def test_the_slow_rank_waits_least_and_sets_the_pace(nodes: int, gpus: int, factor: float, data: st.DataObject) -> None:
    """Whoever is slowed waits least in every step, and the step grows by what its compute grew."""
    job = Job(name="j", nodes=nodes_named(nodes), gpus_per_node=gpus)
    rank = data.draw(st.integers(0, job.world_size - 1))
    healthy, slow = _short(job), _short(job, SlowRank(onset=1, ranks=(rank,), factor=factor))
    assert (np.argmin(slow.over("wait_seconds", 1, 12), axis=1) == rank).all()
    growth = np.median(slow.step_seconds(1, 12)) - np.median(healthy.step_seconds(1, 12))
    assert growth == pytest.approx((factor - 1.0) * job.parts.compute, abs=0.05)


def test_the_last_stage_is_slow_by_layout(lived: Callable[[str], Lived]) -> None:
    """All ranks of the last pipeline stage compute 1.63 times as long as all others, from the first step on."""
    compute = np.median(lived("pipeline_stages").over("compute_seconds", 1_000, 1_600), axis=0)
    assert compute[24:] / np.median(compute[:24]) == pytest.approx(1.63, rel=0.01)
    assert compute[:24] / np.median(compute[:24]) == pytest.approx(1.0, rel=0.01)


def test_the_placement_names_every_coordinate() -> None:
    """Ranks that share a stage and a data group differ in their tensor coordinate, and each GPU stands once."""
    job = Job(name="j", nodes=nodes_named(2), pipeline=2, tensor=4)
    placement = job.placement()
    assert len({entry["gpu"] for entry in placement}) == 16
    assert len({(entry["pp"], entry["dp"], entry["tp"]) for entry in placement}) == 16
    assert {entry["dp"] for entry in placement} == {0, 1}
    assert [entry["node"] for entry in placement[7:9]] == ["n01", "n02"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        pytest.param({"pipeline": 3}, "does not divide 16", id="stages that do not divide the ranks"),
        pytest.param({"nodes": ()}, "does not divide 0", id="no nodes"),
        pytest.param({"pipeline": 2, "stage_weights": (1.0,)}, "1 for 2 stages", id="too few weights"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(fields: dict[str, object], fault: str) -> None:
    """A job whose layout does not fit its GPUs is refused when it is made, with the numbers."""
    with pytest.raises(ValueError, match=fault):
        Job(**({"name": "j", "nodes": nodes_named(2)} | fields))  # type: ignore[arg-type]  # wrong on purpose


def test_background_of_a_quiet_job(lived: Callable[[str], Lived]) -> None:
    """A quiet job scatters by a few parts in a thousand and has no lone step beyond eight per cent."""
    seconds = lived("quiet").step_seconds(1_000, 1_600)
    relative = seconds / np.median(seconds) - 1.0
    assert 0.002 < np.median(np.abs(relative)) < 0.008
    assert np.abs(relative).max() < 0.08
