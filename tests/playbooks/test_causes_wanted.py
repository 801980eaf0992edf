"""What a night shift needs a name for has one, with evidence on both sides and the playbooks that are for it."""

import pytest

from playbooks.cause import Cause
from playbooks.load import load_causes, load_playbooks

CAUSES = {cause.cause: cause for cause in load_causes()}
LIBRARY = load_playbooks(causes=tuple(CAUSES.values()))

WANTED: dict[str, tuple[str, ...]] = {
    "storage and object store": ("loader_starved_by_storage", "storage_errors", "storage_unreachable"),
    "metadata": ("metadata_slow",),
    "loader CPU and affinity": ("loader_starved_by_host_cpu",),
    "host memory": ("host_memory",),
    "page cache": ("page_cache_lost",),
    "checkpoint contention": ("checkpoint_on_shared_path", "checkpoints_slow_down"),
    "checkpoint failure": ("checkpoint_failed", "checkpoint_incomplete", "checkpoint_stuck"),
    "GPU thermal": ("gpu_thermal",),
    "GPU power": ("gpu_power",),
    "GPU clock": ("slow_gpu",),
    "GPU memory errors": ("gpu_memory_errors",),
    "application Xid": ("application_fault",),
    "pending Xid": ("gpu_row_remap_pending",),
    "terminal Xid, off the bus": ("gpu_failed",),
    "NVLink and PCIe": ("gpu_link", "link_errors"),
    "NIC": ("port_errors", "network_congestion"),
    "link flap": ("link_flap",),
    "congestion": ("network_congestion",),
    "NCCL time-out with the rank at fault": ("rank_failed", "hang"),
    "hang without time-out": ("hang", "loader_deadlock"),
    "uneven sequences": ("uneven_sequences",),
    "expert imbalance": ("expert_imbalance",),
    "stage imbalance": ("stage_imbalance",),
    "garbage collection": ("garbage_collection",),
    "numeric blow-up": ("numeric_blow_up",),
    "bad batch": ("loss_spike", "data_fault"),
    "data order at resume": ("data_order_repeated", "data_position_lost"),
    "mixture at resume": ("data_fault",),
    "learning-rate discontinuity": ("learning_rate_discontinuity",),
    "silent corruption": ("silent_corruption",),
    "software upgrade": ("loss_level_changed", "recovery_differs"),
    "configuration drift": ("configuration_drift",),
    "preemption": ("preemption", "machines_taken_away"),
    "queueing": ("no_successor",),
    "blind spots": ("telemetry_gone", "collector_stuck", "source_unread", "history_lost", "steps_unreported"),
}
SAYS_SO_ITSELF = (
    # One finding that is made of both sides of the evidence already, or an event that leaves no room for doubt.
    *("hang", "history_lost", "host_memory", "machines_taken_away", "no_successor", "numeric_blow_up", "preemption"),
    *("silent_corruption", "source_unread", "configuration_drift", "gpu_failed", "checkpoint_incomplete"),
    *("gpu_memory_errors", "data_order_repeated", "data_position_lost", "learning_rate_discontinuity"),
)


@pytest.mark.parametrize("wanted", sorted(WANTED))
def test_what_is_wanted_is_in_the_catalogue(wanted: str) -> None:
    """Each has a cause with evidence for it, and with evidence against it unless one finding says it all."""
    for name in WANTED[wanted]:
        cause = CAUSES[name]
        assert any(clue.weight > 0 for clue in cause.clues)
        assert cause.look_at
        if name not in SAYS_SO_ITSELF:
            assert any(clue.weight < 0 or clue.otherwise < 0 for clue in cause.clues), name


@pytest.mark.parametrize("wanted", sorted(WANTED))
def test_what_follows_is_told_as_a_consequence(wanted: str) -> None:
    """A cause that holds the job up knows what moves along with it or what the job's end looks like."""
    for name in WANTED[wanted]:
        cause = CAUSES[name]
        if cause.layer not in ("monitoring", "scheduler") and cause.severity != "info":
            slow_or_dead = bool(cause.cascade or cause.teardown)
            assert slow_or_dead or name in ("gpu_row_remap_pending", "silent_corruption"), name


@pytest.mark.parametrize("cause", CAUSES.values(), ids=lambda cause: cause.cause)
def test_a_playbook_for_a_cause_is_suggested_by_it(cause: Cause) -> None:
    """Whoever reads the file of a cause finds every playbook that names the cause."""
    meant = {one.playbook for one in LIBRARY if cause.cause in one.when.causes}
    assert meant <= {*cause.playbooks}
