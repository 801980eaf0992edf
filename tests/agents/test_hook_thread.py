"""The thread that writes for the hook: what it writes when, and what an end, a kill, a fork or a stuck disk costs."""

import gc
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from streams.agents.rank_file import Line, parse
from streams.agents.trainer import Hook
from tests.agents.rank_lines import read_lines
from tests.waiting import until

NEVER = 3600.0
FILE = "j/attempt-1/rank-0000.jsonl"


def lines_of(folder: Path) -> list[Line]:
    """Give the records on disk now, without asking the hook to write."""
    path = folder / FILE
    parsed = map(parse, path.read_bytes().splitlines()) if path.exists() else ()
    return [line for line in parsed if line is not None and not line.hook]


def test_steps_are_written_without_being_asked_for(tmp_path: Path) -> None:
    """What a loop reports is on disk a little later, though nobody flushes."""
    hook = Hook(str(tmp_path), "j", write_seconds=0.01)
    for step in range(3):
        with hook.step(step):
            pass
    until(lambda: [line.s for line in lines_of(tmp_path)] == [0, 1, 2], 20, "not written")


def test_events_and_numbers_that_are_not_finite_do_not_wait(tmp_path: Path) -> None:
    """An event, a save and a NaN wake the writer, with the steps before them; a plain step waits for its turn."""
    hook = Hook(str(tmp_path), "j", write_seconds=NEVER)
    with hook.step(0):
        pass
    hook.event("log.line")
    until(lambda: len(lines_of(tmp_path)) == 2, 20, "not written")
    with hook.step(1) as s:
        s.log(loss=float("nan"))
    until(lambda: len(lines_of(tmp_path)) == 3, 20, "not written")
    with hook.checkpoint(1):
        pass
    until(lambda: len(lines_of(tmp_path)) == 5, 20, "not written")
    with hook.step(2) as s:
        s.log(loss=1.0, skipped=None)
    assert len(lines_of(tmp_path)) == 5
    assert [line.n for line in read_lines(tmp_path)] == [0, 1, 2, 3, 4, 5]


def run_python(story: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a story in a process of its own, with a hook that writes only when it must."""
    begin = "import os, signal, sys\nfrom streams.agents.trainer import Hook\n"
    begin += f"hook = Hook(sys.argv[1], 'j', write_seconds={NEVER})\n"
    command = [sys.executable, "-c", begin + story, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("end", "code"), [("", 0), ("sys.exit(3)", 3), ("raise KeyError", 1), ("hook.end(); os._exit(0)", 0)]
)
def test_an_end_of_the_process_loses_nothing(end: str, code: int, tmp_path: Path) -> None:
    """All is written when the interpreter ends, however it does, and when the attempt is said to end."""
    done = run_python(f"for step in range(50):\n    with hook.step(step): pass\n{end}", tmp_path)
    assert done.returncode == code
    assert [line.s for line in lines_of(tmp_path) if not line.e] == list(range(50))


def test_a_kill_costs_what_was_not_written(tmp_path: Path) -> None:
    """After a kill the steps since the last write are missing and those before it are whole."""
    story = "for step in range(50):\n    with hook.step(step): pass\n    if step == 29: hook.flush()\n"
    done = run_python(story + "os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    assert done.returncode == -9
    assert [line.s for line in lines_of(tmp_path)] == list(range(30))


def test_a_forked_process_writes_its_own_records_alone(tmp_path: Path) -> None:
    """The child of a fork repeats nothing of its parent's, and has a thread of its own."""
    story = """
with hook.step(0): pass
child = os.fork()
if not child:
    hook.event("log.line", "child")
    hook.end()
    os._exit(0)
os.waitpid(child, 0)
with hook.step(1): pass
"""
    done = run_python(story, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = sorted((line.e, line.u, line.s) for line in lines_of(tmp_path))
    assert found == [("", "", 0), ("", "", 1), ("attempt.ended", "", -1), ("log.line", "child", -1)]


def test_a_hook_that_is_forgotten_writes_what_it_had(tmp_path: Path) -> None:
    """The thread ends with its hook, and the hook's last records are on disk."""
    hook = Hook(str(tmp_path), "j", write_seconds=NEVER)
    with hook.step(4) as _:
        pass
    del hook, _
    gc.collect()
    until(lambda: [line.s for line in lines_of(tmp_path)] == [4], 20, "not written")


def test_a_disk_that_hangs_stops_no_step_and_every_loss_is_counted(tmp_path: Path) -> None:
    """While a write hangs steps go on; the ring keeps the newest, and lines and losses together are all records."""
    pipe, steps = tmp_path / FILE, 40_000
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    _fill(pipe)
    hook = Hook(str(tmp_path), "j", write_seconds=0.01)
    for step in range(steps):
        with hook.step(step):
            pass
    os.set_blocking(reader, True)
    read: list[dict[str, int]] = []

    def take() -> None:
        with os.fdopen(reader, "rb") as stream:
            for raw in filter(bytes.strip, stream):
                read.append(json.loads(raw))
                if read[-1].get("e"):
                    return

    taking = threading.Thread(target=take)
    taking.start()
    hook.end()
    taking.join(timeout=30)
    hook.flush()
    records = [line for line in read if "hook" not in line]
    lost = sum(line.get("lost", 0) for line in records)
    assert lost == hook.dropped > 0
    assert len(records) + lost == steps + 1
    assert records[-2]["s"] == steps - 1


def _fill(pipe: Path) -> None:
    """Write empty lines into a pipe until it takes no more."""
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    with os.fdopen(writer, "wb", buffering=0) as stream:
        while stream.write(b"\n" * 4096):
            pass
