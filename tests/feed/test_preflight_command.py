"""`trainmaster preflight` of a run that goes on, against a running server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streams.cli import app
from streams.stages.stage import Sent
from tests.feed.conftest import Feed
from tests.readiness.test_continuing import taint
from tests.readiness.test_saved import deepspeed, put


def preflight(folder: Path, *words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """Run it in this process; give its exit code and what each check says."""
    state = ("--state", str(folder / "state"), "--json")
    result = CliRunner().invoke(app, ["preflight", "--job", "j", "--resume", str(folder / "saves"), *state, *words])
    found = json.loads(result.stdout)["findings"] if result.stdout else []
    return result.exit_code, {one["check"]: (one["level"], one["text"]) for one in found}


@pytest.fixture
def saves(tmp_path: Path) -> Path:
    """A folder of checkpoints, the newest one of step 1,000."""
    deepspeed(tmp_path / "saves")
    return tmp_path


def test_a_contaminated_checkpoint_stops_a_start(feed: Feed, saves: Path) -> None:
    """It passes while the ledger has nothing against it, and ends with 1 when the ledger holds its step."""
    code, found = preflight(saves, "--url", feed.url)
    assert (code, found["ancestry"][0]) == (0, "ok")
    feed.archive.put([Sent("taints", "j", taint(990, 1010))], 0)
    code, found = preflight(saves, "--url", feed.url)
    assert (code, found["ancestry"]) == (1, ("failed", "step 1,000 is contaminated: 990 to 1,010 (bad data, inc-1)"))


def test_a_server_that_is_away_stops_no_start(saves: Path) -> None:
    """Its silence is a warning; what the disk says counts."""
    code, found = preflight(saves, "--url", "http://127.0.0.1:9")
    assert (code, found["ancestry"][0]) == (0, "warning")
    assert found["checkpoint"][0] == "ok"


def test_an_attempt_that_does_not_start_is_none_to_compare_with(saves: Path) -> None:
    """What changed is told again after a preflight that failed, until one passes."""
    put(saves / "run.json", b'{"seed": 1}')
    config = ("--config", str(saves / "run.json"))
    assert preflight(saves, *config)[0] == 0
    put(saves / "run.json", b'{"seed": 2}')
    for failing in (("--gpus", "8"), ("--gpus", "8"), ()):
        code, found = preflight(saves, *config, *failing)
        assert code == int(bool(failing))
        assert found["data state"] == ("warning", "seed: 1 -> 2")
        assert found["configuration"][0] == "warning"
    assert preflight(saves, *config)[1]["data state"][0] == "ok"
