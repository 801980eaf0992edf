"""A whole run of a scenario, and questions about it."""

import numpy as np

from detectors.base import Floats
from schemas.telemetry import Event, Inbound, Reading, SampleFrame, StepFrame
from streams.agents.simulated import seeded


class Lived:
    """The records of a run, in the order in which they were sent."""

    def __init__(self, records: list[Inbound]) -> None:
        self.records = records
        self.frames = [record for record in records if isinstance(record, StepFrame) and record.ranks]
        self._by_step: dict[int, list[StepFrame]] = {}
        for frame in self.frames:
            self._by_step.setdefault(frame.step, []).append(frame)
        self._samples = [record for record in records if isinstance(record, SampleFrame)]

    def steps(self) -> list[int]:
        """Steps of which there is a frame."""
        return sorted(self._by_step)

    def over(self, signal: str, first: int, last: int) -> Floats:
        """Readings, shape (steps, ranks), both ends included; an absent one is NaN."""
        rows = []
        for step in range(first, last + 1):
            parts = sorted(self._by_step.get(step, []), key=lambda frame: frame.ranks)
            if parts:
                rows.append([reading for frame in parts for reading in frame.values[signal]])
        return np.array(rows, dtype=np.float64)

    def step_seconds(self, first: int, last: int) -> Floats:
        """Length of each step, shape (steps,)."""
        return self.over("step_seconds", first, last)[:, 0]

    def loader_share(self, first: int, last: int) -> Floats:
        """Mean over the ranks of loader_seconds over step_seconds, shape (steps,)."""
        shares: Floats = (self.over("loader_seconds", first, last) / self.over("step_seconds", first, last)).mean(
            axis=1
        )
        return shares

    def job(self, signal: str) -> dict[int, Reading]:
        """A value of the job by step."""
        return {frame.step: frame.job_values[signal] for frame in self.frames if signal in frame.job_values}

    def finite(self, signal: str, first: int, last: int) -> Floats:
        """A value of the job as an array, shape (steps,), both ends included."""
        values = self.job(signal)
        return np.array([values[step] for step in range(first, last + 1)], dtype=np.float64)

    def events(self, name: str) -> list[Event]:
        """Events of one kind, in order."""
        return [record for record in self.records if isinstance(record, Event) and record.event == name]

    def sampled(self, signal: str, node: str, since_step: int, until_step: int) -> Floats:
        """A sampled signal of one node between the ends of two steps, shape (samples, entities)."""
        begin, end = self.time_of(since_step), self.time_of(until_step)
        rows = [
            record.values[signal]
            for record in self._samples
            if record.node == node and signal in record.values and begin < record.time <= end
        ]
        return np.array(rows, dtype=np.float64)

    def time_of(self, step: int) -> float:
        """Unix seconds of the first node's frame of a step; of the last record where the step never came."""
        if step in self._by_step:
            return self._by_step[step][0].time
        return max(sample.time for sample in self._samples)


def live(name: str, seed: int) -> Lived:
    """Run a scenario to its end without any control."""
    simulation, records = seeded(name, seed), []
    while not simulation.finished:
        records += simulation.advance()
    return Lived(records)
