"""Followers of files under damage, rotation, truncation, removal and new starts: nothing is raised, none goes deaf."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

from streams.agents.finding import Finding, Happening
from streams.agents.log_tail import LogTail
from streams.agents.tail import Tail, load_places, save_places
from tests.fuzz.mutate import cuts, mutate
from tests.fuzz.readers import ARRIVED, LINES, RANK_LINES, check_records

_MARK = b"\n\n[ 1.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=python3, mark-%d-end\n"


def log_files(chance: Random, folder: Path) -> int:
    """Write, put aside, cut and remove logs while they are followed; a mark at the end is read exactly once."""
    shutil.rmtree(folder / "logs", ignore_errors=True)
    (folder / "logs").mkdir()
    (folder / "state").unlink(missing_ok=True)
    follow, lines = _follow(folder), 0
    for _ in range(chance.randint(1, 12)):
        log = folder / "logs" / chance.choice(("a.log", "b.log"))
        lines += _disturb(chance, log)
        if chance.random() < 0.1:
            follow.close()
            follow = _follow(folder)
        if chance.random() < 0.7:
            check_records(follow())
    for number, name in enumerate(("a.log", "b.log", "new.log")):
        heard = _heard(follow())
        with (folder / "logs" / name).open("ab") as file:
            file.write(_MARK % number)
        heard += _heard(follow()) + _heard(follow())
        told = [text for text in heard if f"mark-{number}-end" in text]
        assert len(told) == 1, f"the mark in {name} was read {len(told)} times"
    follow.close()
    return lines


def _follow(folder: Path) -> LogTail:
    return LogTail([str(folder / "logs" / "*.log*")], state=folder / "state", clock=lambda: ARRIVED)


def _disturb(chance: Random, log: Path) -> int:
    """Do to a log what happens to logs."""
    deed = chance.random()
    if deed < 0.1 and log.exists():
        os.replace(log, log.with_name(f"{log.name}.{chance.randint(1, 3)}"))
    elif deed < 0.2 and log.exists():
        os.truncate(log, chance.randint(0, log.stat().st_size))
    elif deed < 0.25:
        log.unlink(missing_ok=True)
    written = b"\n".join(mutate(chance, chance.choice(LINES), LINES) for _ in range(chance.randint(0, 5)))
    with log.open("ab") as file:
        file.writelines(cuts(chance, written))
    return written.count(b"\n") + 1


def _heard(findings: Sequence[Finding]) -> list[str]:
    check_records(findings)
    return [each.text for each in findings if isinstance(each, Happening) and each.event == "xid"]


def rank_files(chance: Random, folder: Path) -> int:
    """Write, put aside and cut a rank's files while they are followed; a last good line is read exactly once."""
    shutil.rmtree(folder / "ranks", ignore_errors=True)
    home = folder / "ranks" / "j" / "attempt-1"
    home.mkdir(parents=True)
    file, state, lines = home / "rank-0000.jsonl", folder / "places", 0
    state.unlink(missing_ok=True)
    tail = Tail(folder / "ranks")
    for _ in range(chance.randint(1, 10)):
        if chance.random() < 0.2 and file.exists():
            os.replace(file, home / f"rank-0000.jsonl.{chance.randint(1, 2)}")
        written = b"\n".join(mutate(chance, chance.choice(RANK_LINES), RANK_LINES) for _ in range(3))
        with file.open("ab") as out:
            out.writelines(cuts(chance, written))
        lines += 3
        if chance.random() < 0.2:
            save_places(state, tail.places())
            tail = Tail(folder / "ranks", load_places(state))
        tail.poll()
    with file.open("ab") as out:
        out.write(b'\n{"n":900719,"t":1740960000.5,"s":4242,"v":{},"j":{}}\n')
    reads = [read for _ in range(4) for read in tail.poll()]
    told = sum(read.line.n == 900719 and read.line.s == 4242 for read in reads)
    assert told == 1, f"the last line was read {told} times"
    return lines
