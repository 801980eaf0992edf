"""A scenario as it is lived through: pulled step by step, open to control documents at any time."""

import numpy as np

from schemas.action import Control
from schemas.telemetry import Inbound
from streams.agents.simulation.attempt import Attempt
from streams.agents.simulation.noise import Noise
from streams.agents.simulation.outbox import Outbox
from streams.agents.simulation.scenario import Scenario

START = 1_740_959_980.0
"""Unix seconds at which a scenario starts unless told otherwise."""
RESTART_SECONDS = 90.0
"""From the end of one attempt to the launcher's next."""


class Simulation:
    """One run of a scenario; the same scenario and seed give the same records.

    Args:
        scenario: what is to happen.
        generator: the only source of chance, freshly seeded.
        start: Unix seconds of the first record.

    >>> from streams.agents.simulation.scenarios import scenario_named
    >>> simulation = Simulation(scenario_named("quiet"), np.random.default_rng(7))
    >>> simulation.advance()[0].event
    'attempt.started'
    >>> sorted({record.node for record in simulation.advance()})
    ['n01', 'n02']
    """

    def __init__(self, scenario: Scenario, generator: np.random.Generator, start: float = START) -> None:
        self.scenario = scenario
        self._outbox = Outbox(scenario.nodes, generator)
        self._generator = generator
        self._next_leg = 0
        self._attempt: Attempt | None = None
        self._start = start

    @property
    def job(self) -> str:
        """Name of the job."""
        return self.scenario.legs[0].job.name

    @property
    def now(self) -> float:
        """Unix seconds up to which everything has happened."""
        return self._attempt.time if self._attempt else self._start

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        is_over = self._attempt is None or self._attempt.finished
        return is_over and self._next_leg == len(self.scenario.legs)

    def advance(self) -> list[Inbound]:
        """Go on by one step (or, in a standstill, one sample) and give what agents sent meanwhile; [] at the end."""
        if self.finished:
            return []
        if self._attempt is None or self._attempt.finished:
            return self._next_attempt()
        return self._attempt.advance()

    def control(self, control: Control) -> None:
        """Hand a control document to the trainer; one that is old or meant for another attempt changes nothing."""
        if self._attempt is not None:
            self._attempt.offer(control)

    def _next_attempt(self) -> list[Inbound]:
        start = self._start if self._attempt is None else self._attempt.time + RESTART_SECONDS
        self._attempt = Attempt(self.scenario.legs[self._next_leg], Noise(self._generator), self._outbox, start)
        self._next_leg += 1
        return self._attempt.open()
