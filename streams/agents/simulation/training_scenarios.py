"""Scenarios of a fault in the training itself: its loss or its data."""

import math

from schemas.telemetry import Reading
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Expectation, Leg, Scenario
from streams.agents.simulation.training_faults import LossSpike, MixtureShift, UnusableLoss

FIRST, ONSET, LAST = 5_000, 5_250, 5_500
JOB = Job(name="sim-16", nodes=nodes_named(2), tokens=262_144, loss=((5_000, 2.24), (6_000, 2.19)))
MIXED = Job(
    name="sim-16",
    nodes=nodes_named(2),
    tokens=262_144,
    loss=((5_000, 2.24), (6_000, 2.19)),
    mixture=(("web", 0.6), ("code", 0.25), ("books", 0.15)),
)
_AT_ONCE = (ONSET - 5, ONSET + 12)


def _watched(name: str, summary: str, influence: Influence, layers: tuple[str, ...], job: Job = JOB) -> Scenario:
    leg = Leg(job=job, steps=(FIRST, LAST), influences=(influence,))
    return Scenario(name=name, summary=summary, legs=(leg,), expect=Expectation(layers=layers, onset=_AT_ONCE))


def _unusable(name: str, reading: Reading) -> Scenario:
    word = "absent" if reading is None else str(reading)
    summary = f"Loss and gradient norm are {word} from step 5,250 on; throughput is normal."
    return _watched(name, summary, UnusableLoss(onset=ONSET, reading=reading), ("model", "unknown"))


def nan() -> Scenario:
    """The loss turns NaN and stays so."""
    return _unusable("nan", math.nan)


def inf() -> Scenario:
    """The loss turns infinite and stays so."""
    return _unusable("inf", math.inf)


def absent_loss() -> Scenario:
    """The trainer reports no loss any more."""
    return _unusable("absent_loss", None)


def loss_spike() -> Scenario:
    """The optimiser loses its way and finds back; the gradient norm knew four steps earlier."""
    summary = "Loss 2.2 to 5.1 within five steps and back in twenty-five; gradient norm ahead."
    return _watched("loss_spike", summary, LossSpike(onset=ONSET), ("model", "data"))


def data_mixture() -> Scenario:
    """A source runs dry, another takes its place, and the loss goes up at the same step."""
    fault = MixtureShift(onset=ONSET, source="code", instead="web", share=0.2)
    summary = "The share of code falls from 25 % to 5 %; bad samples 3 %, loss +0.3 at the same step."
    return _watched("data_mixture", summary, fault, ("data",), job=MIXED)
