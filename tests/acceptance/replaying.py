"""Replay telemetry in this process, for tests that look at incidents."""

from collections.abc import Iterable

from playbooks.load import load_causes, load_playbooks
from schemas.codec import Plain
from streams.line import Line
from streams.replay import replay, summary
from streams.topology import topology


def shipped_line() -> Line:
    """The line with the causes and playbooks that ship."""
    causes = load_causes()
    return Line(topology(causes, load_playbooks(causes=causes)))


def replayed(lines: Iterable[bytes]) -> dict[str, Plain]:
    """The object of the contract for some lines."""
    return summary(replay(shipped_line(), lines))
