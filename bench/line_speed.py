"""How fast one process is: records through the line alone, and from HTTP bodies through journal and archive."""

import tempfile
import time
from pathlib import Path

from bench.table import Table
from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode
from streams.agents.simulated import simulate
from streams.line import Line
from streams.runtimes.embedded import Embedded
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.snapshots import SqliteSnapshots
from streams.topology import topology

SCENARIOS = ("quiet", "slow_rank", "brief64")
BODY = 50
ROUNDS = 3


def run() -> Table:
    """Measure, in one run: the line alone, then the embedded runtime on a file; the fastest of three."""
    causes = load_causes()
    line = Line(topology(causes, load_playbooks(causes=causes)))
    rows = []
    for scenario in SCENARIOS:
        lines = list(simulate(scenario, 1, defects=True))
        decoded = min(_decoding(lines) for _ in range(ROUNDS))
        alone = min(_through_line(line, lines) for _ in range(ROUNDS))
        whole = min(_through_runtime(line, lines) for _ in range(ROUNDS))
        each = len(lines)
        rows.append((scenario, each, 1e6 * decoded / each, 1e6 * alone / each, 1e6 * whole / each, each / whole))
    columns = ("scenario", "records", "decode µs", "line µs", "runtime µs", "records/s")
    return Table("line_speed", "CPU time per record of telemetry, all detectors on, bodies of 50", columns, tuple(rows))


def _decoding(lines: list[bytes]) -> float:
    begin = time.process_time()
    for raw in lines:
        decode(raw)
    return time.process_time() - begin


def _through_line(line: Line, lines: list[bytes]) -> float:
    records = [decode(raw) for raw in lines]
    memory = line.blank("bench")
    begin = time.process_time()
    for record in records:
        line.feed(memory, record)
    return time.process_time() - begin


def _through_runtime(line: Line, lines: list[bytes]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "bench.db")
        journal, archive = SqliteJournal(database), SqliteArchive(database)
        runtime = Embedded(line, journal, SqliteSnapshots(database), archive)
        begin = time.process_time()
        for at in range(0, len(lines), BODY):
            journal.append([("bench", raw) for raw in lines[at : at + BODY]], 0.0)
            runtime.work()
        runtime.save()
        spent = time.process_time() - begin
        database.close()
    return spent
