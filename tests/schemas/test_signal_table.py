"""THE table of signals keeps its own rules."""

from collections import Counter
from typing import get_args

import pytest

from playbooks.cause import CauseLayer
from schemas.detection import Layer
from schemas.signals import SIGNALS, Bad, Kind, Over, Signal, signal_named

UNITS = {"", "s", "1/s", "bytes", "bytes/s", "tokens/s", "share", "TFLOP/s", "W", "Celsius", "MHz"}
FAMILIES = [signal for signal in SIGNALS if "*" in signal.name]
OF_THE_DESIGN = """
loss valid_loss grad_norm learning_rate loss_scale skipped tokens tokens_per_second step_seconds compute_seconds
wait_seconds loader_seconds optimizer_seconds mfu bubble_share checkpoint_seconds checkpoint_bytes source_share.web
length_share.2048 bad_sample_share sampler_cursor duplicate_samples_total skipped_samples_total packing_waste gpu_util
sm_active tensor_active hbm_used_bytes hbm_active sm_clock_mhz temperature_c memory_temperature_c power_watts
throttle_hw_thermal ecc_volatile_total remapped_rows_pending nvlink_errors_total pcie_replays_total pcie_generation
pcie_width cpu_util iowait load memory_available_bytes swap_used_bytes oom_kills_total disk_util disk_latency_seconds
disk_read_bytes_per_second nic_errors_total retransmits_total link_downs_total rdma_out_of_sequence
storage_read_bytes_per_second storage_latency_seconds storage_retries_total storage_errors_total cache_hit_ratio
nccl_bus_bytes_per_second nccl_latency_seconds loader_share checkpoint_share interval_seconds
"""


@pytest.fixture(params=SIGNALS, ids=lambda signal: signal.name)
def signal(request: pytest.FixtureRequest) -> Signal:
    """Each row of the table."""
    row: Signal = request.param
    return row


def test_names_and_aliases_are_unique() -> None:
    """No quantity has two rows, and no spelling means two quantities."""
    spellings = [name for row in SIGNALS for name in (row.name, *row.aliases)]
    assert [name for name, times in Counter(spellings).items() if times > 1] == []


def test_words_are_of_their_lists(signal: Signal) -> None:
    """Layer, part, direction, rule, kind and unit are words that the rest of the house knows."""
    assert signal.layer in get_args(Layer)
    assert signal.part in (*get_args(CauseLayer), "job")
    assert signal.bad in get_args(Bad)
    assert signal.over in get_args(Over)
    assert signal.kind in get_args(Kind)
    assert signal.unit in UNITS


def test_a_row_says_something(signal: Signal) -> None:
    """Every quantity has a meaning for a person, and numbers that can be used."""
    assert len(signal.meaning) > 3
    assert not signal.meaning.endswith(".")
    assert signal.worth > 0
    assert signal.floor >= 0


def test_the_unit_stands_in_the_name(signal: Signal) -> None:
    """A name that ends in a unit has that unit, a counter that is no family ends in _total."""
    for ending, unit in (("_bytes", "bytes"), ("_mhz", "MHz"), ("_watts", "W"), ("_c", "Celsius")):
        assert not signal.name.endswith(ending) or signal.unit == unit
    assert ("_per_second" in signal.name) == signal.unit.endswith("/s") or signal.unit in ("TFLOP/s", "1/s")
    assert not signal.name.endswith("_seconds") or signal.unit == "s"
    assert signal.kind != "counter" or "total" in signal.name or signal in FAMILIES


def test_only_what_can_be_judged_has_a_bad_direction(signal: Signal) -> None:
    """Ids and schedules are planned, so that no change of them is harm by itself."""
    assert signal.kind not in ("id", "schedule") or signal.bad == "none"


def test_a_row_is_found_by_its_name(signal: Signal) -> None:
    """A name of the table gives its row."""
    assert signal_named(signal.name) is signal


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_member_of_a_family_has_its_row(family: Signal) -> None:
    """Whatever stands for the star, the family's row is found, unless the member has one of its own."""
    assert signal_named(family.name.replace("*", "some_member_9")) is family


def test_members_with_their_own_row() -> None:
    """A row of its own goes before the family's."""
    assert signal_named("throttle_sw_power_cap").bad == "none"
    assert signal_named("throttle_hw_slowdown").bad == "up"


@pytest.mark.parametrize("name", OF_THE_DESIGN.split())
def test_the_quantities_of_the_design_are_there(name: str) -> None:
    """What the design names is in the table, itself or by its family."""
    assert signal_named(name).part != "unknown"


@pytest.mark.parametrize("name", ["", "*", "something_new", "throttle", "ecc_total", "source_share.", "loss "])
def test_an_unknown_quantity_may_hurt_either_way(name: str) -> None:
    """What is not in the table is watched as a gauge of the system."""
    row = signal_named(name)
    assert (row.name, row.layer, row.part, row.bad, row.kind) == (name, "system", "unknown", "both", "gauge")
