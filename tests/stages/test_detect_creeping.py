"""A pace that creeps is told once, with where it began; a load that creeps along, and what is better, is not."""

from collections.abc import Sequence

import numpy as np
import pytest

from schemas.detection import Detection
from schemas.telemetry import Event, Reading, StepFrame
from streams.stages.detect.stage import Detect
from tests.stages.build import START, Fed

ONSET, LAST = 400, 900


def frames(readings: dict[str, list[float]]) -> list[StepFrame]:
    """The log of a job, one line a step; where steps have a length it takes them so long."""
    lines = []
    time = START
    for step in range(1, LAST):
        values: dict[str, Reading] = {name: column[step] for name, column in readings.items()}
        time += readings.get("step_seconds", [1.0] * LAST)[step]
        lines.append(
            StepFrame(
                job="toy", attempt=1, node="n1", seq=step, time=time, step=step, ranks=[], values={}, job_values=values
            )
        )
    return lines


def level(seed: int = 1) -> list[float]:
    """Healthy noise of one per cent."""
    return list(1.0 + 0.01 * np.random.default_rng(seed).normal(size=LAST))


def creeping(rise: float) -> list[float]:
    """The same that goes up by a share over 300 steps."""
    factors = 1.0 + rise * np.clip((np.arange(LAST) - ONSET) / 300, 0.0, 1.0)
    return list(np.array(level()) * factors)


def told(records: Sequence[StepFrame | Event]) -> list[Detection]:
    """What the detector of creeps says of a log."""
    stage = Fed(Detect())
    stage.feed(*records)
    stage.flush()
    return [one for one in stage.told(Detection) if one.detector == "creep"]


@pytest.mark.parametrize(("name", "rise"), [("step_seconds", 0.12), ("tokens_per_second", -0.12)])
def test_a_pace_that_creeps_is_told(name: str, rise: float) -> None:
    """Steps that get longer, or a throughput that falls where steps have no length, little by little."""
    found = told(frames({name: creeping(rise)}))[0]
    assert found.signal == name
    assert found.onset_step is not None
    assert abs(found.onset_step - ONSET) <= 20
    assert "little by little since step" in found.text


@pytest.mark.parametrize("load", ["tokens", "batch_size", "sequence_length"])
def test_more_to_do_is_no_creep(load: str) -> None:
    """Steps that get longer as the batch or its sequences do are a plan."""
    assert told(frames({"step_seconds": creeping(0.12), load: [512.0 * one for one in creeping(0.2)]})) == []


def test_a_load_that_stays_explains_nothing() -> None:
    """The same steps with the same load are told."""
    assert told(frames({"step_seconds": creeping(0.12), "tokens": [512.0] * LAST}))


def test_a_faster_job_is_no_fault() -> None:
    """Steps that get shorter are the new normal."""
    assert told(frames({"step_seconds": creeping(-0.12)})) == []


def test_an_announced_change_ends_it() -> None:
    """What was held against the old level is over when the configuration changes."""
    lines = frames({"step_seconds": creeping(0.12)})
    changed = Event(job="toy", attempt=1, node="n1", seq=LAST, time=lines[-1].time, event="config.changed", data={})
    last = told([*lines, changed])[-1]
    assert last.end_step is not None
