"""States of a Slurm cluster: nodes that are drained, down or back, and jobs that change their state."""

import subprocess
from collections.abc import Callable, Iterator, Sequence

from streams.agents.finding import Finding, Happening

NODES = ("sinfo", "--noheader", "--Node", "--format=%N|%T|%E")
JOBS = ("squeue", "--noheader", "--states=all", "--format=%A|%j|%T|%r")
_TIMEOUT_SECONDS = 10.0
_MARKS = "*~#!%$@^-+"
"""Signs behind a state: it does not answer, saves power, reboots."""
_AWAY = ("down", "fail", "error", "unknown", "no_respond")
_HELD = ("drain", "maint")

Run = Callable[[Sequence[str]], str]


def run(command: Sequence[str]) -> str:
    """Run a command and give what it printed.

    Raises:
        OSError: it is not there, hangs, or fails.
    """
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_SECONDS, check=True
        )
    except subprocess.SubprocessError as fault:
        raise OSError(f"{command[0]}: {type(fault).__name__}") from None
    return done.stdout


class Slurm:
    """Asks for all states and tells what changed since the look before; the first look is history.

    Args:
        ask: runs a command.
    """

    def __init__(self, ask: Run = run) -> None:
        self._ask = ask
        self._nodes: dict[str, str] | None = None
        self._jobs: dict[str, str] | None = None

    def __call__(self) -> Sequence[Finding]:
        """Ask once.

        Raises:
            OSError: Slurm does not answer.
        """
        nodes = {name: (state, reason) for name, state, reason in _rows(self._ask(NODES), 3)}
        jobs = {number: (name, state, reason) for number, name, state, reason in _rows(self._ask(JOBS), 4)}
        findings = [*self._of_nodes(nodes), *self._of_jobs(jobs)]
        self._nodes = {name: kind(state) for name, (state, _) in nodes.items()}
        self._jobs = {number: state for number, (_, state, _) in jobs.items()}
        return findings

    def _of_nodes(self, nodes: dict[str, tuple[str, str]]) -> Iterator[Happening]:
        for name, (state, reason) in nodes.items():
            before = self._nodes.get(name) if self._nodes is not None else kind(state)
            now = kind(state)
            word = _word(before, now)
            if word is not None:
                data = {"state": state, "reason": reason, "by": _blamed(reason)}
                yield Happening(event=word, subject=name, data=data, text=f"{name} is {state}: {reason}")

    def _of_jobs(self, jobs: dict[str, tuple[str, str, str]]) -> Iterator[Happening]:
        for number, (name, state, reason) in jobs.items():
            if self._jobs is not None and self._jobs.get(number) != state:
                data = {"state": state.lower(), "name": name, "id": number, "reason": reason}
                yield Happening(event="scheduler.status", data=data, text=f"job {number} ({name}) is {state}: {reason}")


def kind(state: str) -> str:
    """Say what a state means for a job.

    >>> [kind(state) for state in ("allocated", "idle", "drained*", "draining", "down*", "mixed")]
    ['well', 'well', 'held', 'held', 'away', 'well']
    """
    word = state.lower().rstrip(_MARKS)
    if word.startswith(_AWAY):
        return "away"
    return "held" if word.startswith(_HELD) else "well"


def _word(before: str | None, now: str) -> str | None:
    if before == now:
        return None
    if before is None:
        return "node.joined"
    return {"away": "node.missing", "held": "node.cordoned", "well": "node.uncordoned"}[now]


def _blamed(reason: str) -> str:
    """Operators mark whose fault it was: `[node_problem]`, `[user_problem]`."""
    return reason[1 : reason.find("]")] if reason.startswith("[") and "]" in reason else ""


def _rows(text: str, columns: int) -> Iterator[list[str]]:
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|", columns - 1)]
        if len(cells) == columns and cells[0]:
            yield cells
