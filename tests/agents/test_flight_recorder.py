"""Dumps of the flight recorder, as pickle and as JSON; and pickles that want to run something."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from streams.agents.finding import Happening
from streams.agents.flight_recorder import FlightRecorder, read

DUMP: dict[str, Any] = {
    "version": "2.5",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": 9, "last_started_collective": 8, "last_completed_collective": 7}},
    "entries": [
        {"pg_id": 0, "collective_seq_id": 7, "profiling_name": "nccl:all_reduce", "state": "completed"},
        {"pg_id": 0, "collective_seq_id": 9, "profiling_name": "nccl:broadcast", "state": "scheduled"},
        {"pg_id": 0, "collective_seq_id": 8, "profiling_name": "nccl:all_gather", "state": "started"},
    ],
}


@pytest.mark.parametrize("write", [pickle.dumps, lambda dump: json.dumps(dump).encode()])
def test_a_dump_says_where_a_rank_stands(write: Any, tmp_path: Path) -> None:
    """Each group's progress is an event with the first collective that did not complete; it is told once."""
    (tmp_path / "trace_1").write_bytes(pickle.dumps(DUMP))
    source = FlightRecorder(str(tmp_path / "trace_*"))
    assert source() == []
    (tmp_path / "trace_3").write_bytes(write(DUMP))
    (found,) = source()
    assert isinstance(found, Happening)
    assert found.event == "nccl.state"
    assert found.data == {
        "rank": 3, "group": "default_pg", "last_enqueued": 9, "last_started": 8, "last_completed": 7,
        "op": "nccl:all_gather", "seq": 8, "state": "started",
    }  # fmt: skip
    assert source() == []


def test_half_a_dump_is_read_when_it_is_whole(tmp_path: Path) -> None:
    """A dump that is still being written gives nothing yet."""
    source = FlightRecorder(str(tmp_path / "trace_*"))
    whole = pickle.dumps(DUMP)
    file = tmp_path / "trace_0"
    file.write_bytes(whole[:-20])
    assert source() == []
    file.write_bytes(whole)
    os.utime(file, (1, 1))
    assert len(source()) == 1


class _Runs:
    """A pickle that runs a command when it is read without care."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch pwned",)


def test_a_pickle_cannot_run_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump that names a function is refused, and the function is not called."""
    monkeypatch.chdir(tmp_path)
    evil = tmp_path / "trace_0"
    evil.write_bytes(pickle.dumps(_Runs()))
    with pytest.raises(ValueError, match="no dump"):
        read(evil)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "odd", [b"{}", b"[]", b"\x80\x04.", b'{"pg_status": 3, "entries": 4}', b'{"pg_status": {"0": 1}}']
)
def test_odd_dumps_say_nothing(odd: bytes, tmp_path: Path) -> None:
    """What has not the shape of a dump gives no event and no crash."""
    source = FlightRecorder(str(tmp_path / "trace_*"))
    (tmp_path / "trace_0").write_bytes(odd)
    assert source() == []


def test_a_name_that_is_built_of_others_is_not_printed(tmp_path: Path) -> None:
    """A group whose name is a list in lists for ever has its number for a name, at once."""
    laughs: list[Any] = []
    for _ in range(60):
        laughs = [laughs, laughs]
    dump = {**DUMP, "pg_config": {"0": {"desc": laughs}}, "entries": [{"pg_id": laughs, "state": laughs}]}
    source = FlightRecorder(str(tmp_path / "trace_*"))
    (tmp_path / "trace_3").write_bytes(pickle.dumps(dump))
    (found,) = source()
    assert isinstance(found, Happening)
    assert found.data["group"] == "0"
