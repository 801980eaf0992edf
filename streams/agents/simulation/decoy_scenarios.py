"""Scenarios in which nothing is wrong, although it looks like it: nobody should be paged."""

from streams.agents.simulation.decoys import BatchRamp, DailyDrift, LoneStalls, UnevenSequences, WarmUp
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job, Parts, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario

FIRST, LAST = 1_000, 1_600
QUIET = Job(name="sim-16", nodes=nodes_named(2), tokens=262_144)
_SLOW_PARTS = Parts(compute=50.0, loader=1.2, input_copy=0.6, host_prep=0.2, optimizer=3.0, communication=5.0)


def _watched(name: str, summary: str, job: Job, *influences: Influence, first: int = FIRST) -> Scenario:
    leg = Leg(job=job, steps=(first, first + LAST - FIRST), influences=influences)
    return Scenario(name=name, summary=summary, legs=(leg,))


def quiet() -> Scenario:
    """Nothing happens."""
    return _watched("quiet", "A healthy job: nothing but its background noise.", QUIET)


def pipeline_stages() -> Scenario:
    """The last pipeline stage has more to do by layout."""
    job = Job(name="sim-32", nodes=nodes_named(4), tokens=524_288, pipeline=4, stage_weights=(1.0, 1.0, 1.0, 1.63))
    return _watched("pipeline_stages", "The last of four pipeline stages computes 1.63 times as long, always.", job)


def planned_checkpoint_long() -> Scenario:
    """A planned save lasts as long as the hang of its twin scenario."""
    job = Job(name="sim-16", nodes=nodes_named(2), tokens=262_144, checkpoint_every=300, checkpoint_seconds=900.0)
    return _watched("planned_checkpoint_long", "Two planned saves of fifteen minutes each, announced.", job)


def warmup() -> Scenario:
    """A fresh start is slow at first."""
    return _watched("warmup", "The first 40 steps are slow, announced as warm-up.", QUIET, WarmUp(onset=1), first=1)


def evaluation() -> Scenario:
    """The job stops to evaluate every 200 steps."""
    job = Job(name="sim-16", nodes=nodes_named(2), tokens=262_144, evaluate_every=200, evaluate_seconds=90.0)
    return _watched("evaluation", "Evaluation every 200 steps stops the job for 90 s, announced.", job)


def silent_pauses() -> Scenario:
    """The job saves and evaluates without a word of it: its first rank saves alone, and all others spin meanwhile."""
    job = Job(
        name="sim-16",
        nodes=nodes_named(2),
        tokens=262_144,
        checkpoint_every=150,
        checkpoint_seconds=120.0,
        evaluate_every=250,
        evaluate_seconds=200.0,
        announces=False,
    )
    summary = "Saves of 120 s by the first rank and evaluations of 200 s, none of them announced."
    return _watched("silent_pauses", summary, job)


def batch_ramp() -> Scenario:
    """The batch grows on schedule, and the step with it."""
    ramp = BatchRamp(onset=1_300, factor=1.5)
    return _watched("batch_ramp", "The batch grows by half; steps are longer, tokens/s are not fewer.", QUIET, ramp)


def restart_smaller() -> Scenario:
    """The job is requeued on fewer nodes and goes on with longer steps."""
    larger = Job(name="sim-32", nodes=nodes_named(4), tokens=524_288, checkpoint_every=150)
    smaller = Job(
        name="sim-32",
        attempt=2,
        nodes=nodes_named(2),
        tokens=524_288,
        checkpoint_every=150,
        parts=Parts(compute=1.58, loader=0.06, input_copy=0.024),
    )
    legs = (
        Leg(job=larger, steps=(1_000, 1_350), ended="requeued"),
        Leg(job=smaller, steps=(1_351, 1_700), reason="resume", idle_seconds=60.0),
    )
    summary = "Requeued from 32 to 16 GPUs with the same batch: a step takes nearly twice as long, as it must."
    return Scenario(name="restart_smaller", summary=summary, legs=legs)


def uneven_sequences() -> Scenario:
    """Ranks take turns at being slow, by the length of their sequences."""
    uneven = UnevenSequences(onset=FIRST)
    return _watched("uneven_sequences", "Sequences of uneven length: other ranks are slow in each step.", QUIET, uneven)


def daily_drift() -> Scenario:
    """Step time follows the time of day."""
    job = Job(name="sim-16", nodes=nodes_named(2), tokens=16_777_216, parts=_SLOW_PARTS, sample_seconds=120.0)
    leg = Leg(job=job, steps=(1_000, 2_439), influences=(DailyDrift(onset=0),))
    summary = "One day of one-minute steps that get 1.5 % longer by day and shorter by night."
    return Scenario(name="daily_drift", summary=summary, legs=(leg,))


def lone_stalls() -> Scenario:
    """A few single steps take far longer, and the next is as before."""
    stalls = LoneStalls(onset=FIRST, per_step=0.01)
    return _watched("lone_stalls", "About one step in a hundred takes twice as long or more, alone.", QUIET, stalls)
