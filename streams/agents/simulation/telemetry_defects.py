"""What happens to telemetry on its way: a little is lost, repeated, late or out of order, and ranks leave gaps."""

import heapq

import numpy as np
from msgspec import Struct, structs

from schemas.telemetry import Event, Inbound, SampleFrame, StepFrame

Frame = StepFrame | SampleFrame


class DefectRates(Struct, frozen=True, kw_only=True):
    """How often what goes wrong; shares of all frames.

    Attributes:
        missing: never arrive.
        repeated: arrive twice, byte for byte the same.
        late: arrive up to `latest_seconds` late.
        gaps: step frames in which one rank has no readings.
        jitter_seconds: delay of every record at most, enough to change places.
    """

    missing: float = 0.001
    repeated: float = 0.003
    late: float = 0.01
    latest_seconds: float = 8.0
    gaps: float = 0.002
    jitter_seconds: float = 0.12


class TelemetryDefects:
    """Takes records as they are sent, gives them as they arrive.

    Events are delayed by jitter alone: agents spool them until they are acknowledged.

    Args:
        generator: the only source of chance, freshly seeded.
    """

    def __init__(self, generator: np.random.Generator, rates: DefectRates | None = None) -> None:
        self._generator = generator
        self._rates = rates or DefectRates()
        self._under_way: list[tuple[float, int, Inbound]] = []
        self._count = 0

    def carry(self, records: list[Inbound], now: float) -> list[Inbound]:
        """Send records; give everything that has arrived by now, in order of arrival.

        Args:
            records: as they were seen, in order of time.
            now: Unix seconds of the simulation.
        """
        for record in records:
            self._send(record, now)
        arrived = []
        while self._under_way and self._under_way[0][0] <= now:
            arrived.append(heapq.heappop(self._under_way)[2])
        return arrived

    def flush(self) -> list[Inbound]:
        """Give what is still under way, in order of arrival."""
        rest = [record for _, _, record in sorted(self._under_way, key=lambda entry: entry[:2])]
        self._under_way = []
        return rest

    def _send(self, record: Inbound, now: float) -> None:
        rates = self._rates
        lost, twice, late, gap, delay, jitter, again = self._generator.random(7)
        sent = getattr(record, "time", now)
        arrival = sent + jitter * rates.jitter_seconds
        if isinstance(record, Event):
            self._push(arrival, record)
            return
        if lost < rates.missing:
            return
        if isinstance(record, StepFrame) and gap < rates.gaps:
            record = self._with_gap(record)
        if late < rates.late:
            arrival += delay * rates.latest_seconds
        self._push(arrival, record)
        if twice < rates.repeated:
            self._push(arrival + 2.0 * again, record)

    def _push(self, arrival: float, record: Inbound) -> None:
        heapq.heappush(self._under_way, (arrival, self._count, record))
        self._count += 1

    def _with_gap(self, frame: StepFrame) -> StepFrame:
        """Take the readings of one rank away."""
        if not frame.ranks:
            return frame
        place = int(self._generator.integers(len(frame.ranks)))
        values = {
            name: [None if index == place else reading for index, reading in enumerate(readings)]
            for name, readings in frame.values.items()
        }
        return structs.replace(frame, values=values)
