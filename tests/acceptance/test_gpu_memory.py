"""The memory of a GPU that fills up for an hour is told before it is full, and is why the job fails then."""

from collections.abc import Callable

import pytest

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

TOTAL = 8e10
OUT = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def filled(share: Callable[[int, int], float], minutes: int = 60, fails: bool = False) -> Story:
    """A job of two nodes whose GPUs are read three times a minute.

    Args:
        share: of rank and minute: how full its GPU is.
        minutes: so long it trains.
        fails: rank 3 gets no memory in the end.
    """
    job = Job(nodes=2)
    story: Story = [job.started(), *job.run(20)]
    for third in range(3 * minutes):
        story += job.run(18)
        for node in job.nodes:
            ranks = [rank for rank in range(job.size) if job.node_of(rank) == node]
            used: list[float | None] = [TOTAL * share(rank, third // 3) for rank in ranks]
            ids = [f"GPU-{rank}" for rank in ranks]
            story.append(job.sample("gpu", ids, node, ranks, hbm_used_bytes=used, hbm_total_bytes=[TOTAL] * job.ranks))
    if fails:
        story += [
            job.event("rank.error", node="n1", rank=3, error=OUT),
            job.event("rank.exit", node="n1", rank=3, exit_code=1),
        ]
        story += [job.event("attempt.ended", reason="failed", exit_code=1)]
    return story


def leak(rank: int, minute: int) -> float:
    """One rank keeps what it should free."""
    return 0.7 + (0.3 * minute / 60 if rank == 3 else 0.0)


def everywhere(_: int, minute: int) -> float:
    """All ranks do."""
    return 0.7 + 0.3 * minute / 60


def settling(_: int, minute: int) -> float:
    """An allocator that keeps what the longest batches so far have needed."""
    return 0.7 + 0.02 * minute.bit_length()


def full(rank: int, _: int) -> float:
    """Nearly full from the start, as it should be."""
    return 0.97 + 0.001 * rank


@pytest.mark.parametrize("fails", [False, True])
def test_a_leak_is_told_before_it_is_full_and_is_why_the_job_fails(fails: bool) -> None:
    """The rank is named; the error it ends in is no incident of its own."""
    [incident] = incidents_of(filled(leak, fails=fails))
    assert (incident["cause"], incident["layer"], incident["ranks"]) == ("gpu_memory_leak", "software", [3])
    assert incident["severity"] == ("error" if fails else "warning")
    assert {one["action"] for one in incident["actions"]} == {"notify"}


def test_a_leak_of_all_ranks_names_nobody() -> None:
    """It is the program's."""
    [incident] = incidents_of(filled(everywhere))
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("gpu_memory_leak", [], [])


@pytest.mark.parametrize("share", [settling, full])
def test_memory_that_is_in_use_is_no_leak(share: Callable[[int, int], float]) -> None:
    """Memory is there to be used."""
    assert incidents_of(filled(share, minutes=120)) == []


def test_memory_that_runs_out_at_once_is_no_leak() -> None:
    """One batch was too long: that is an error of the program, with nothing before it."""
    assert [one["cause"] for one in incidents_of(filled(full, fails=True))] == ["program_error"]
