"""What a preflight keeps: nodes that share the folder keep theirs apart, and know of the attempt before."""

from pathlib import Path

import pytest

from streams.readiness.before import Before


def before(folder: Path, node: str, attempt: int, job: str = "wm-64") -> Before:
    """What a node looks at before an attempt."""
    return Before(folder, job, "config", node, attempt)


def test_the_first_node_to_look_is_not_the_attempt_before(tmp_path: Path) -> None:
    """All nodes of the second attempt compare with the first one, in whatever order they look."""
    for node in ("n01", "n02"):
        before(tmp_path, node, 1).write({"lr": 1})
    for node in ("n01", "n02"):
        assert before(tmp_path, node, 2).read() == {"lr": 1}
        before(tmp_path, node, 2).write({"lr": 2})
    assert before(tmp_path, "n02", 3).read() == {"lr": 2}


def test_a_node_that_is_new_knows_of_the_attempt_before(tmp_path: Path) -> None:
    """A spare compares with what another node kept, and never with what was kept of its own attempt elsewhere."""
    before(tmp_path, "n01", 1).write({"lr": 1})
    before(tmp_path, "n01", 2).write({"lr": 2})
    before(tmp_path, "n02", 1).write({"lr": 1})
    assert before(tmp_path, "n09", 2).read() == {"lr": 1}
    assert before(tmp_path, "n09", 3).read() == {"lr": 2}
    assert before(tmp_path, "n09", 1).read() is None
    assert before(tmp_path, "n09", 3).read_own() is None


def test_a_spare_that_looks_last_knows_of_the_attempt_before(tmp_path: Path) -> None:
    """When all others have begun the second attempt, the first one is known still."""
    for attempt in (1, 2):
        for node in ("n01", "n02"):
            before(tmp_path, node, attempt).write({"lr": attempt})
    assert before(tmp_path, "n09", 2).read() == {"lr": 1}
    for attempt in range(3, 9):
        before(tmp_path, "n01", attempt).write({"lr": attempt})
    assert before(tmp_path, "n09", 8).read() == {"lr": 7}
    assert max(file.stat().st_size for file in tmp_path.glob("*.json")) < 1000


def test_a_node_that_was_away_knows_of_the_attempts_meanwhile(tmp_path: Path) -> None:
    """What it kept long ago is older than what the others kept since."""
    before(tmp_path, "n01", 1).write({"lr": 1})
    before(tmp_path, "n02", 4).write({"lr": 4})
    assert before(tmp_path, "n01", 5).read() == {"lr": 4}
    assert before(tmp_path, "n01", 5).read_own() == {"lr": 1}


def test_attempts_without_numbers_follow_each_other(tmp_path: Path) -> None:
    """Where all attempts have the same number, a node compares with what it kept last."""
    before(tmp_path, "n01", 1).write({"lr": 1})
    before(tmp_path, "n02", 1).write({"lr": 7})
    assert before(tmp_path, "n01", 1).read() == {"lr": 1}


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"job":"other","node":"n01","attempts":[{"attempt":1,"kept":{}}]}', "[" * 9000]
)
def test_a_file_that_cannot_be_read_is_none(body: str, tmp_path: Path) -> None:
    """A damaged file, or one of another job, is nothing to compare with and no fault."""
    before(tmp_path, "n01", 1).write({"lr": 1})
    (file,) = tmp_path.glob("*.json")
    file.write_text(body)
    assert before(tmp_path, "n01", 2).read() is None
    assert before(tmp_path, "n02", 2).read() is None
    before(tmp_path, "n01", 2).write({"lr": 2})
    assert before(tmp_path, "n01", 3).read() == {"lr": 2}
