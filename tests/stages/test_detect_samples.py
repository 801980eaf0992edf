"""What GPUs, nodes and mounts report between the steps, through the detect stage."""

import math
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.detection import Detection, Vitals
from schemas.telemetry import Reading, SampleFrame
from schemas.topics import Record
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import START, Fed, Job

GPUS = ["GPU-0", "GPU-1", "GPU-2", "GPU-3"]
Sampled = Callable[[Job], list[SampleFrame]]


def gpus(**values: list[Reading]) -> Sampled:
    """Samples of the four GPUs of the first node."""
    return lambda job: [job.sample("gpu", GPUS, "n1", [0, 1, 2, 3], **values)]


def life(job: Job, steps: int, sampled: Sampled) -> Iterator[Record]:
    """Steps of about a second, with samples after every fifth."""
    for step in range(steps):
        yield from job.run(1)
        if step % 5 == 4:
            yield from sampled(job)


def found(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of all findings."""
    return list({one.id: one for one in fed.told(Detection)}.values())


def sampled_vitals(fed: Fed[DetectMemory], of: str, name: str) -> list[Reading]:
    """A sampled value of the job, moment by moment."""
    return [one.values[name] for one in fed.told(Vitals) if one.of == of and name in one.values]


def test_a_gpu_that_loses_its_clock() -> None:
    """One of four GPUs runs slower: it is named with its rank and node, dated to a step, and its end is told."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *life(job, 100, gpus(sm_clock_mhz=[1755.0] * 4)))
    fed.feed(*life(job, 60, gpus(sm_clock_mhz=[1755.0, 1755.0, 1300.0, 1755.0])))
    fed.feed(*life(job, 60, gpus(sm_clock_mhz=[1755.0] * 4)))
    [shift] = [one for one in found(fed) if one.signal == "sm_clock_mhz"]
    assert (shift.subject, shift.gpus, shift.ranks, shift.nodes) == ("gpu:GPU-2", ("GPU-2",), (2,), ("n1",))
    assert (shift.before, shift.after, shift.direction) == (1755.0, 1300.0, "down")
    assert abs((shift.onset_step or 0) - 204) <= 6
    assert abs((shift.end_step or 0) - 260) <= 12
    assert shift.end_time is not None
    assert START < shift.onset_time < shift.end_time < job.time


def test_a_clock_that_rises_is_no_finding_and_the_new_normal() -> None:
    """A change for the better is told nothing of; to fall back to the old level is a finding then."""
    fed, job = Fed(Detect()), Job()
    for level, steps in ((1300.0, 100), (1755.0, 100), (1300.0, 60)):
        fed.feed(*life(job, steps, gpus(sm_clock_mhz=[level] * 4)))
    shifts = [one for one in found(fed) if one.signal == "sm_clock_mhz"]
    assert {one.direction for one in shifts} == {"down"}
    assert {one.gpus for one in shifts} == {(name,) for name in GPUS}
    assert all(one.onset_time > START + 200 for one in shifts)


def test_a_flag_that_stays_up() -> None:
    """A throttle flag is a finding after two moments, and none when it is normal under load."""
    fed, job = Fed(Detect()), Job()
    flags = gpus(throttle_hw_thermal=[0.0, 1.0, 0.0, 0.0], throttle_sw_power_cap=[1.0] * 4)
    fed.feed(job.started(), *life(job, 50, gpus(throttle_hw_thermal=[0.0] * 4)), *life(job, 30, flags))
    [flag] = found(fed)
    assert (flag.detector, flag.signal, flag.gpus) == ("sustained", "throttle_hw_thermal", ("GPU-1",))


def test_counters_become_rates() -> None:
    """A counter is told as its increase per second, a restart of it is no fall, and a burst is found."""
    fed, job, total = Fed(Detect()), Job(), 1000.0

    def counted(rate: float) -> Sampled:
        def sampled(job: Job) -> list[SampleFrame]:
            nonlocal total
            total += rate * 5
            return [job.sample("node", ["n1"], "n1", retransmits_total=[total])]

        return sampled

    fed.feed(job.started(), *life(job, 100, counted(2.0)))
    total = 0.0
    fed.feed(*life(job, 50, counted(2.0)))
    assert found(fed) == []
    rates = sampled_vitals(fed, "node", "retransmits_per_second")
    assert all(rate == pytest.approx(10 / 5.45, rel=0.05) for rate in rates)
    fed.feed(*life(job, 40, counted(300.0)))
    assert [(one.signal, one.direction) for one in found(fed)] == [("retransmits_total", "up")]


def test_a_mount_that_many_nodes_report_is_one_thing() -> None:
    """Nodes that read from one mount are put together, and the mount belongs to none of them."""
    fed, job = Fed(Detect()), Job()

    def mounted(latency: float) -> Sampled:
        return lambda job: [
            job.sample("mount", ["/data"], node, storage_latency_seconds=[latency]) for node in job.nodes
        ]

    fed.feed(job.started(), *life(job, 100, mounted(0.004)), *life(job, 50, mounted(0.02)))
    [shift] = [one for one in found(fed) if one.signal == "storage_latency_seconds"]
    assert (shift.subject, shift.nodes, shift.ranks) == ("mount:/data", (), ())


def test_disks_of_the_same_name_are_different_disks() -> None:
    """`sda` of one node is not `sda` of another."""
    fed, job = Fed(Detect()), Job()

    def disks(busy: float) -> Sampled:
        return lambda job: [
            job.sample("disk", ["sda"], node, disk_util=[busy if node == "n2" else 0.2]) for node in job.nodes
        ]

    fed.feed(job.started(), *life(job, 100, disks(0.2)), *life(job, 50, disks(0.95)))
    [shift] = found(fed)
    assert (shift.subject, shift.nodes) == ("disk:n2/sda", ("n2",))


def test_an_idle_gpu_may_let_its_link_sleep() -> None:
    """The PCIe generation falls when a GPU idles, which is no fault; when it is busy, it is."""
    fed, job = Fed(Detect()), Job()
    awake = gpus(pcie_generation=[5.0] * 4, gpu_util=[0.97] * 4)
    asleep = gpus(pcie_generation=[5.0, 1.0, 5.0, 5.0], gpu_util=[0.97, 0.0, 0.97, 0.97])
    broken = gpus(pcie_generation=[5.0, 1.0, 5.0, 5.0], gpu_util=[0.97] * 4)
    fed.feed(job.started(), *life(job, 100, awake), *life(job, 50, asleep))
    assert found(fed) == []
    fed.feed(*life(job, 50, broken))
    assert [(one.signal, one.gpus) for one in found(fed)] == [("pcie_generation", ("GPU-1",))]


def test_samples_of_a_save_say_nothing() -> None:
    """In an announced save the GPUs idle and lower their clocks, which is no fault."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *life(job, 100, gpus(sm_clock_mhz=[1755.0] * 4)), job.event("checkpoint.begin", step=199))
    for _ in range(20):
        job.time += 5.0
        fed.feed(*gpus(sm_clock_mhz=[600.0] * 4)(job))
    fed.feed(job.event("checkpoint.end", step=199), *life(job, 50, gpus(sm_clock_mhz=[1755.0] * 4)))
    assert [one.signal for one in found(fed) if one.detector == "level_shift"] == []


def test_nothing_is_judged_before_the_first_steps() -> None:
    """While a job loads and compiles, no reading of its machines is normal or a fault."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for _ in range(30):
        job.time += 5.0
        fed.feed(*gpus(throttle_hw_thermal=[1.0] * 4, sm_clock_mhz=[300.0] * 4)(job))
    fed.feed(*life(job, 60, gpus(throttle_hw_thermal=[0.0] * 4, sm_clock_mhz=[1755.0] * 4)))
    assert found(fed) == []


def test_machines_without_a_job_are_judged_from_the_start() -> None:
    """Telemetry that belongs to no job waits for no steps."""
    fed, job = Fed(Detect()), Job(attempt=0)
    for hot in (0.0, 1.0):
        for _ in range(20):
            job.time += 5.0
            fed.feed(*gpus(throttle_hw_thermal=[0.0, 0.0, 0.0, hot])(job))
    assert [one.gpus for one in found(fed)] == [("GPU-3",)]


def test_absent_and_broken_readings_are_no_numbers() -> None:
    """A moment without a usable reading has no value; the others of that moment count."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *life(job, 50, gpus(power_watts=[None, math.nan, math.inf, 400.0])))
    fed.feed(*life(job, 50, gpus(power_watts=[None] * 4)))
    fed.flush()
    assert set(sampled_vitals(fed, "gpu", "power_watts")) == {400.0}


def test_a_sample_older_than_the_lateness_is_counted() -> None:
    """What comes after its moment has closed is late and changes nothing."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *life(job, 20, gpus(power_watts=[400.0] * 4)))
    old = job.sample("gpu", GPUS, "n2", power_watts=[900.0] * 4)
    fed.feed(*life(job, 60, gpus(power_watts=[400.0] * 4)), old)
    fed.flush()
    assert fed.memory.counters.late == 1
    assert set(sampled_vitals(fed, "gpu", "power_watts")) == {400.0}


@settings(max_examples=30)
@given(st.permutations(range(24)))
def test_order_of_arrival_within_a_moment_does_not_matter(order: list[int]) -> None:
    """Of several readings in one moment the last counts, in whatever order they arrive."""
    job = Job()
    frames = []
    for number in range(24):
        job.time += 0.2
        frames.append(job.sample("node", ["n1"], "n1", load=[float(number)]))
    fed = Fed(Detect())
    fed.feed(*(frames[place] for place in order))
    fed.flush()
    assert sampled_vitals(fed, "node", "load") == [23.0]


def test_vitals_of_samples_say_where_the_job_was() -> None:
    """Every moment is told once, in order of time, with the step that the job had come to."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *life(job, 40, gpus(power_watts=[400.0] * 4)))
    moments = [one for one in fed.told(Vitals) if one.of == "gpu"]
    assert [one.time for one in moments] == sorted({one.time for one in moments})
    assert all(one.step is not None and START + 1.09 * (one.step - 99) >= one.time for one in moments)
