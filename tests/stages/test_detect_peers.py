"""The slow rank through the detect stage: who it is, where it runs, and which part of its work explains it."""

import numpy as np
import pytest
from msgspec import structs

from schemas.detection import Detection
from schemas.telemetry import Reading, StepFrame
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def slow_ranks(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of the findings on ranks."""
    latest = {one.id: one for one in fed.told(Detection) if one.detector == "slow_rank"}
    return sorted(latest.values(), key=lambda one: one.ranks)


def moved(frames: list[StepFrame], rank: int, part: str, seconds: float) -> list[StepFrame]:
    """The same frames, in which one rank spends so many seconds of its waiting on one part of its work."""
    return [_moved(frame, frame.ranks.index(rank), part, seconds) if rank in frame.ranks else frame for frame in frames]


def _moved(frame: StepFrame, place: int, part: str, seconds: float) -> StepFrame:
    values: dict[str, list[Reading]] = {name: list(row) for name, row in frame.values.items()}
    row = values.setdefault(part, [0.0] * len(frame.ranks))
    row[place] = (row[place] or 0.0) + seconds
    waiting = values["wait_seconds"]
    waiting[place] = (waiting[place] or 0.0) - seconds
    return structs.replace(frame, values=values)


def test_a_slow_rank_is_named_with_its_node_and_gpu() -> None:
    """Of eight ranks with equal step times the one that works a third longer is named, and its compute time."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60), *job.run(40, slow={6: 1.33}), *job.run(40))
    [found] = slow_ranks(fed)
    assert (found.subject, found.ranks, found.nodes, found.gpus) == ("rank:6", (6,), ("n2",), ("GPU-6",))
    assert (found.part, found.signal, found.direction) == ("compute", "own_seconds", "up")
    assert abs((found.onset_step or 0) - 160) <= 1
    assert found.numbers["ratio"] == pytest.approx(1.32, abs=0.02)
    assert 0.5 < found.numbers["part_share"] <= 1.0
    assert 198 <= (found.end_step or 0) <= 206
    assert found.text.startswith("rank 6 on n2 works 1.3")


@pytest.mark.parametrize(
    ("signal", "part"),
    [
        pytest.param("compute_seconds", "compute", id="compute"),
        pytest.param("loader_seconds", "loader", id="loader"),
        pytest.param("h2d_seconds", "h2d", id="input copy"),
        pytest.param("host_prep_seconds", "host_prep", id="host"),
        pytest.param("optimizer_seconds", "optimizer", id="optimiser"),
        pytest.param("something_seconds", "", id="a part that we do not know"),
    ],
)
def test_the_part_that_explains_it(signal: str, part: str) -> None:
    """The part of its work in which the rank differs from its peers is named, and none where none differs."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60, waiting=0.5), *moved(job.run(60, waiting=0.5), 3, signal, 0.4))
    [found] = slow_ranks(fed)
    assert (found.ranks, found.part) == ((3,), part)


def test_ranks_that_were_not_placed_are_named_by_their_frames() -> None:
    """Without a placement, a rank's node is the one that reports it, and its GPU is not known."""
    fed, job = Fed(Detect()), Job()
    fed.feed(*job.run(60), *job.run(40, slow={6: 1.33}))
    [found] = slow_ranks(fed)
    assert (found.ranks, found.nodes, found.gpus) == ((6,), ("n2",), ())


def test_a_later_stage_that_works_longer_has_no_slow_rank() -> None:
    """Ranks are compared within their pipeline stage alone."""
    fed, job = Fed(Detect()), Job()
    placement = [{"rank": rank, "node": job.node_of(rank), "gpu": f"GPU-{rank}", "pp": rank // 4} for rank in range(8)]
    stage = dict.fromkeys(range(4, 8), 1.6)
    fed.feed(job.started(placement=placement), *job.run(100, slow=stage))
    assert slow_ranks(fed) == []
    fed.feed(*job.run(60, slow={**stage, 5: 2.1}))
    assert [one.ranks for one in slow_ranks(fed)] == [(5,)]


def test_a_rank_without_readings_is_neither_fast_nor_slow() -> None:
    """Ranks whose timings are absent are not accused, and do not make their peers look slow."""
    fed, job = Fed(Detect()), Job()
    frames = [
        structs.replace(frame, values={name: [None, None, *row[2:]] for name, row in frame.values.items()})
        for frame in job.run(100)
    ]
    fed.feed(job.started(), *frames)
    assert slow_ranks(fed) == []


def test_taking_turns_is_nobodys_fault() -> None:
    """Where another rank is slow in each step, none is named."""
    fed, job, turns = Fed(Detect()), Job(), np.random.default_rng(3)
    fed.feed(job.started())
    for _ in range(150):
        fed.feed(*job.run(1, slow={int(turns.integers(8)): 1.5}))
    assert slow_ranks(fed) == []


def test_steps_of_a_phase_accuse_nobody() -> None:
    """In a warm-up one rank may compile longer than the others."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60), job.event("phase.begin", phase="warmup"), *job.run(60, slow={6: 1.5}))
    assert slow_ranks(fed) == []


def test_ranks_that_join_later_are_watched_too() -> None:
    """A node whose frames begin late gets its place beside the others."""
    fed, job = Fed(Detect()), Job()
    fed.feed(*(frame for frame in job.run(30) if frame.node == "n1"), *job.run(60), *job.run(40, slow={6: 1.33}))
    assert [one.ranks for one in slow_ranks(fed)] == [(6,)]


def test_a_slow_rank_among_uneven_loads() -> None:
    """Where ranks say how many tokens they had, a tenth is found on one of them and no load is taken for slowness."""
    chance = np.random.default_rng(3)
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for step in range(300):
        load = np.exp(0.3 * chance.normal(size=8))
        work = {rank: load[rank] * (1.1 if rank == 6 and step >= 150 else 1.0) for rank in range(8)}
        frames = job.run(1, slow=work)
        for frame in frames:
            frame.values["tokens"] = [float(4096.0 * load[rank]) for rank in frame.ranks]
        fed.feed(*frames)
    fed.flush()
    [found] = slow_ranks(fed)
    assert found.ranks == (6,)
    assert abs((found.onset_step or 0) - 250) <= 8
    assert found.numbers["ratio"] == pytest.approx(1.1, abs=0.02)
