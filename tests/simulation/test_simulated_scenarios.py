"""Every scenario: the same seed gives the same bytes, all of it is in the contract, and what it claims is there."""

from collections.abc import Callable

import numpy as np
import pytest

from schemas.codec import decode, encode
from schemas.events import BY_NAME
from schemas.signals import SIGNALS, signal_named
from schemas.telemetry import Event, StepFrame
from streams.agents.simulated import simulate
from streams.agents.simulation.scenarios import SCENARIOS, scenario_named
from tests.simulation.lived import Lived

_KNOWN = {signal.name for signal in SIGNALS}


@pytest.mark.parametrize(
    ("name", "defects"),
    [pytest.param("nan", False, id="as sent"), pytest.param("loss_spike", True, id="as arrived")],
)
def test_a_seed_is_a_file(name: str, defects: bool) -> None:
    """The same seed gives the same bytes, another seed other bytes."""
    once = b"".join(simulate(name, 11, defects))
    assert once == b"".join(simulate(name, 11, defects))
    assert once != b"".join(simulate(name, 12, defects))


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_record_survives_the_wire(name: str, lived: Callable[[str], Lived]) -> None:
    """Each event and every fifth frame decodes from its bytes and gives the same bytes again."""
    records = lived(name).records
    for record in [*records[::5], *(record for record in records if isinstance(record, Event))]:
        raw = encode(record)
        assert encode(decode(raw)) == raw


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_word_is_in_the_contract(name: str, lived: Callable[[str], Lived]) -> None:
    """Events and the signals of every fifth frame stand in the tables, events with no field that is not named there."""
    records = lived(name).records
    for record in [*records[::5], *(record for record in records if isinstance(record, Event))]:
        if isinstance(record, Event):
            assert record.event == "config.changed" or set(record.data) <= {
                *BY_NAME[record.event].fields,
                "pause_seconds",
            }
            continue
        signals = set(getattr(record, "values", {})) | set(getattr(record, "job_values", {}))
        assert all(signal in _KNOWN or "*" in signal_named(signal).name for signal in signals), signals - _KNOWN


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_sources_count_their_records(name: str, lived: Callable[[str], Lived]) -> None:
    """Every source numbers what it sends from 0 without a gap, and starts with the launcher's word."""
    numbers: dict[str, list[int]] = {}
    for record in lived(name).records:
        assert not hasattr(record, "every") or isinstance(record, StepFrame)
        numbers.setdefault(getattr(record, "node", ""), []).append(getattr(record, "seq", -1))
    assert all(seen == list(range(len(seen))) for seen in numbers.values())
    first = lived(name).records[0]
    assert isinstance(first, Event)
    assert first.event == "attempt.started"


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_what_is_expected_can_be_found(name: str) -> None:
    """Culprits and onset lie inside the job and the watched steps, and an expected incident has a layer."""
    scenario = scenario_named(name)
    expect, leg = scenario.expect, scenario.legs[0]
    assert scenario.name == name
    assert set(expect.nodes) <= set(scenario.nodes)
    assert all(rank < leg.job.world_size for rank in expect.ranks)
    assert {leg.job.node_of(rank) for rank in expect.ranks} <= set(expect.nodes) or not expect.nodes
    assert bool(expect.layers) == (expect.onset is not None)
    if expect.onset:
        assert leg.steps[0] < expect.onset[0] < expect.onset[1] < leg.steps[1]


@pytest.mark.parametrize(
    ("name", "longer"),
    [
        ("slow_rank", 1.26),
        ("slow_rank_slight", 1.055),
        ("slow_node", 1.057),
        ("thermal", 1.19),
        ("power", 1.33),
        ("pcie", 1.12),
        ("nvlink", 1.08),
        ("network", 1.54),
        ("storage", 1.37),
        ("host_cpu", 1.27),
        ("nan", 1.0),
        ("loss_spike", 1.0),
        ("data_mixture", 1.0),
        ("quiet", 1.0),
    ],
)
def test_how_much_a_fault_costs(name: str, longer: float, lived: Callable[[str], Lived]) -> None:
    """The step is longer by the stated factor once the fault has its full strength, within 2 points."""
    run = lived(name)
    first, last = run.steps()[0], run.steps()[-1]
    before = np.median(run.step_seconds(first, first + 240))
    after = np.median(run.step_seconds(last - 140, last - 75))
    assert after / before == pytest.approx(longer, abs=0.02)


@pytest.mark.parametrize("name", ["slow_rank", "slow_rank_slight", "thermal", "pcie"])
def test_the_culprit_waits_least(name: str, lived: Callable[[str], Lived]) -> None:
    """From the onset on, one of the expected ranks waits least in nearly every step."""
    expect = scenario_named(name).expect
    least = np.argmin(lived(name).over("wait_seconds", 1_320, 1_620), axis=1)
    assert np.isin(least, expect.ranks).mean() > 0.97


def test_the_slow_node_computes_longer_on_all_its_ranks(lived: Callable[[str], Lived]) -> None:
    """Eight ranks share the slowdown, so the node and no single rank is to blame."""
    run = lived("slow_node")
    growth = run.over("compute_seconds", 1_310, 1_700).mean(axis=0) / run.over("compute_seconds", 1_000, 1_290).mean(
        axis=0
    )
    assert growth[16:24] == pytest.approx(1.068, abs=0.005)
    assert np.delete(growth, slice(16, 24)) == pytest.approx(1.0, abs=0.005)
