"""The trainer's hook: what it writes, and that nothing it meets reaches the training."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.agents.rank_file import parse
from streams.agents.trainer import Hook
from tests.agents.rank_lines import flush_all, read_lines


class Unfriendly:
    """An object on which everything fails."""

    def __float__(self) -> float:
        raise RuntimeError("no number")

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def hostile() -> st.SearchStrategy[Any]:
    """Give anything a trainer may pass by mistake."""
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    nested = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
    return nested | st.just(Unfriendly()) | st.just(10**400) | st.just(object()) | st.just({1: {2: "\ud800"}})


def test_a_step_is_one_line(tmp_path: Path) -> None:
    """A step becomes one line with its parts, the length of the whole and the values of the job."""
    hook = Hook(str(tmp_path), "j")
    with hook.step(7) as s:
        with s.loading():
            pass
        with s.part("h2d_seconds"):
            pass
        s.values["sample_id"] = 12
        s.log(loss=2.5, tokens=1024, skipped=None)
    (line,) = read_lines(tmp_path)
    assert line.s == 7
    assert set(line.v) == {"loader_seconds", "h2d_seconds", "sample_id", "step_seconds"}
    assert line.j == {"loss": 2.5, "tokens": 1024.0, "skipped": None}
    parts = [line.v["loader_seconds"], line.v["h2d_seconds"], line.v["step_seconds"]]
    assert all(isinstance(part, float) and part >= 0 for part in parts)


def test_a_part_measured_twice_adds_up(tmp_path: Path) -> None:
    """Micro-batches are measured one by one and reported as one value, which the next step does not inherit."""
    hook = Hook(str(tmp_path), "j")
    for step, times in ((0, 3), (1, 0)):
        with hook.step(step) as s:
            for _ in range(times):
                with s.computing():
                    sum(range(20_000))
    first, second = read_lines(tmp_path)
    once = first.v["compute_seconds"]
    assert once is not None
    assert once > 3e-5
    assert "compute_seconds" not in second.v


def test_a_step_that_fails_is_not_written_and_its_exception_passes(tmp_path: Path) -> None:
    """The trainer's own exception reaches the trainer, and a step that did not end well is no finished step."""
    hook = Hook(str(tmp_path), "j")
    with pytest.raises(KeyError), hook.step(0):
        raise KeyError("the trainer's own")
    with hook.step(1):
        pass
    assert [line.s for line in read_lines(tmp_path)] == [1]


def test_values_that_are_not_finite_stay_what_they_are(tmp_path: Path) -> None:
    """NaN and infinities are written, for they are what matters most."""
    hook = Hook(str(tmp_path), "j")
    with hook.step(0) as s:
        s.log(loss=float("nan"), grad_norm=float("inf"))
    (line,) = read_lines(tmp_path)
    assert line.j["loss"] != line.j["loss"]
    assert line.j["grad_norm"] == float("inf")


def test_numbers_of_array_libraries_are_numbers(tmp_path: Path) -> None:
    """A step, a size or a value may be a number of numpy or torch."""
    numpy = pytest.importorskip("numpy")
    hook = Hook(str(tmp_path), "j")
    with hook.step(numpy.int64(3)) as s:
        s.log(loss=numpy.float32(1.5))
    hook.event("checkpoint.end", step=numpy.int64(3), bytes=numpy.int64(10))
    step, event = read_lines(tmp_path)
    assert (step.s, step.j) == (3, {"loss": 1.5})
    assert event.d == {"step": 3, "bytes": 10}


@given(job=hostile(), rank=hostile(), attempt=hostile(), step=hostile(), name=hostile(), value=hostile())
def test_nothing_hostile_is_raised_into_training(
    tmp_path_factory: pytest.TempPathFactory, job: Any, rank: Any, attempt: Any, step: Any, name: Any, value: Any
) -> None:
    """Whatever is passed to the hook, training goes on; what could not be used is counted."""
    hook = Hook(str(tmp_path_factory.getbasetemp() / "hostile"), job, rank, attempt, value, value, on_change=value)
    with hook.step(step) as s:
        with s.part(name):
            pass
        s.log(loss=value)
        s.values["x"] = value
    hook.event(name, value, value, field=value)
    hook.sample(name, value, reading=value)
    hook.start(value, name, extra=value)
    hook.setting(name)
    hook.checkpoint_due(step, value)
    with hook.checkpoint(step) as save:
        save.size_bytes = value
    hook.end(value, value)


def test_one_bad_value_costs_only_itself(tmp_path: Path) -> None:
    """The values beside one that is no number are written, and it is counted."""
    hook = Hook(str(tmp_path), "j")
    with hook.step(0) as s:
        s.log(loss=1.0, grad_norm=Unfriendly())
    (line,) = read_lines(tmp_path)
    assert line.j == {"loss": 1.0}
    assert (hook.failed, hook.dropped) == (1, 0)


def test_a_place_that_cannot_be_written_is_counted(tmp_path: Path) -> None:
    """Where the directory is a file, every record is dropped and counted, and training goes on."""
    (tmp_path / "taken").write_text("")
    hook = Hook(str(tmp_path / "taken"), "j")
    for step in range(3):
        with hook.step(step):
            pass
    hook.flush()
    assert hook.dropped == 3


FULL_DISK = """
import resource, sys
from streams.agents.trainer import Hook
hook = Hook(sys.argv[1], "j")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
for step in range(200):
    with hook.step(step) as s:
        s.log(loss=1.0)
hook.flush()
full = hook.dropped
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with hook.step(200):
    pass
hook.flush()
print(full, hook.dropped)
"""


def test_a_full_disk_is_counted_and_survived(tmp_path: Path) -> None:
    """Records that the disk does not take are counted, in the file too once it takes records again."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True, timeout=30
    )
    full, dropped = map(int, done.stdout.split())
    assert full == dropped > 100
    raw = (tmp_path / "j" / "attempt-1" / "rank-0000.jsonl").read_bytes()
    lines = [line for line in map(parse, raw.splitlines()) if line is not None and not line.hook]
    assert lines[-1].s == 200
    assert lines[-1].lost == full
    assert lines[-1].n == 200
    assert len(lines) == 201 - full


def test_a_half_line_of_a_killed_process_spoils_no_other(tmp_path: Path) -> None:
    """A hook that finds half a line begins a new one."""
    folder = tmp_path / "j" / "attempt-1"
    folder.mkdir(parents=True)
    (folder / "rank-0000.jsonl").write_bytes(b'{"n":0,"t":1.0,"s":')
    with Hook(str(tmp_path), "j").step(5):
        pass
    flush_all()
    raw = (folder / "rank-0000.jsonl").read_bytes().splitlines()
    assert parse(raw[-1]) is not None
    assert raw[0] == b'{"n":0,"t":1.0,"s":'


def test_files_are_put_aside_at_their_limit_and_two_are_kept(tmp_path: Path) -> None:
    """A long run leaves three files of about the limit, whose numbers follow on each other."""
    hook = Hook(str(tmp_path), "j")
    hook.limit_bytes = 2000
    for step in range(300):
        with hook.step(step):
            pass
    flush_all()
    folder = tmp_path / "j" / "attempt-1"
    names = ["rank-0000.jsonl.2", "rank-0000.jsonl.1", "rank-0000.jsonl"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert all((folder / name).stat().st_size < 2300 for name in names)
    raw = b"".join((folder / name).read_bytes() for name in names)
    numbers = [line.n for line in map(parse, raw.splitlines()) if line and not line.hook]
    assert numbers == list(range(numbers[0], 300))
    assert hook.dropped == 0


def test_a_record_too_long_for_anyone_is_dropped(tmp_path: Path) -> None:
    """A record of megabytes is counted, not written."""
    hook = Hook(str(tmp_path), "j")
    hook.event("log.line", data="x" * 1_000_000)
    hook.event("log.line")
    (line,) = read_lines(tmp_path)
    assert hook.dropped == 1
    assert (line.n, line.lost) == (1, 1)


def test_rank_zero_tells_of_the_attempt(tmp_path: Path) -> None:
    """Start and end are told once, by rank 0; the same configuration has the same fingerprint, another has not."""
    fingerprints = []
    for job, config in (("a", {"lr": 0.1, "layers": [1, 2]}), ("b", {"layers": [1, 2], "lr": 0.1}), ("c", {"lr": 1})):
        for rank in (0, 1):
            hook = Hook(str(tmp_path), job, rank, attempt=2, world_size=2)
            hook.start(config, resume_step=100, total_steps=500)
            hook.end("failed", 3)
        start, end = read_lines(tmp_path, job, 2)
        assert not (tmp_path / job / "attempt-2" / "rank-0001.jsonl").exists()
        assert (start.e, start.d["world_size"], start.d["resume_step"]) == ("attempt.started", 2, 100)
        assert start.d["config"] == config
        assert (end.e, end.d) == ("attempt.ended", {"reason": "failed", "exit_code": 3})
        fingerprints.append(start.d["fingerprint"])
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]


def test_a_huge_configuration_keeps_its_fingerprint(tmp_path: Path) -> None:
    """A configuration too large for a record is left out; the start is told all the same."""
    hook = Hook(str(tmp_path), "j")
    hook.start({"words": ["x" * 100] * 10_000})
    (start,) = read_lines(tmp_path)
    assert start.d["config"] == {}
    assert len(start.d["fingerprint"]) == 16


def test_lines_are_json(tmp_path: Path) -> None:
    """Any JSON reader understands a line."""
    hook = Hook(str(tmp_path), "j")
    hook.sample("mount", "/data", storage_retries_total=3, storage_latency_seconds=None)
    flush_all()
    raw = (tmp_path / "j" / "attempt-1" / "rank-0000.jsonl").read_text().splitlines()
    line = json.loads(raw[-1])
    assert (line["of"], line["id"]) == ("mount", "/data")
    assert line["v"] == {"storage_retries_total": 3.0, "storage_latency_seconds": None}
