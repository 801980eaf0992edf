"""Runs of a cluster are compared: the one node that all the bad ones had, and no more than the runs can tell."""

import random

from schemas.detection import Detection
from schemas.telemetry import Event
from streams.stages.detect.stage import Detect
from tests.stages.build import START, Fed

NODES = [f"n{number:02d}" for number in range(1, 21)]
GOOD, BAD = 4.0e11, 3.988e11
Run = tuple[list[str], float]


def accused(runs: list[Run]) -> list[str]:
    """Who is named, after any of the runs, for links that are slower."""
    fed = Fed(Detect(), "c1")
    for number, (nodes, value) in enumerate(runs):
        data = {"attempt": 1, "kind": "toy", "nodes": nodes, "values": {"nccl_bus_bytes_per_second": value}}
        time = START + 600.0 * number
        fed.feed(
            Event(
                job="c1", cluster="c1", attempt=0, node="scheduler", seq=number, time=time, event="job.summary",
                subject=f"toy-{number}", data=data,
            )
        )  # fmt: skip
    return [node for one in fed.told(Detection) if one.detector == "common_node" for node in one.nodes]


def drawn(count: int, seed: int) -> list[Run]:
    """So many runs on half of the nodes each, drawn by chance; those with n14 are bad."""
    chance, runs = random.Random(seed), []
    for _ in range(count):
        nodes = chance.sample(NODES, 10)
        runs.append((nodes, (BAD if "n14" in nodes else GOOD) + chance.gauss(0.0, 2e7)))
    return runs


def test_the_node_that_all_bad_runs_had_is_named() -> None:
    """Forty runs leave no other explanation."""
    for seed in range(5):
        assert set(accused(drawn(40, seed))) == {"n14"}


def test_nobody_is_named_while_it_may_be_luck() -> None:
    """Six runs, and one of twenty nodes was in the three worst of them: one of so many is, by chance alone."""
    here, there = NODES[:10], NODES[10:]
    worst: list[Run] = [([*here[:9], "n17"], BAD), (["n17", *here[:5]], BAD + 1e7), (["n17", *there[:2]], GOOD - 3e8)]
    others: list[Run] = [(here, GOOD), (there[:6], GOOD + 1e8), ([*here[3:], there[0]], GOOD + 2e8)]
    assert accused([*worst, *others]) == []
