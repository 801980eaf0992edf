"""Where the hook writes, and where its file can run."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import streams.agents.trainer as trainer_module
from streams.agents.trainer import Hook
from tests.agents.rank_lines import flush_all, read_lines

TRAINER = Path(trainer_module.__file__)


@pytest.mark.parametrize(
    ("environment", "explicit", "file"),
    [
        ({}, {}, "job/attempt-1/rank-0000.jsonl"),
        ({"RANK": "5", "WORLD_SIZE": "8"}, {"job": "mine"}, "mine/attempt-1/rank-0005.jsonl"),
        ({"RANK": "5", "TRAINMASTER_JOB": "a"}, {"rank": 2}, "a/attempt-1/rank-0002.jsonl"),
        ({"RANK": "1", "TORCHELASTIC_RESTART_COUNT": "2"}, {}, "job/attempt-3/rank-0001.jsonl"),
        ({"SLURM_PROCID": "3", "SLURM_JOB_ID": "77"}, {}, "77/attempt-1/rank-0003.jsonl"),
        ({"SLURM_PROCID": "3", "RANK": "4", "SLURM_RESTART_COUNT": "1"}, {}, "job/attempt-1001/rank-0004.jsonl"),
        ({"TRAINMASTER_ATTEMPT": "9", "TORCHELASTIC_RESTART_COUNT": "2"}, {}, "job/attempt-9/rank-0000.jsonl"),
        ({"TORCHELASTIC_RESTART_COUNT": "many"}, {}, "job/attempt-1/rank-0000.jsonl"),
        ({"TORCHELASTIC_RUN_ID": "none", "RANK": "1"}, {}, "job/attempt-1/rank-0001.jsonl"),
        ({"TORCHELASTIC_RUN_ID": "wm-64", "RANK": "1"}, {}, "wm-64/attempt-1/rank-0001.jsonl"),
        ({"JOB_NAME": "pods", "JOB_COMPLETION_INDEX": "6"}, {}, "pods/attempt-1/rank-0006.jsonl"),
        ({"OMPI_COMM_WORLD_RANK": "2"}, {}, "job/attempt-1/rank-0002.jsonl"),
    ],
)
def test_the_environment_places_the_hook(
    environment: dict[str, str], explicit: dict[str, Any], file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launchers' variables say which rank of which attempt it is; what is passed wins."""
    for name in [name for name in os.environ if name.startswith(("SLURM_", "TORCHELASTIC_", "TRAINMASTER_"))]:
        monkeypatch.delenv(name)
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "JOB_NAME", "JOB_COMPLETION_INDEX", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TRAINMASTER_DIR": str(tmp_path), **environment}.items():
        monkeypatch.setenv(name, value)
    hook = Hook.from_environment(**explicit)
    with hook.step(0):
        pass
    hook.flush()
    assert (tmp_path / file).exists()


def test_a_job_name_cannot_leave_the_directory(tmp_path: Path) -> None:
    """Dots and slashes in a name are part of a folder's name."""
    for job in ("..", "../../etc", "a/b", ".hidden"):
        with Hook(str(tmp_path / "inside"), job).step(0):
            pass
    flush_all()
    assert len(list((tmp_path / "inside").iterdir())) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


def test_the_file_suits_an_old_interpreter() -> None:
    """The hook is one file of at most 430 lines that Python 3.8 can read and that needs the standard library alone."""
    source = TRAINER.read_text()
    tree = ast.parse(source, feature_version=(3, 8))
    assert len(source.splitlines()) <= 430
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    assert imported <= sys.stdlib_module_names


def test_a_copy_runs_alone(tmp_path: Path) -> None:
    """A copied file works in a Python that sees nothing else of ours."""
    copy = tmp_path / "trainmaster_hook.py"
    copy.write_text(TRAINER.read_text())
    story = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from trainmaster_hook import Hook\n"
        "hook = Hook(sys.argv[1] + '/d', 'j')\n"
        "with hook.step(4): pass\n"
        "assert (hook.failed, hook.dropped) == (0, 0)\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", story, str(tmp_path)], check=True, timeout=30)
    assert [line.s for line in read_lines(tmp_path / "d")] == [4]
