"""torchrun and schedulers: signals, exit codes, the box with the failures, rendezvous time-outs, status lines."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_DEATH = re.compile(
    r"Received (?:Signals\.)?(SIG[A-Z]+|\d{1,2}) death signal|SignalException: Process \d+ got signal: (\d{1,2})"
)
_SIGNALS = {"1": "SIGHUP", "2": "SIGINT", "15": "SIGTERM"}
_RETURN_CODE = re.compile(r"(?:--local_rank=(\d{1,6}).{0,4000})?exits with return code = (-?\d{1,9})")
_EXIT = re.compile(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\)")
_RENDEZVOUS = re.compile(r"(Timeout \d+s to complete rendezvous)|(RendezvousTimeoutError)")
_PULSE = re.compile(r"PULSE: (\S+) is (\w+)")
_ALERT = re.compile(r"\*\*\*ALERT: (\S+) is not RUNNING or SCHEDULED")
_CANCELLED = re.compile(
    r"\*\*\* (?:JOB|STEP) (\S+) ON \S+ CANCELLED AT (?:\S+)(?: DUE TO ([A-Z ]{1,40}?)(?:, [A-Z ]{1,60})?)? \*\*\*"
)
_FIELD = re.compile(r"\b(time|host|rank|exitcode|error_file|traceback) *: (.*)")
_ENTRY = re.compile(r"\[\d{1,7}\]:\s*$")
_INSIDE = re.compile(r"^\s|[\]:|)F] {2}|-----|<NO_OTHER_FAILURES>")
"""What a line of a box has that is neither a field nor a heading: it is indented, also behind a prefix."""
_NUMBER = re.compile(r"-?\d+")
_MOST_LINES = 2000
Data = dict[str, str | int | None]


class Torchrun:
    """Reads them; of the failures in a box the first observed one is marked."""

    needles = (
        "Received Signals.",
        "Received 1",
        "Received 2 death",
        "SignalException",
        "xits with return code",
        "(exitcode: ",
        "RendezvousTimeout",
        "PULSE: ",
        "***ALERT",
        "*** JOB ",
        "*** STEP ",
        "Failures:",
        "Root Cause (first",
        "Sending process",
    )

    def __init__(self) -> None:
        self._in_box = False
        self._root = False
        self._lines = 0
        self._entries: list[tuple[bool, dict[str, str], Line]] = []

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line; a box is kept open to its lower edge."""
        text = line.text
        if "Failures:" in text or "Root Cause (first" in text:
            self._in_box, self._root, self._lines = True, "Root Cause" in text, 0
            return []
        if found := _DEATH.search(text):
            named = found[1] or found[2]
            data: Data = {"level": "warning", "signal": _SIGNALS.get(named, named), "what": "launcher told to end"}
            return [Happening(event="log.line", data=data, text=text.strip(), time=line.time)]
        if found := _EXIT.search(text):
            data = {"exit_code": int(found[1]), "local_rank": int(found[2]), "pid": int(found[3])}
            return [Happening(event="rank.exit", data=data, text=text.strip(), time=line.time)]
        if found := _RETURN_CODE.search(text):
            data = {"exit_code": int(found[2]), "local_rank": int(found[1]) if found[1] else None}
            return [Happening(event="rank.exit", data=data, text=text.strip(), time=line.time)]
        if found := _RENDEZVOUS.search(text):
            data = {"rank": line.rank, "error": found[0]}
            return [Happening(event="rank.error", data=data, text=text.strip(), time=line.time)]
        return _status(line)

    @property
    def is_open(self) -> bool:
        """Whether a record has begun."""
        return self._in_box

    def goes_on(self, line: Line) -> bool:
        """Take the lines of the box; one that cannot be of it ends it, for a launcher may be killed before its edge."""
        self._lines += 1
        if not self._in_box or self._lines > _MOST_LINES or "=====" in line.text:
            return False
        if "Root Cause (first" in line.text:
            self._root = True
        elif _ENTRY.search(line.text):
            self._entries.append((self._root, {}, line))
        elif self._entries and (found := _FIELD.search(line.text)):
            self._entries[-1][1].setdefault(found[1], found[2].strip())
        else:
            return _INSIDE.search(line.text) is not None
        return True

    def complete(self) -> Sequence[Finding]:
        """Give the exits of the box."""
        entries, self._entries, self._in_box = self._entries, [], False
        return [made for root, fields, line in entries if (made := _exit(root, fields, line))]


def _exit(root: bool, fields: dict[str, str], line: Line) -> Happening | None:
    rank, code = _NUMBER.search(fields.get("rank", "")), _NUMBER.search(fields.get("exitcode", ""))
    if rank is None or code is None:
        return None
    pid = re.search(r"pid: (\d+)", fields["exitcode"])
    data = {
        "rank": int(rank[0]),
        "exit_code": int(code[0]),
        "host": fields.get("host", ""),
        "pid": int(pid[1]) if pid else None,
        "first": root,
    }
    stamp = Line(fields.get("time", ""), line.arrived, line.zone)
    return Happening(event="rank.exit", data=data, text=fields.get("traceback", ""), time=stamp.time)


def _status(line: Line) -> Sequence[Finding]:
    text = line.text
    if found := _CANCELLED.search(text):
        data = {"state": "cancelled", "name": found[1], "reason": (found[2] or "").lower()}
        return [Happening(event="scheduler.status", data=data, text=text.strip(), time=line.time)]
    for pattern, known in ((_ALERT, "missing"), (_PULSE, "")):
        if found := pattern.search(text):
            data = {"state": known or found[2], "name": found[1]}
            stamp = Line(text[: found.start()], line.arrived, line.zone)  # further times follow the message
            return [Happening(event="scheduler.status", data=data, text=text.strip(), time=stamp.time)]
    return []  # a process told to close is a victim, not news
