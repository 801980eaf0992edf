"""NCCL Inspector: one JSON object per collective; told as one reading per rank and look, for there are thousands."""

import json
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Sample
from streams.agents.logs.line import Line


class Inspector:
    """Gathers the collectives of a look: the mean time and the mean bus bandwidth of every rank."""

    needles = ('"coll_perf"',)

    def __init__(self) -> None:
        self._sums: dict[int, list[float]] = {}
        self._time: float | None = None

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one object."""
        try:
            said = json.loads(line.text[line.text.find("{") :])
            rank, perf = int(said["header"]["rank"]), said["coll_perf"]
            seconds, bandwidth = float(perf["coll_exec_time_us"]) / 1e6, float(perf["coll_busbw_gbs"]) * 1e9
            stamp = float(said["metadata"]["dump_timestamp_us"]) / 1e6
        except (ValueError, KeyError, TypeError):
            return None
        if rank < 0 or not 0 <= stamp < 1e11:
            return None
        sums = self._sums.setdefault(rank, [0.0, 0.0, 0.0])
        self._sums[rank] = [sums[0] + 1, sums[1] + seconds, sums[2] + bandwidth]
        self._time = stamp
        return []

    def flush(self) -> Sequence[Finding]:
        """Give the means of what was gathered."""
        sums, self._sums = dict(sorted(self._sums.items())), {}
        if not sums:
            return []
        values: dict[str, list[Reading]] = {
            "nccl_latency_seconds": [each[1] / each[0] for each in sums.values()],
            "nccl_bus_bytes_per_second": [each[2] / each[0] for each in sums.values()],
        }
        ids = [f"rank {rank}" for rank in sums]
        return [Sample(of="job", ids=ids, ranks=list(sums), values=values, time=self._time)]
