"""False incidents: days of jobs in which nothing is wrong, with everything that looks as if something were.

Every job has all decoys at once: a warm-up, saves and evaluations that stop it, the drift of the day, single steps that
take far longer, a batch that grows on schedule, a restart on fewer nodes; half of them have sequences of uneven length,
and every third announces neither saves nor evaluations. Backgrounds are resampled from recorded step times, every run
loses, repeats, delays and reorders some records, and ticks come as a runtime sends them.
"""

import math
from collections import Counter

import numpy as np
from msgspec import Struct, field

from bench.table import Table
from bench.ticking import heard
from playbooks.load import load_causes, load_playbooks
from schemas.codec import encode
from schemas.telemetry import Event, StepFrame, Telemetry, Tick
from streams.agents.simulation.decoys import BatchRamp, DailyDrift, LoneStalls, UnevenSequences, WarmUp
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job, Parts, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario
from streams.agents.simulation.simulation import START, Simulation
from streams.line import Line
from streams.replay import replay, summary
from streams.topology import topology

GPUS = 500.0
CERTAINTY = 0.95
DAY_SECONDS = 86_400.0


class Shape(Struct, frozen=True, kw_only=True):
    """One kind of job.

    Attributes:
        name: for the table.
        seconds: length of a step.
        steps: watched in one run, over both attempts.
        nodes: machines, `gpus` on each; a wide one costs less to simulate, and every GPU is still looked at.
        runs: with another seed each.
    """

    name: str
    seconds: float
    steps: int
    nodes: int
    gpus: int
    runs: int


SHAPES = (
    Shape(name="steps of 1 s, 16 GPUs on 2 nodes", seconds=1.02, steps=3000, nodes=2, gpus=8, runs=3),
    Shape(name="steps of 1 s, 512 GPUs on 2 nodes", seconds=1.02, steps=4000, nodes=2, gpus=256, runs=6),
    Shape(name="steps of 6 s, 64 GPUs on 8 nodes", seconds=6.1, steps=2000, nodes=8, gpus=8, runs=1),
    Shape(name="steps of 60 s, 256 GPUs on 2 nodes", seconds=61.0, steps=1440, nodes=2, gpus=128, runs=16),
)


class Days(Struct):
    """What was seen of one kind of job."""

    shape: Shape
    steps: int = 0
    gpu_days: float = 0.0
    told: list[str] = field(default_factory=list)


class Watched(Struct):
    """One attempt: its GPUs, its steps, and Unix seconds of the first and the last of them."""

    size: int
    steps: set[int] = field(default_factory=set)
    first: float = math.inf
    last: float = 0.0


def run() -> Table:
    """Simulate, replay and count."""
    days = [watched(shape) for shape in SHAPES]
    rows = [_row(one.shape.name, [one]) for one in days]
    rows.append(_row("all", days))
    columns = ("jobs", "runs", "steps", "GPU days", "incidents", "a day per 500 GPUs", "at most (95 %)", "which")
    what = "fault-free jobs with every decoy and telemetry with defects; false incidents a day per 500 GPUs"
    return Table("quiet_days", what, columns, tuple(rows))


def watched(shape: Shape) -> Days:
    """Let all runs of one kind of job pass."""
    days = Days(shape)
    causes = load_causes()
    line = Line(topology(causes, load_playbooks(causes=causes)))
    for seed in range(shape.runs):
        watch(days, line, seed)
    return days


def watch(days: Days, line: Line, seed: int) -> None:
    """Let one run pass, and add what was seen of it."""
    simulation = Simulation(
        quiet_job(days.shape, seed), np.random.default_rng((seed, 7)), START + 7 * DAY_SECONDS * seed
    )
    attempts: dict[int, Watched] = {}
    records = (_noted(attempts, record) for record in heard(simulation, seed))
    incidents = summary(replay(line, (encode(record) for record in records)))["incidents"]
    days.told += [f"{one['cause']} at {one['onset_step']} of run {seed}" for one in incidents]
    days.steps += sum(len(one.steps) for one in attempts.values())
    days.gpu_days += sum(one.size * (one.last - one.first) / DAY_SECONDS for one in attempts.values())


def quiet_job(shape: Shape, seed: int) -> Scenario:
    """Make a job of this shape in which nothing is wrong."""
    first, middle, last = 1, shape.steps // 2, shape.steps
    announces = seed % 3 != 2
    whole, fewer = _job(shape, 1, shape.nodes, announces), _job(shape, 2, max(1, shape.nodes // 2), announces)
    decoys: list[Influence] = [DailyDrift(onset=0), LoneStalls(onset=first)]
    if seed % 2:
        decoys.append(UnevenSequences(onset=first))
    ramp = BatchRamp(onset=middle // 2, factor=1.5)
    legs = (
        Leg(job=whole, steps=(first, middle), influences=(WarmUp(onset=first), *decoys, ramp), ended="requeued"),
        Leg(job=fewer, steps=(middle + 1, last), influences=tuple(decoys), reason="resume", idle_seconds=60.0),
    )
    return Scenario(name="quiet_days", summary="Nothing is wrong, and a great deal looks like it.", legs=legs)


def at_most(events: int, certainty: float = CERTAINTY) -> float:
    """Give the largest mean under which so few events would still be seen in 5 of 100 cases.

    >>> round(at_most(0), 2), round(at_most(2), 2)
    (3.0, 6.3)
    """
    low, high = 0.0, 20.0 + 4.0 * events
    for _ in range(60):
        mean = (low + high) / 2
        so_few = sum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(events + 1))
        low, high = (mean, high) if so_few > 1 - certainty else (low, mean)
    return high


def _job(shape: Shape, attempt: int, nodes: int, announces: bool) -> Job:
    share = shape.seconds / Parts().seconds * shape.nodes / nodes
    parts = Parts(
        compute=0.79 * share,
        loader=0.031 * share,
        input_copy=0.012 * share,
        host_prep=0.008 * share,
        optimizer=0.045 * share,
        communication=0.133 * share,
    )
    return Job(
        name="quiet",
        attempt=attempt,
        nodes=nodes_named(nodes),
        gpus_per_node=shape.gpus,
        parts=parts,
        checkpoint_every=100,
        checkpoint_seconds=40.0,
        evaluate_every=250,
        evaluate_seconds=90.0,
        announces=announces,
        sample_seconds=max(10.0, 2 * shape.seconds),
    )


def _noted(attempts: dict[int, Watched], record: Telemetry | Tick) -> Telemetry | Tick:
    """Count what passes."""
    if isinstance(record, Event) and record.event == "attempt.started":
        attempts[record.attempt] = Watched(size=int(record.data["world_size"]))
    elif isinstance(record, StepFrame) and record.attempt in attempts:
        seen = attempts[record.attempt]
        seen.steps.add(record.step)
        seen.first, seen.last = min(seen.first, record.time), max(seen.last, record.time)
    return record


def _row(words: str, days: list[Days]) -> tuple[str | float | int, ...]:
    told = [one for day in days for one in day.told]
    gpu_days = sum(day.gpu_days for day in days)
    which = Counter(one.partition(" at ")[0] for one in told)
    return (
        words,
        sum(day.shape.runs for day in days),
        sum(day.steps for day in days),
        gpu_days,
        len(told),
        len(told) / (gpu_days / GPUS),
        at_most(len(told)) / (gpu_days / GPUS),
        ", ".join(f"{times} {cause}" for cause, times in sorted(which.items())) or "–",
    )
