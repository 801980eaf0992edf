"""`trainmaster detect`: any series, strictly online, in the shape of the contract."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from streams.cli import app
from streams.detecting import Series, detect


def _csv(folder: Path, header: str, rows: list[str]) -> str:
    file = folder / "series.csv"
    file.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(file)


def _found(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["detect", *words, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _level(rows: int = 200, at: int = 120) -> list[float]:
    noise = np.random.default_rng(4).normal(size=rows)
    return [round(10 + 0.1 * x + (3 if i >= at else 0), 4) for i, x in enumerate(noise)]


def test_the_object_of_the_contract(tmp_path: Path) -> None:
    """Each column has its alarms, with the row they were raised in and the one they are dated to; not the clock."""
    file = _csv(tmp_path, "timestamp,a,b", [f"2026-01-01 00:{i % 60:02},{x},1.0" for i, x in enumerate(_level())])
    found = _found(file)
    assert set(found) == {"a", "b"}
    assert found["b"] == {"alarms": []}
    (alarm,) = found["a"]["alarms"]
    assert alarm["detector"] == "level_shift"
    assert alarm["onset"] == 120
    assert 120 < alarm["index"] <= 126
    assert alarm["before"] == pytest.approx(10, abs=0.1)
    assert alarm["after"] == pytest.approx(13, abs=0.2)


def test_scores_are_one_per_row(tmp_path: Path) -> None:
    """With `--scores` there is a number from 0 to 1 for each row, and the change stands out."""
    found = _found(_csv(tmp_path, "a", [str(x) for x in _level()]), "--scores")
    scores = found["a"]["scores"]
    assert len(scores) == 200
    assert all(0 <= score <= 1 for score in scores)
    assert max(scores[:120]) < 0.5 < scores[120]


def test_nothing_after_a_row_is_known(tmp_path: Path) -> None:
    """What is said of the first rows is the same when the file ends there."""
    rows = [str(x) for x in _level()]
    whole = _found(_csv(tmp_path, "a", rows), "--scores")["a"]
    for end in (119, 123, 130, 160):
        part = _found(_csv(tmp_path, "a", rows[:end]), "--scores")["a"]
        assert part["scores"] == whole["scores"][:end]
        assert part["alarms"] == [alarm for alarm in whole["alarms"] if alarm["index"] < end]


def test_empty_cells_are_absent_and_nan_is_a_finding(tmp_path: Path) -> None:
    """An empty cell is no reading; the word nan is one that is no number."""
    rows = ["2.0"] * 40 + ["", "2.0", "nan", "2.0", "inf"]
    found = _found(_csv(tmp_path, "step,loss", [f"{i},{x}" for i, x in enumerate(rows)]), "--signal", "loss")
    assert [(a["detector"], a["index"], a["kind"]) for a in found["loss"]["alarms"]] == [
        ("nonfinite", 42, "nan"),
        ("nonfinite", 44, "inf"),
    ]


def test_the_clock_tells_the_plan_and_rows_are_counted(tmp_path: Path) -> None:
    """A slow step at a round step number is planned; indices count rows all the same."""
    seconds = [0.06 + 0.0001 * (i % 7) for i in range(400)]
    seconds[93] = seconds[250] = 0.12  # steps 100 and 257
    file = _csv(tmp_path, "step,t", [f"{i + 7},{x}" for i, x in enumerate(seconds)])
    assert [a["index"] for a in _found(file, "--signal", "step_seconds")["t"]["alarms"]] == [250]


def test_ranks_are_columns(tmp_path: Path) -> None:
    """A detector that compares ranks takes each column for a rank, and only those that are named."""
    noise = np.random.default_rng(6).normal(size=(120, 6))
    rows = 2 * (1 + 0.01 * noise)
    rows[60:, 4] *= 1.3
    file = _csv(tmp_path, "r0,r1,r2,r3,r4,r5", [",".join(f"{x:.5f}" for x in row) for row in rows])
    found = _found(file, "--detector", "slow_rank")
    assert [name for name, said in found.items() if said["alarms"]] == ["r4"]
    assert found["r4"]["alarms"][0]["onset"] == 60
    few = _found(file, "--detector", "slow_rank", "--column", "r4", "--column", "r0", "--column", "r1")
    assert list(few) == ["r4", "r0", "r1"]
    assert few["r4"]["alarms"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(["--detector", "guess"], 2, "no detector guess", id="no such detector"),
        pytest.param(["--column", "z"], 1, "no column z", id="no such column"),
    ],
)
def test_usage_is_2_and_failure_is_1(tmp_path: Path, words: list[str], code: int, says: str) -> None:
    """A wrong word on the command line ends with 2, a file that does not do with 1, each with its reason."""
    done = CliRunner().invoke(app, ["detect", _csv(tmp_path, "a", ["1"]), *words])
    assert done.exit_code == code
    assert says in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("text", "says"), [("", "no header"), ("a,b\n1\n", "line 2: 1 cells"), ("a\n1\nx\n", "line 3: 'x' is no number")]
)
def test_a_bad_file_says_where(tmp_path: Path, text: str, says: str) -> None:
    """A file that is no table ends the command with one line that names the place."""
    file = tmp_path / "bad.csv"
    file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["detect", str(file)])
    assert done.exit_code == 1
    assert says in " ".join(done.output.split())


def test_a_table_without_rows_says_nothing() -> None:
    """No rows, no alarms, no scores."""
    said = detect(Series(("a",), []))["a"]
    assert said.alarms == []
    assert said.scores == []
