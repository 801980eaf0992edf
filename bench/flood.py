"""What a flood costs: every rank's watchdog speaks within minutes, and it is one incident."""

import time
from collections.abc import Iterator
from typing import Any

from bench.table import Table
from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode, encode
from schemas.incident import Incident
from schemas.telemetry import Event, Reading, StepFrame
from streams.line import Line, LineMemory
from streams.topology import topology

Data = dict[str, Any]  # Any: each event has its own fields
START = 1_740_000_000.0
STEPS = 30
SIZES = (64, 256, 1_024, 4_096)


def run() -> Table:
    """Feed jobs of several sizes with a step or two and then with the flood; take the time of the flood alone."""
    causes = load_causes()
    line = Line(topology(causes, load_playbooks(causes=causes)))
    rows = []
    for ranks in SIZES:
        memory = line.blank("flood")
        for record in _before(ranks):
            line.feed(memory, record)
        lines = [encode(one) for one in _flood(ranks)]
        seconds, said = _timed(line, memory, lines)
        rows.append(
            (ranks, len(lines), seconds, 1e6 * seconds / len(lines), len({one.id for one in said}), said[-1].cause)
        )
    columns = ("ranks", "lines", "CPU seconds", "µs a line", "incidents", "cause")
    return Table("flood", "time-outs of all ranks ten minutes after one GPU fell off the bus", columns, tuple(rows))


def _timed(line: Line, memory: LineMemory, lines: list[bytes]) -> tuple[float, list[Incident]]:
    begun = time.process_time()
    said = [sent.record for raw in lines for sent in line.feed(memory, decode(raw))]
    seconds = time.process_time() - begun
    said += [sent.record for sent in line.flush(memory)]
    return seconds, [one for one in said if isinstance(one, Incident)]


def _before(ranks: int) -> Iterator[Event | StepFrame]:
    placement = [{"rank": rank, "node": f"n{rank // 8}", "gpu": f"GPU-{rank}"} for rank in range(ranks)]
    yield _event("attempt.started", 0.0, 0, "launcher", {"world_size": ranks, "placement": placement})
    for step in range(STEPS):
        for node in range(ranks // 8):
            mine = list(range(8 * node, 8 * node + 8))
            values: dict[str, list[Reading]] = {"step_seconds": [2.0] * 8, "compute_seconds": [1.8] * 8}
            yield StepFrame(
                job="flood",
                attempt=1,
                node=f"n{node}",
                seq=step,
                time=START + 2.0 * step,
                step=step,
                ranks=mine,
                values=values,
            )
    yield _event("xid", 2.0 * STEPS, STEPS, "n3", {"code": 79}, "GPU-29")


def _flood(ranks: int) -> Iterator[Event]:
    for rank in range(ranks):
        late = 2.0 * STEPS + 600.0 + 0.1 * rank
        fields: dict[str, Any] = {
            "rank": rank,
            "seq": 7,
            "op": "ALLREDUCE",
            "numel_in": 64,
            "ran_ms": 600_000,
            "limit_ms": 600_000,
        }
        yield _event("nccl.timeout", late, 1_000 + rank, f"n{rank // 8}", fields)


def _event(name: str, time: float, seq: int, node: str, data: Data, subject: str = "") -> Event:
    return Event(job="flood", attempt=1, node=node, seq=seq, time=START + time, event=name, subject=subject, data=data)
