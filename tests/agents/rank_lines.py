"""Reading what a hook wrote."""

from pathlib import Path

from streams.agents.rank_file import Line, parse
from streams.agents.trainer import HOOKS


def flush_all() -> None:
    """Let every hook of this process write what it has, and look at its control file."""
    for hook in list(HOOKS):
        hook.flush()


def read_lines(directory: Path, job: str = "j", attempt: int = 1, rank: int = 0) -> list[Line]:
    """Read what a hook wrote, without the first line of the file."""
    flush_all()
    raw = (directory / job / f"attempt-{attempt}" / f"rank-{rank:04d}.jsonl").read_bytes()
    lines = [parse(each) for each in raw.splitlines() if each]
    assert all(lines), raw
    return [line for line in lines if line is not None and not line.hook]
