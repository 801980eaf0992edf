"""How calm it is on recorded runs of others: incidents per 1,000 steps of six runs on 8 to 5,120 GPUs."""

import tempfile
from pathlib import Path

from bench import recorded_runs
from bench.table import Table
from playbooks.load import load_causes, load_playbooks
from streams.line import Line
from streams.replay import lines_of, replay, summary
from streams.topology import topology


def run(data: Path) -> Table:
    """Turn the recorded runs into telemetry, replay them, and count.

    Args:
        data: folder with the recorded runs.
    """
    causes = load_causes()
    line = Line(topology(causes, load_playbooks(causes=causes)))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        recorded_runs.main(["--data", str(data), "--out", folder])
        for file in sorted(Path(folder).glob("*.jsonl")):
            whole = summary(replay(line, lines_of(str(file))))
            found = ", ".join(f"{one['cause']} at {one['onset_step']}" for one in whole["incidents"])
            share = 1000 * len(whole["incidents"]) / whole["records"]
            rows.append((file.stem, whole["records"], len(whole["incidents"]), share, found or "–"))
    columns = ("run", "steps", "incidents", "per 1,000 steps", "which")
    return Table("calm", "incidents on recorded step times and losses, job-level lines only", columns, tuple(rows))
