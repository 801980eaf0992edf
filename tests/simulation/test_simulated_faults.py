"""What each fault and decoy shows beside the step time."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from schemas.telemetry import SampleFrame
from tests.simulation.lived import Lived

Runs = Callable[[str], Lived]


@pytest.mark.parametrize(
    ("name", "signal", "node", "entity", "before", "after"),
    [
        ("thermal", "sm_clock_mhz", "n02", 0, 1755.0, 1404.0),
        ("thermal", "throttle_hw_thermal", "n02", 1, 0.0, 1.0),
        ("thermal", "sm_clock_mhz", "n02", 3, 1755.0, 1755.0),
        ("power", "throttle_hw_power_brake", "n01", 5, 0.0, 1.0),
        ("power", "power_limit_watts", "n01", 5, 700.0, 450.0),
        ("power", "power_limit_watts", "n02", 5, 700.0, 700.0),
        ("pcie", "pcie_generation", "n01", 3, 5.0, 1.0),
        ("pcie", "pcie_generation", "n01", 2, 5.0, 5.0),
        ("nvlink", "nvlink_lanes_up", "n01", 6, 18.0, 16.0),
        ("host_cpu", "allowed_cpus", "n02", 0, 96.0, 8.0),
    ],
)
def test_states_that_a_fault_changes(
    name: str, signal: str, node: str, entity: int, before: float, after: float, lived: Runs
) -> None:
    """The gauge stands at its healthy value before the onset and at the stated one afterwards."""
    run = lived(name)
    assert (run.sampled(signal, node, 1_005, 1_295)[:, entity] == before).all()
    assert run.sampled(signal, node, 1_320, 1_600)[-3:, entity] == pytest.approx(after)


@pytest.mark.parametrize(
    ("name", "signal", "node", "per_second"),
    [
        ("network", "retransmits_total", "n04", 260.0),
        ("nvlink", "nvlink_errors_total", "n01", 30.0),
        ("storage", "storage_retries_total", "n02", 9.0),
        ("host_cpu", "storage_retries_total", "n02", 0.01),
        ("quiet", "retransmits_total", "n01", 0.05),
    ],
)
def test_counters_grow_at_their_rate(name: str, signal: str, node: str, per_second: float, lived: Runs) -> None:
    """A counter never falls, and grows at the stated rate once the fault is there."""
    counted = lived(name).sampled(signal, node, 1_320, 1_600).max(axis=1)
    assert (np.diff(counted) >= 0).all()
    assert (counted[-1] - counted[0]) / (10.0 * (len(counted) - 1)) == pytest.approx(per_second, rel=0.1, abs=0.02)


def test_a_starved_cpu_is_no_slow_storage(lived: Runs) -> None:
    """Short of CPU the allowed CPUs are busy and the storage is at rest; with a slow storage it is vice versa."""
    busy, latency = "allowed_cpu_util", "storage_latency_seconds"
    cpu, storage = lived("host_cpu"), lived("storage")
    assert np.median(cpu.sampled(busy, "n01", 1_320, 1_690)) > 0.95
    assert np.median(cpu.sampled(latency, "n01", 1_320, 1_690)) < 0.005
    assert np.median(storage.sampled(busy, "n01", 1_400, 1_690)) < 0.4
    assert np.median(storage.sampled(latency, "n01", 1_400, 1_690)) > 0.02
    for run in (cpu, storage):
        assert np.median(run.loader_share(1_600, 1_700)) == pytest.approx(0.2, abs=0.025)


def test_a_hang_looks_busy(lived: Runs) -> None:
    """No step ends any more, the culprit misses the last one, and for 15 minutes all GPUs look busy and draw little."""
    run = lived("hang")
    assert run.steps()[-1] == 1_300
    assert np.flatnonzero(np.isnan(run.over("step_seconds", 1_300, 1_300)[0])).tolist() == [4]
    after = [r for r in run.records if isinstance(r, SampleFrame) and r.time > run.time_of(1_300)]
    assert after[-1].time - run.time_of(1_300) == pytest.approx(900.0, abs=15.0)
    gpus = [r.values for r in after if r.of == "gpu"]
    assert np.array([values["gpu_util"] for values in gpus], dtype=np.float64).min() > 0.95
    assert np.array([values["power_watts"] for values in gpus], dtype=np.float64).max() < 300.0


def test_a_lost_gpu_is_named(lived: Runs) -> None:
    """The event has code, address and GPU of the culprit, the exporter's gauge sticks, and the attempt fails."""
    run = lived("xid")
    placed = run.events("attempt.started")[0].data["placement"][9]
    event = run.events("xid")[0]
    assert (event.subject, event.data) == (placed["gpu"], {"code": 79, "pci": placed["pci"]})
    gauges = [
        r.values["xid_last"] for r in run.records if isinstance(r, SampleFrame) and r.node == "n02" and r.of == "gpu"
    ]
    assert gauges[0] == [0.0] * 8
    assert gauges[-1] == [0.0, 79.0, *[0.0] * 6]
    assert run.events("attempt.ended")[0].data == {"reason": "failed", "exit_code": 1}


def test_a_planned_save_lasts_as_long_as_the_hang(lived: Runs) -> None:
    """Two saves of fifteen minutes are announced by begin and end, and the GPUs are idle meanwhile."""
    run = lived("planned_checkpoint_long")
    assert [event.data["step"] for event in run.events("checkpoint.begin")] == [1_200, 1_500]
    assert all(event.data["seconds"] == pytest.approx(900.0, rel=0.05) for event in run.events("checkpoint.end"))
    assert run.sampled("gpu_util", "n01", 1_200, 1_201)[:-1].max() < 0.05
    assert run.sampled("pcie_generation", "n01", 1_200, 1_201)[:-1].max() == 1.0


@pytest.mark.parametrize(
    ("name", "usable"),
    [("nan", math.isnan), ("inf", math.isinf), ("absent_loss", lambda reading: reading is None)],
)
def test_losses_that_are_no_numbers(name: str, usable: Callable[[float | None], bool], lived: Runs) -> None:
    """From the onset on loss and gradient norm are what the scenario says; before it they are numbers."""
    for signal in ("loss", "grad_norm"):
        values = lived(name).job(signal)
        assert all(usable(values[step]) for step in range(5_250, 5_501))
        assert all(
            isinstance(values[step], float) and math.isfinite(values[step] or 0.0) for step in range(5_000, 5_250)
        )


def test_the_gradient_norm_knows_of_a_spike_first(lived: Runs) -> None:
    """The norm has more than doubled four steps before the loss moves, and the loss comes back within thirty steps."""
    run = lived("loss_spike")
    loss, norm = run.finite("loss", 5_000, 5_500), run.finite("grad_norm", 5_000, 5_500)
    assert norm[246] > 2 * np.median(norm)
    assert abs(loss[249] - np.median(loss)) < 0.1
    assert loss[250:256].max() == pytest.approx(5.1, abs=0.2)
    assert abs(loss[285] - np.median(loss)) < 0.1


def test_a_changed_mixture_moves_the_loss_at_once(lived: Runs) -> None:
    """One share falls by 20 points, another rises by them, bad samples appear, and the loss steps up at once."""
    run = lived("data_mixture")

    def change(signal: str) -> float:
        values = run.finite(signal, 5_000, 5_500)
        return float(np.median(values[250:]) - np.median(values[:250]))

    assert change("source_share.code") == pytest.approx(-0.2, abs=0.01)
    assert change("source_share.web") == pytest.approx(0.2, abs=0.01)
    assert change("source_share.books") == pytest.approx(0.0, abs=0.01)
    assert change("bad_sample_share") == pytest.approx(0.03, abs=0.003)
    assert change("loss") == pytest.approx(0.3, abs=0.03)


def test_a_leak_ends_in_a_kill(lived: Runs) -> None:
    """Memory falls steadily on one node, then kill, dead worker, dead rank and end of the attempt follow."""
    run = lived("memory_leak")
    left = run.sampled("memory_available_bytes", "n02", 1_060, 1_350)[:, 0]
    assert (np.diff(left) < 0).mean() > 0.9
    assert left[-1] < 0.1 * left[0]
    assert np.median(run.sampled("memory_available_bytes", "n01", 1_060, 1_350)) > 8e11
    names = [record.event for record in run.records if hasattr(record, "event")]
    assert names == ["attempt.started", "oom.kill", "worker.killed", "rank.exit", "attempt.ended"]
    assert run.sampled("oom_kills_total", "n02", 1_360, 1_700)[-1, 0] == 1.0


def test_who_falls_silent(lived: Runs) -> None:
    """A silent node leaves the others talking; a silent job leaves only the scheduler, who calls it running."""
    run = lived("node_silent")
    assert {frame.node for frame in run.frames if frame.step == 1_299} == {"n01", "n02", "n03", "n04"}
    assert {frame.node for frame in run.frames if frame.step >= 1_300} == {"n01", "n03", "n04"}
    job = lived("telemetry_stops")
    assert job.steps()[-1] == 1_299
    late = [record for record in job.records if getattr(record, "time", 0.0) > job.time_of(1_299) + 1.0]
    assert len(late) >= 6
    assert {getattr(record, "event", "") for record in late} == {"scheduler.status"}


def test_saves_on_a_shared_path_grow(lived: Runs) -> None:
    """Healthy saves take 6 s; after the onset each takes longer than the one before, from 41 s on."""
    seconds = [event.data["seconds"] for event in lived("checkpoint_shared").events("checkpoint.end")]
    assert seconds[:3] == pytest.approx([6.0, 6.0, 6.0], rel=0.1)
    assert seconds[3] == pytest.approx(41.0, rel=0.1)
    assert seconds[3:] == sorted(seconds[3:])
    assert seconds[-1] > 60.0
