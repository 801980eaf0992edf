"""Recorded runs of others, and the recorded cases: replayed without a crash, and without crying wolf."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streams.replay import lines_of
from tests.acceptance.replaying import replayed

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("TRAINMASTER_SHARED", ROOT.parent / "shared"))
STEPS_PER_INCIDENT = 1000


def needs(part: str) -> Path:
    """A folder that is not part of the project; the test is skipped, and says so, where it is missing."""
    folder = SHARED / part
    if not folder.is_dir():
        pytest.skip(f"NOT TESTED on recorded data: {folder} is missing (set TRAINMASTER_SHARED)")
    return folder


def test_six_recorded_runs_are_replayed_calmly(tmp_path: Path) -> None:
    """Runs on 8 to 5,120 GPUs give at most one incident per 1,000 steps."""
    command = [
        sys.executable,
        str(ROOT / "bench" / "recorded_runs.py"),
        "--data",
        str(needs("data")),
        "--out",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, capture_output=True)
    files = sorted(tmp_path.glob("*.jsonl"))
    assert len(files) == 6
    for file in files:
        whole = replayed(lines_of(str(file)))
        assert whole["rejected"] == 0
        assert len(whole["incidents"]) <= max(1, whole["records"] / STEPS_PER_INCIDENT), file.name


def test_legitimate_cases_are_no_incidents() -> None:
    """The recorded legitimate changes raise nothing."""
    folder = needs("cases")
    quiet = [
        path for path in sorted(folder.glob("*.expected.json")) if json.loads(path.read_text())["kind"] == "legitimate"
    ]
    assert quiet
    for expected in quiet:
        case = expected.name.partition(".")[0]
        whole = replayed(lines_of(str(folder / f"{case}.jsonl.gz")))
        assert [one["title"] for one in whole["incidents"] if one["layer"] != "none"] == [], case
