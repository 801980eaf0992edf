"""Slowness that moves, through the detect stage: told apart from a rank that is slow."""

import numpy as np

from schemas.detection import Detection
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def uneven(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of the findings."""
    return list({one.id: one for one in fed.told(Detection) if one.detector == "uneven_work"}.values())


def lived(steps: int, spread: float, slow: float = 1.0, calm: int = 0) -> Fed[DetectMemory]:
    """A job whose ranks work as unevenly as that, one of them slower by a factor; in the end evenly again."""
    chance, fed, job = np.random.default_rng(4), Fed(Detect()), Job()
    fed.feed(job.started())
    for step in range(steps + calm):
        work = np.exp((spread if step < steps else 0.0) * chance.normal(size=8))
        fed.feed(*job.run(1, slow={rank: work[rank] * (slow if rank == 5 else 1.0) for rank in range(8)}))
    fed.flush()
    return fed


def test_sequences_of_uneven_length_are_told_and_accuse_nobody() -> None:
    """Every step waits for another rank: how much it costs, and that it moves."""
    fed = lived(300, spread=0.2)
    [found] = uneven(fed)
    assert (found.part, found.ranks, found.nodes) == ("compute", (), ())
    assert found.numbers["ranks"] == 8
    assert 0.2 <= found.numbers["excess"] <= 0.5
    assert [one for one in fed.told(Detection) if one.detector == "slow_rank"] == []


def test_one_slow_rank_is_no_moving_slowness() -> None:
    """Where it is nearly always the same rank, that rank is told, and not that it moves."""
    fed = lived(300, spread=0.05, slow=1.5)
    assert uneven(fed) == []
    assert {one.ranks for one in fed.told(Detection) if one.detector == "slow_rank"} == {(5,)}


def test_even_work_says_nothing_and_uneven_work_may_end() -> None:
    """Noise of a percent is nobody's matter; when the work is even again, the finding is over."""
    assert uneven(lived(300, spread=0.0)) == []
    [found] = uneven(lived(250, spread=0.2, calm=300))
    assert found.end_time is not None


def test_half_of_the_ranks_that_are_always_slow_are_no_moving_slowness() -> None:
    """Whichever of four slow ranks is slowest in a step, it is the same four: what stands does not move."""
    chance, fed, job = np.random.default_rng(4), Fed(Detect()), Job()
    fed.feed(job.started())
    for _ in range(300):
        work = np.exp(0.01 * chance.normal(size=8))
        fed.feed(*job.run(1, slow={rank: work[rank] * (1.5 if rank >= 4 else 1.0) for rank in range(8)}))
    fed.flush()
    assert uneven(fed) == []


def test_it_is_dated_to_where_it_began() -> None:
    """The looks that are judged together reach back into the even steps before it; those are left out."""
    chance, fed, job = np.random.default_rng(4), Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(200))
    for _ in range(200):
        work = np.exp(0.2 * chance.normal(size=8))
        fed.feed(*job.run(1, slow=dict(enumerate(work))))
    fed.flush()
    [found] = uneven(fed)
    assert abs((found.onset_step or 0) - 300) <= 8
