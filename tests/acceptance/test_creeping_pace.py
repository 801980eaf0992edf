"""A job that slows down little by little is one incident, dated to where that began; a larger batch is none."""

import pytest

from streams.agents.simulation.conditions import Conditions
from streams.agents.simulation.influence import Influence
from tests.acceptance.simulated_job import told

ONSET = 401


class Creeps(Influence, frozen=True, kw_only=True):
    """All ranks compute longer, a little with every step.

    Attributes:
        rise: share of the compute that is added in the end.
        rows: steps until then.
        loaded: the batch grows as well.
    """

    rise: float = 0.15
    rows: int = 300
    loaded: bool = False

    def apply(self, now: Conditions) -> None:
        """Lengthen compute, and say what there is to do."""
        share = self.rise * min(max(now.step - self.onset, 0) / self.rows, 1.0)
        now.compute *= 1.0 + share
        if self.loaded:
            now.readings["tokens"] = now.job.tokens * (1.0 + share)


@pytest.mark.parametrize(("nodes", "gpus"), [(1, 4), (2, 4)])
def test_a_pace_that_creeps_is_one_incident(nodes: int, gpus: int) -> None:
    """It is open, no machine is blamed for what all do, and it is dated to within 20 steps."""
    [incident] = told(nodes, gpus, Creeps(onset=ONSET), steps=720)
    assert incident["state"] == "open"
    assert incident["nodes"] == []
    assert abs(incident["onset_step"] - ONSET) <= 20


def test_a_batch_that_grows_along_is_no_incident() -> None:
    """Steps get longer as there is more to do."""
    assert told(1, 4, Creeps(onset=ONSET, loaded=True), steps=720) == []
