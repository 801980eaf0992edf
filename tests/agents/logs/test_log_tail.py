"""Following logs through rotation, truncation, half-written lines, floods, and an agent that starts anew."""

import os
from collections.abc import Sequence
from pathlib import Path

from streams.agents.finding import Finding, Happening, LoggedStep, Of
from streams.agents.kernel_log import KernelLog, printed
from streams.agents.log_tail import MOST_OF_A_KIND, LogTail

LINE = "step: {n}  loss:  2.5  memory: 1.00GiB(1.0%)  tps: 7,000  tflops: 1.0  mfu: 1.00%\n"


def line(n: int) -> str:
    """Give the line of a step."""
    return LINE.format(n=n)


def steps(findings: Sequence[Finding]) -> list[int]:
    """Give the steps among findings."""
    return [each.step for each in findings if isinstance(each, LoggedStep)]


def tail(folder: Path, state: Path | None = None, pattern: str = "*.log*") -> LogTail:
    """Follow the logs of a folder."""
    return LogTail([str(folder / pattern)], state=state, clock=lambda: 1.78e9)


def append(path: Path, text: str) -> None:
    """Write on."""
    with path.open("a") as file:
        file.write(text)


def test_what_was_there_is_history_and_new_lines_are_read(tmp_path: Path) -> None:
    """A file is read from its end at the first start; a new one from its beginning; half a line waits for the rest."""
    log = tmp_path / "a.log"
    append(log, line(1))
    follow = tail(tmp_path)
    assert steps(follow()) == []
    append(log, line(2) + line(3)[:30])
    assert steps(follow()) == [2]
    append(log, line(3)[30:])
    append(tmp_path / "b.log", line(7))
    assert steps(follow()) == [3, 7]


def test_rotation_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """A renamed file is read to its end before the new one, whether or not the pattern covers its new name."""
    for pattern in ("*.log*", "*.log"):
        folder = tmp_path / str(len(pattern))
        folder.mkdir()
        log = folder / "a.log"
        follow = tail(folder, pattern=pattern)
        append(log, line(1))
        assert steps(follow()) == [1]
        append(log, line(2))
        os.rename(log, folder / "a.log.1")
        append(log, line(3))
        assert sorted(steps(follow())) == [2, 3]
        append(log, line(4))
        assert steps(follow()) == [4]


def test_of_many_files_those_written_last_are_followed(tmp_path: Path) -> None:
    """Of three hundred logs the oldest rest; one that is written to again goes on where it stood, once more and later.

    So it does where an agent that starts anew goes on, and that some rest is said once.
    """
    logs = [tmp_path / f"run{n:03d}.log" for n in range(300)]
    for age, log in enumerate(logs):
        append(log, line(1) if age < 250 else "")
        os.utime(log, ns=(0, 1_000_000_000 * (age + 1)))
    follow = tail(tmp_path, tmp_path / "state.json")
    (told,) = (each for each in follow() if isinstance(each, Happening))
    assert (told.data["what"], told.data["files"]) == ("not followed", 44)
    append(logs[3], line(2))
    assert [steps(follow()), steps(follow())] == [[2], []]
    for log in logs[44:]:
        append(log, line(7))
    assert steps(follow()) == [7] * 256
    append(logs[3], line(3))
    assert steps(follow()) == [3]
    follow.close()
    append(logs[5], line(4))
    append(logs[3], line(4))
    again = tail(tmp_path, tmp_path / "state.json")
    assert [steps(again()), steps(again())] == [[4, 4], []]


def test_a_log_that_may_not_be_read_is_told_once(tmp_path: Path) -> None:
    """What the agent has no right to read is named once, and the logs beside it are read; a pipe is no log."""
    forbidden = Path("/proc/sys/vm/compact_memory")  # nobody may read it, not even root
    (tmp_path / "forbidden.log").symlink_to(forbidden)
    os.mkfifo(tmp_path / "pipe.log")
    follow = tail(tmp_path)
    append(tmp_path / "b.log", line(2))
    found = [*follow(), *follow()]
    (told,) = (each for each in found if isinstance(each, Happening))
    assert (told.data["what"], told.data["file"]) == ("cannot be opened", str(tmp_path / "forbidden.log"))
    assert steps(found) == [2]


def test_a_truncated_file_begins_anew(tmp_path: Path) -> None:
    """A file that became shorter is read from its beginning."""
    log = tmp_path / "a.log"
    follow = tail(tmp_path)
    append(log, line(1) + line(2))
    assert steps(follow()) == [1, 2]
    log.write_text(line(9))
    assert steps(follow()) == [9]


def test_an_agent_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """The next start reads what was written meanwhile, once, also of a file that was renamed."""
    log, state = tmp_path / "a.log", tmp_path / "state" / "log.json"
    append(log, line(1))
    first = tail(tmp_path, state)
    append(log, line(2))
    assert steps(first()) == [2]
    append(log, line(3))
    os.rename(log, tmp_path / "a.log.1")
    append(log, line(4))
    second = tail(tmp_path, state)
    assert sorted(steps(second())) == [3, 4]
    assert steps(second()) == []


def test_another_file_under_the_same_number_begins_anew(tmp_path: Path) -> None:
    """The number of a file that is gone is given to another one: what was known of the first is not of the second."""
    log, state = tmp_path / "a.log", tmp_path / "state"
    append(log, line(1))
    follow = tail(tmp_path, state)
    append(log, line(2))
    assert steps(follow()) == [2]
    follow.close()
    follow = tail(tmp_path, state)
    log.write_text("a job of another name\n" + line(7) + line(8) + line(9))  # the same number, and longer than before
    assert steps(follow()) == [7, 8, 9]
    append(log, line(10))
    assert steps(follow()) == [10]


def test_a_record_of_several_lines_ends_when_the_log_stands_still(tmp_path: Path) -> None:
    """The last record of a log is given although no line follows it."""
    log = tmp_path / "a.log"
    follow = tail(tmp_path)
    append(log, "[2026-03-04 19:06:17] INFO [olmo.train:816] [step=75/739]\n    train/CrossEntropyLoss=9.5\n")
    assert steps(follow()) == []
    assert steps(follow()) == [75]
    assert steps(follow()) == []


def test_a_flood_is_counted(tmp_path: Path) -> None:
    """Of thousands of the same event the first are told, and how many were left out."""
    log = tmp_path / "a.log"
    follow = tail(tmp_path)
    flood = "NCCL WARN NET/IB : Got completion with error 5, opcode 0, len 0, vendor err 249\n"
    append(log, flood * (MOST_OF_A_KIND + 50))
    findings = [each for each in follow() if isinstance(each, Happening)]
    assert len([each for each in findings if each.event == "nccl.error"]) == MOST_OF_A_KIND
    (left_out,) = [each for each in findings if each.event == "log.line"]
    assert left_out.data["left_out"] == 50


def test_what_cannot_be_read_is_said_once(tmp_path: Path) -> None:
    """A line that looks known and cannot be read is told with its format and file; further ones are only counted."""
    log = tmp_path / "a.log"
    follow = tail(tmp_path)
    append(log, "NVRM: Xid (garbage)\n" * 3)
    (told,) = follow()
    assert isinstance(told, Happening)
    assert (told.data["format"], told.data["file"], told.text) == ("Kernel", str(log), "NVRM: Xid (garbage)")
    append(log, "NVRM: Xid (garbage)\n")
    assert follow() == []


def test_lines_belong_to_the_job_that_was_named(tmp_path: Path) -> None:
    """Where no hook runs on the node the settings say whose log it is."""
    follow = LogTail([str(tmp_path / "*.log")], job="wm-64", attempt=3)
    append(tmp_path / "a.log", line(1))
    (found,) = follow()
    assert isinstance(found, Of)
    assert (found.job, found.attempt) == ("wm-64", 3)


def test_the_kernels_records_are_read_as_it_prints_them(tmp_path: Path) -> None:
    """A record with its number and time becomes the line that people know; what is no record stays."""
    raw = b"4,339,5140900,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n SUBSYSTEM=pci\n"
    assert printed(raw).startswith(b"[    5.140900] NVRM: Xid")
    device = tmp_path / "kmsg"
    device.write_bytes(b"")
    source = KernelLog(device)
    assert source() == []
    device.write_bytes(raw)
    (found,) = source()
    assert isinstance(found, Happening)
    assert (found.event, found.data["code"]) == ("xid", 79)
    assert found.time is not None
