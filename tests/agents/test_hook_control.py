"""What the hook does with a control file, and when it lets a trainer save."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from schemas.action import Control, Setting
from streams.agents.control_file import write_control
from streams.agents.trainer import Hook
from tests.agents.rank_lines import flush_all, read_lines

Wish = tuple[Any, str]


def order(directory: Path, version: int, wishes: dict[str, Wish], attempt: int = 1) -> None:
    """Write a control file."""
    settings = {name: Setting(value=value, request=request) for name, (value, request) in wishes.items()}
    write_control(directory, Control(job="j", attempt=attempt, version=version, settings=settings))
    flush_all()


def train(hook: Hook, *steps: int) -> None:
    """Run empty steps."""
    for step in steps:
        with hook.step(step):
            pass


def answers(directory: Path) -> list[tuple[str, str, int, str]]:
    """Give the acknowledgements: request, setting, step, error."""
    return [(line.ack, line.setting, line.s, line.error) for line in read_lines(directory) if line.ack]


def test_a_setting_is_applied_and_answered_once(tmp_path: Path) -> None:
    """A setting holds from the next step on, and its request is acknowledged once with that step."""
    hook = Hook(str(tmp_path), "j")
    train(hook, 0)
    assert hook.setting("loader.path", "origin") == "origin"
    order(tmp_path, 1, {"loader.path": ("cache", "r1")})
    train(hook, 1, 2, 3)
    assert hook.setting("loader.path", "origin") == "cache"
    order(tmp_path, 2, {"loader.path": ("cache", "r1"), "checkpoint.mode": ("async", "r2")})
    train(hook, 4, 5)
    assert answers(tmp_path) == [("r1", "loader.path", 1, ""), ("r2", "checkpoint.mode", 4, "")]


def test_a_removed_setting_is_the_trainers_own_again(tmp_path: Path) -> None:
    """A setting that is missing from a newer document returns to the default, and the callback hears of it."""
    heard: list[tuple[str, Any]] = []
    hook = Hook(str(tmp_path), "j", on_change=lambda name, value: heard.append((name, value)))
    order(tmp_path, 1, {"loader.path": ("cache", "r1")})
    train(hook, 0)
    order(tmp_path, 2, {})
    train(hook, 1)
    assert hook.setting("loader.path", "origin") == "origin"
    assert heard == [("loader.path", "cache"), ("loader.path", None)]


@pytest.mark.parametrize(
    ("version", "attempt", "applied"),
    [(5, 1, True), (4, 1, False), (3, 1, False), (5, 2, False), (9, 3, False)],
    ids=["newer", "same", "older", "another attempt", "another attempt and newer"],
)
def test_only_newer_documents_of_the_own_attempt_count(
    version: int, attempt: int, applied: bool, tmp_path: Path
) -> None:
    """A document of another attempt, or one that is not newer, changes nothing and is not answered."""
    hook = Hook(str(tmp_path), "j")
    order(tmp_path, 4, {"loader.path": ("cache", "r1")})
    train(hook, 0)
    order(tmp_path, version, {"loader.path": ("peer", "r2")}, attempt)
    train(hook, 1)
    assert hook.setting("loader.path") == ("peer" if applied else "cache")
    assert len(answers(tmp_path)) == (2 if applied else 1)


def test_what_the_callback_raises_is_the_answers_error(tmp_path: Path) -> None:
    """A trainer that cannot do it says so in the acknowledgement, and the setting stays as it was."""

    def refuse(name: str, value: object) -> None:
        raise RuntimeError(f"no {name} here")

    hook = Hook(str(tmp_path), "j", on_change=refuse)
    order(tmp_path, 1, {"loader.path": ("cache", "r1")})
    train(hook, 0, 1)
    assert hook.setting("loader.path", "origin") == "origin"
    assert answers(tmp_path) == [("r1", "loader.path", 0, "RuntimeError('no loader.path here')")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("checkpoint.mode", "sometimes"),
        ("checkpoint.mode", 3),
        ("checkpoint.defer_until_step", "later"),
        ("checkpoint.defer_until_step", 1.5),
    ],
)
def test_values_that_make_no_sense_are_answered_with_an_error(name: str, value: Any, tmp_path: Path) -> None:
    """A known setting with a value it cannot have is refused by name, and saving goes on as before."""
    hook = Hook(str(tmp_path), "j")
    order(tmp_path, 1, {name: (value, "r1")})
    train(hook, 0)
    ((request, setting, step, error),) = answers(tmp_path)
    assert (request, setting, step) == ("r1", name, 0)
    assert setting in error
    assert hook.checkpoint_due(200, 200)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"settings": 3}', '{"job":"j","attempt":1,"version":1,"settings":{"a":{"value":1}}}'],
)
def test_a_malformed_file_is_ignored_counted_and_told_once(text: str, tmp_path: Path) -> None:
    """A control file that is none changes nothing; the hook tells of it once and takes the next good one."""
    hook = Hook(str(tmp_path), "j")
    order(tmp_path, 1, {"loader.path": ("cache", "r1")})
    train(hook, 0)
    (tmp_path / "new").write_text(text)
    (tmp_path / "new").replace(tmp_path / "j" / "control.json")  # at once: the hook's thread looks when it likes
    flush_all()
    train(hook, 1, 2, 3)
    assert hook.setting("loader.path") == "cache"
    assert hook.failed == 1
    assert [line.e for line in read_lines(tmp_path) if line.e] == ["log.line"]
    order(tmp_path, 2, {"loader.path": ("peer", "r2")})
    train(hook, 4)
    assert hook.setting("loader.path") == "peer"


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    """Between changes the hook only asks when the file was written: a file that became unreadable is not noticed."""
    hook = Hook(str(tmp_path), "j")
    order(tmp_path, 1, {"loader.path": ("cache", "r1")})
    path = tmp_path / "j" / "control.json"
    train(hook, 0)
    before = path.stat()
    body = json.loads(path.read_text())
    aside = path.rename(tmp_path / "aside")  # the hook's thread looks when it likes: it must not see half of the change
    aside.write_text(json.dumps({**body, "version": 2, "settings": {}}))
    os.utime(aside, ns=(before.st_atime_ns, before.st_mtime_ns))
    aside.rename(path)
    flush_all()
    train(hook, 1)
    assert hook.setting("loader.path") == "cache"


SAVES: list[tuple[str, dict[int, dict[str, Wish]], list[int]]] = [
    ("regular", {}, [4, 8, 12, 16]),
    ("deferred, then owed at that step", {3: {"checkpoint.defer_until_step": (10, "r1")}}, [10, 12, 16]),
    ("deferred past several", {3: {"checkpoint.defer_until_step": (15, "r1")}}, [15, 16]),
    ("deferred to a regular step", {3: {"checkpoint.defer_until_step": (12, "r1")}}, [12, 16]),
    ("deferred while nothing is due", {5: {"checkpoint.defer_until_step": (7, "r1")}}, [4, 8, 12, 16]),
    (
        "deferral taken back",
        {3: {"checkpoint.defer_until_step": (15, "r1")}, 6: {}},
        [6, 8, 12, 16],
    ),
    ("now", {6: {"checkpoint.now": ("r1", "r1")}}, [4, 6, 8, 12, 16]),
    ("now, at a regular step", {8: {"checkpoint.now": ("r1", "r1")}}, [4, 8, 12, 16]),
    (
        "now twice",
        {5: {"checkpoint.now": ("r1", "r1")}, 6: {"checkpoint.now": ("r2", "r2")}},
        [4, 5, 6, 8, 12, 16],
    ),
    (
        "now beats a deferral, and pays what is owed",
        {
            3: {"checkpoint.defer_until_step": (11, "r1")},
            6: {"checkpoint.defer_until_step": (11, "r1"), "checkpoint.now": ("r2", "r2")},
        },
        [6, 11, 12, 16],
    ),
]


@pytest.mark.parametrize(("changes", "saved"), [case[1:] for case in SAVES], ids=[case[0] for case in SAVES])
def test_when_a_trainer_saves(changes: dict[int, dict[str, Wish]], saved: list[int], tmp_path: Path) -> None:
    """With a save every 4 steps the control file moves, adds and takes back saves, each request once."""
    hook = Hook(str(tmp_path), "j")
    steps = []
    for version, step in enumerate(range(1, 17)):
        if step in changes:
            order(tmp_path, version, changes[step])
        train(hook, step)
        if hook.checkpoint_due(step, every=4):
            assert hook.checkpoint_due(step, every=4), "the same step has the same answer"
            with hook.checkpoint(step):
                steps.append(step)
    assert steps == saved


def test_a_save_is_measured_and_told(tmp_path: Path) -> None:
    """A save is told with its step, mode, seconds and size."""
    hook = Hook(str(tmp_path), "j")
    with hook.checkpoint(200) as save:
        save.size_bytes = 12345
    begin, end = read_lines(tmp_path)
    assert (begin.e, begin.d) == ("checkpoint.begin", {"step": 200, "mode": "sync"})
    assert end.e == "checkpoint.end"
    assert (end.d["step"], end.d["mode"], end.d["bytes"]) == (200, "sync", 12345)
    assert end.d["seconds"] >= end.d["pause_seconds"] >= 0


def test_an_asynchronous_save_ends_when_its_writer_says_so(tmp_path: Path) -> None:
    """In mode async the pause ends before the save does, and the end is told by the writer."""
    hook = Hook(str(tmp_path), "j")
    order(tmp_path, 1, {"checkpoint.mode": ("async", "r1")})
    train(hook, 0)
    with hook.checkpoint(0) as save:
        assert save.mode == "async"
    assert [line.e for line in read_lines(tmp_path) if line.e] == ["checkpoint.begin"]
    save.done()
    assert [line.e for line in read_lines(tmp_path) if line.e] == ["checkpoint.begin", "checkpoint.end"]


def test_a_save_that_fails_is_told_and_raised(tmp_path: Path) -> None:
    """The trainer's own exception passes, and the save is told as failed."""
    hook = Hook(str(tmp_path), "j")
    with pytest.raises(OSError, match="full"), hook.checkpoint(8):
        raise OSError("full")
    begin, failed = read_lines(tmp_path)
    assert begin.e == "checkpoint.begin"
    assert (failed.e, failed.d) == ("checkpoint.failed", {"step": 8, "mode": "sync", "error": "OSError"})


def test_other_ranks_save_in_silence(tmp_path: Path) -> None:
    """Only the reporting rank tells of a save."""
    hook = Hook(str(tmp_path), "j", rank=3)
    with hook.checkpoint(200):
        pass
    with hook.checkpoint(200, reporting=3):
        pass
    assert [line.e for line in read_lines(tmp_path, rank=3)] == ["checkpoint.begin", "checkpoint.end"]
