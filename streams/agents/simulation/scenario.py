"""A scenario: the attempts of a job one after the other, what befalls them, and what a good observer should say."""

from msgspec import Struct

from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job


class Leg(Struct, frozen=True, kw_only=True):
    """One attempt, or the part of it that is watched.

    Attributes:
        steps: first and last step that are watched.
        idle_seconds: from the start of the attempt to its first step.
        reason: why it was started, `resume` and the like; "" where it is not said.
        ended: why it ended, as in `attempt.ended`; "" where the scenario merely stops watching.
    """

    job: Job
    steps: tuple[int, int]
    influences: tuple[Influence, ...] = ()
    idle_seconds: float = 20.0
    reason: str = ""
    ended: str = ""


class Expectation(Struct, frozen=True, kw_only=True):
    """What a good observer says; for tests.

    Attributes:
        layers: acceptable layers of the cause, best first; empty: there is nothing to say.
        onset: earliest and latest step an incident may be dated to.
        ranks: the culprits; empty: nobody in particular. Likewise `nodes`.
    """

    layers: tuple[str, ...] = ()
    onset: tuple[int, int] | None = None
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()


NOTHING = Expectation()
"""Legitimate: no incident, no action."""


class Scenario(Struct, frozen=True, kw_only=True):
    """A named course of events.

    Attributes:
        summary: what happens, one sentence for a person.
        legs: one attempt after the other.
    """

    name: str
    summary: str
    legs: tuple[Leg, ...]
    expect: Expectation = NOTHING

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node that takes part in any attempt, each once, in order."""
        return tuple(dict.fromkeys(node for leg in self.legs for node in leg.job.nodes))
