"""False alarms on a job's pace that are borne in a week, as a setting: the smallest change told follows from it."""

import numpy as np
import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.detection import Detection
from schemas.telemetry import StepFrame
from streams.line import Line
from streams.topology import topology

STEPS, CHANGE = 400, 200
SECONDS = 3.0


def told(slower: float, borne: float | None) -> list[tuple[str, int | None]]:
    """What is said of a job of one rank that becomes slower: detector and onset of what it finds in the step time."""
    causes = load_causes()
    line = Line(topology(causes, load_playbooks(causes=causes), alarms_per_job_week=borne))
    memory, dice, time, said = line.blank("toy"), np.random.default_rng(7), 1.75e9, []
    for step in range(STEPS):
        seconds = SECONDS * (1.0 + slower * (step >= CHANGE)) * (1.0 + 0.002 * dice.standard_normal())
        time += seconds
        said += line.feed(
            memory,
            StepFrame(
                job="toy", attempt=1, node="n", seq=step, time=time, step=step, job_values={"step_seconds": seconds}
            ),
        )
    found = [one.record for one in said if isinstance(one.record, Detection) and one.record.signal == "step_seconds"]
    return [(one.detector, one.onset_step) for one in found if one.end_time is None]


@pytest.mark.parametrize(
    ("slower", "borne", "is_told"),
    [
        pytest.param(0.03, None, False, id="3 % is little by the table"),
        pytest.param(0.05, None, True, id="5 % is enough by the table"),
        pytest.param(0.03, 10.0, True, id="3 % is told where ten false alarms a week are borne"),
        pytest.param(0.05, 0.05, False, id="5 % is not where one in twenty weeks is"),
        pytest.param(0.12, 0.05, True, id="12 % always is"),
        pytest.param(0.0, 10.0, False, id="nothing is nothing"),
    ],
)
def test_what_is_told_follows_from_what_is_borne(slower: float, borne: float | None, is_told: bool) -> None:
    """Fewer false alarms ask for a larger change; the onset is the same."""
    found = told(slower, borne)
    assert bool(found) is is_told
    assert all(onset is not None and abs(onset - CHANGE) <= 2 for _, onset in found)
