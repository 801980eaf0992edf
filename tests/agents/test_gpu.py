"""The GPU source through the real binding, on a stand-in for the driver's library."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, Sample
from streams.agents.gpu import Gpus
from streams.agents.kernel_log import KernelLog
from streams.agents.nvml import DriverAway
from streams.agents.once import Once
from streams.agents.sampling import Gap, Sampling
from tests.agents.nvml_standin import Standin, build, environment
from tests.fakes import FakeClock

DEADLINE_SECONDS = 20.0


def sample(findings: Sequence[Finding]) -> Sample:
    """Give the one sample among the findings."""
    (found,) = (each for each in findings if isinstance(each, Sample))
    return found


def row(findings: Sequence[Finding], uuid: str) -> dict[str, Reading]:
    """Give what is known of one GPU; what is absent is not in it."""
    found = sample(findings)
    place = found.ids.index(uuid)
    return {name: values[place] for name, values in found.values.items() if values[place] is not None}


def happenings(findings: Sequence[Finding]) -> list[Happening]:
    """Give what happened."""
    return [each for each in findings if isinstance(each, Happening)]


def look_twice(gpus: Gpus) -> Sequence[Finding]:
    """Look, and once more when the monitor has something to say."""
    gpus()
    time.sleep(0.11)  # the monitor's own shortest interval
    return gpus()


def test_what_seldom_changes_is_asked_seldom_and_told_always(standin: Standin) -> None:
    """A link that goes down is told within five seconds; in between every look tells of the links as they were."""
    clock = FakeClock()
    gpus = Gpus(clock.now)
    assert row(gpus(), "GPU-3")["nvlink_lanes_up"] == 18.0
    standin.set(3, links=17)
    told = []
    for _ in range(5):
        clock.time += 1.0
        told.append(row(gpus(), "GPU-3")["nvlink_lanes_up"])
    assert told == [18.0, 18.0, 18.0, 18.0, 17.0]


def test_a_healthy_gpu_says_everything_in_our_units(standin: Standin) -> None:
    """Every reading of a healthy GPU has the unit of the table; the eight GPUs are one sample by UUID."""
    findings = look_twice(Gpus())
    assert happenings(findings) == []
    assert sample(findings).ids == [f"GPU-{index}" for index in range(8)]
    readings = row(findings, "GPU-3")
    flags = {name for name in readings if name.startswith(("throttle_", "ecc_", "remapped"))}
    assert {name: value for name, value in readings.items() if name not in flags} == {
        "gpu_util": 0.97,
        "sm_active": 0.91,
        "tensor_active": 0.55,
        "hbm_used_bytes": float(100 << 30),
        "hbm_total_bytes": float(141 << 30),
        "sm_clock_mhz": 1755.0,
        "sm_clock_limit_mhz": 1980.0,
        "temperature_c": 61.0,
        "temperature_margin_c": 24.0,
        "memory_temperature_c": 88.0,
        "power_watts": 640.0,
        "power_limit_watts": 700.0,
        "pcie_generation": 5.0,
        "pcie_width": 16.0,
        "pcie_replays_total": 7.0,
        "nvlink_lanes_up": 18.0,
        "nvlink_errors_total": 0.0,
        "clocks_held_power_seconds_total": 2.0,
        "clocks_held_thermal_seconds_total": 0.0,
        "clocks_held_hw_thermal_seconds_total": 0.0,
    }  # fmt: skip
    assert {readings[name] for name in flags} == {0.0}


def test_a_throttled_gpu_says_why(standin: Standin) -> None:
    """The reasons of low clocks are flags; one that came and went between two looks is seen by its time."""
    gpus = Gpus()
    standin.set(2, mask=0x8 | 0x40, clock=900, thermal_ns=1)
    gpus()
    standin.set(5, thermal_ns=500_000_000)
    findings = gpus()
    hot, passing, well = (row(findings, f"GPU-{index}") for index in (2, 5, 6))
    assert hot["sm_clock_mhz"] == 900.0
    assert [name for name, value in hot.items() if name.startswith("throttle_") and value] == [
        "throttle_hw_slowdown",
        "throttle_hw_thermal",
    ]
    assert passing["throttle_hw_thermal"] == 1.0
    assert well["throttle_hw_thermal"] == 0.0


def test_a_lost_gpu_is_told_once_and_the_others_go_on(standin: Standin) -> None:
    """A GPU for which the driver has no answer is an event with its address; it is absent then, and comes back."""
    gpus = Gpus()
    gpus()
    standin.set(4, lost=1)
    findings = gpus()
    (lost,) = happenings(findings)
    assert (lost.event, lost.subject, lost.data["pci"]) == ("gpu.lost", "GPU-4", "0000:3f:00")
    assert lost.data["error"]
    assert sample(findings).ids == [f"GPU-{index}" for index in range(8) if index != 4]
    assert happenings(gpus()) == []
    standin.set(4, lost=0)
    assert "GPU-4" in sample(gpus()).ids


def test_what_a_part_does_not_have_is_absent(standin: Standin) -> None:
    """Unsupported calls and fields leave no zero behind; a call without rights is remembered for doctor."""
    standin.set(1, bare=1, links=0)
    standin.set(0, denied=1)
    gpus = Gpus()
    findings = look_twice(gpus)
    assert row(findings, "GPU-1") == {"hbm_used_bytes": float(100 << 30), "hbm_total_bytes": float(141 << 30)}
    assert "power_watts" not in row(findings, "GPU-0")
    assert gpus.denied == {"nvmlDeviceGetPowerUsage"}


def test_an_idle_gpu_has_no_link_speed(standin: Standin) -> None:
    """A link slows down by design while its GPU is idle: then its speed is no reading."""
    standin.set(0, util=0, generation=1)
    readings = row(Gpus()(), "GPU-0")
    assert "pcie_generation" not in readings
    assert readings["gpu_util"] == 0.0


def test_mig_instances_speak_for_themselves(standin: Standin) -> None:
    """In MIG mode the whole GPU has no utilisation; its instances have memory and activity under their own UUID."""
    standin.set(0, mig=2)
    findings = look_twice(Gpus())
    assert sample(findings).ids[:3] == ["GPU-0", "MIG-0-0", "MIG-0-1"]
    assert "gpu_util" not in row(findings, "GPU-0")
    assert "sm_active" not in row(findings, "GPU-0")
    assert row(findings, "MIG-0-1") == {
        "hbm_used_bytes": float(5 << 30),
        "hbm_total_bytes": float(20 << 30),
        "sm_active": 0.91,
        "tensor_active": 0.55,
    }


def test_xid_errors_and_the_drivers_advice_are_events(standin: Standin) -> None:
    """An Xid arrives with its GPU, though nobody looked at that moment; advice is told when it changes."""
    gpus = Gpus()
    gpus()
    standin.set(3, xid=79, action=1)
    found: list[Happening] = []
    end = time.monotonic() + DEADLINE_SECONDS
    while len(found) < 2:
        assert time.monotonic() < end
        found += happenings(gpus())
        time.sleep(0.01)
    said = {each.event: each for each in found}
    assert (said["xid"].subject, said["xid"].data) == ("GPU-3", {"code": 79})
    advice = said["gpu.recovery_action"]
    assert (advice.subject, advice.data["advice"]) == ("GPU-3", "reset the GPU")
    assert happenings(gpus()) == []
    standin.set(3, action=0)
    (well,) = happenings(gpus())
    assert well.data["action"] == 0


def test_a_call_that_hangs_stops_nobody(standin: Standin) -> None:
    """A call that does not come back is a gap that names it; the other sources go on at their pace, and it recovers."""
    gpus = Gpus()

    async def story() -> None:
        sampling = Sampling({"gpu": gpus, "other": lambda: [Sample(of="node")]}, patience=1.0)
        assert (await sampling.take())[1] == []
        standin.set(6, hang=1)
        _, gaps = await sampling.take()
        assert gaps == [Gap("gpu", "no answer: nvmlDeviceGetFieldValues of GPU-6")]
        begin = time.monotonic()
        for _ in range(20):
            findings, gaps = await sampling.take()
            assert [each.of for each in findings if isinstance(each, Sample)] == ["node"]
            assert [gap.source for gap in gaps] == ["gpu"]
        assert time.monotonic() - begin < 10.0  # it was not waited for again, which would be twenty
        assert standin.waiting == 1
        standin.set(6, hang=0)
        end = time.monotonic() + DEADLINE_SECONDS
        while (await sampling.take())[1]:
            assert time.monotonic() < end

    asyncio.run(story())


def test_a_driver_that_goes_is_a_gap_and_comes_back(standin: Standin) -> None:
    """While the driver is not loaded every look says so; it is tried again after a pause, and then all is well."""
    gpus = Gpus()
    gpus()
    standin.reset(8, loaded=False)
    for index in range(8):
        standin.set(index, lost=0)
    fresh = Gpus()
    with pytest.raises(DriverAway, match="not loaded"):
        fresh()
    standin.reset(8)
    with pytest.raises(DriverAway, match="not loaded"):
        fresh()  # the pause is not over
    assert len(sample(gpus()).ids) == 8


PROGRAM = """
from streams.agents.gpu import Gpus
try:
    findings = Gpus()()
    print(sorted(findings[0].values) if findings else "no GPU")
except OSError as fault:
    print(fault)
"""


def run_alone(env: dict[str, str] | None = None) -> str:
    """Look once in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60, env=env
    ).stdout.strip()


def test_without_a_driver_it_says_so() -> None:
    """On a machine without the library the source says that there is no driver."""
    assert run_alone() == "there is no NVIDIA driver"


def test_an_older_driver_is_asked_by_the_older_names(tmp_path: Path) -> None:
    """Where the newer calls are missing the older ones answer, and what only newer ones have is absent."""
    library = build(tmp_path, "-DOLD")
    program = PROGRAM.replace("Gpus()()", "(Standin(Path(sys.argv[1])), Gpus()())[1]")
    program = "import sys\nfrom pathlib import Path\nfrom tests.agents.nvml_standin import Standin\n" + program
    said = subprocess.run(
        [sys.executable, "-c", program, str(library)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment(library),
    ).stdout
    assert "throttle_hw_slowdown" in said
    assert "temperature_margin_c" not in said


def test_the_kernels_xid_gets_the_gpus_name_and_is_told_once(standin: Standin, tmp_path: Path) -> None:
    """The kernel knows an address, NVML the UUID: both tell of the same Xid, and one event comes of it."""
    gpus = Gpus()
    gpus()
    device = tmp_path / "kmsg"
    device.write_bytes(b"")
    kernel = KernelLog(device, gpus.names)
    kernel()
    device.write_bytes(b"4,1,5140900,-;NVRM: Xid (PCI:0000:3e:00): 79, pid=1, GPU has fallen off the bus.\n")
    (told,) = kernel()
    assert isinstance(told, Happening)
    assert told.subject == "GPU-3"
    once, other = Once(), Happening(event="xid", subject="GPU-3", data={"code": 79})
    assert list(once.first([told], 0.0)) == [told]
    neighbour = Happening(event="xid", subject="GPU-4", data={"code": 79})
    assert list(once.first([other, neighbour], 1.0)) == [neighbour]
    assert list(once.first([other], 60.0)) == [other]
