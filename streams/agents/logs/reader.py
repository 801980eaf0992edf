"""Reads a log: cuts it into messages, hands each to the format that knows it, and counts what nobody could read."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import tzinfo

from schemas.telemetry import LATEST_TIME
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.catalogue import FORMATS
from streams.agents.logs.containers import BEGIN, unwrapped
from streams.agents.logs.kernel import Kernel
from streams.agents.logs.line import Flushing, Format, Holding, Line, Running
from streams.agents.logs.nccl import Nccl

MOST_STEPS = 1 << 53
LONGEST = 1 << 14
"""Characters of a line; what is longer is cut, for no message is."""
_LONGEST_BYTES = 4 * LONGEST
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\n\r]*\x07|\x1b[()][AB0]")
_GLUED_FORMATS = (Nccl, Kernel)
_WATCHDOG, _DRIVER = "Watchdog caught", "NVRM: "
_SAMPLES_KEPT = 3
_TELLING = 2
_TRIPPED = (ValueError, ArithmeticError, RecursionError)
"""What a format raises where a number is none after all, such as `1.2.3`, or where JSON is nested without end."""


class LogReader:
    """Reads one log from its bytes, however they are cut.

    Args:
        zone: of times that do not name theirs.
        booted: Unix seconds at which the node started, for a kernel's log; 0 where it is not known.

    Attributes:
        read: messages that became findings, by format.
        unread: messages that look like a format's and could not be read, by format.
        samples: some of them.
    """

    def __init__(self, zone: tzinfo, booted: float = 0.0) -> None:
        self._zone, self._booted = zone, booted
        self._formats: list[Format] = [make() for make in FORMATS]
        by_needle: dict[str, Format] = {}
        for one in self._formats:
            for needle in one.needles:
                by_needle.setdefault(needle, one)
        self._by_needle = by_needle
        self._any_needle = re.compile(_pattern(by_needle))
        self._glued = [one for one in self._formats if type(one) in _GLUED_FORMATS]
        # Asked once: telling whether something has the methods of a protocol takes longer than reading a line.
        self._runners = {id(one): one for one in self._formats if isinstance(one, Running)}
        self._flushers = [one for one in self._formats if isinstance(one, Flushing)]
        self._holders = {id(one): one for one in self._formats if isinstance(one, Holding)}
        self._holder: Holding | None = None
        self._runner: Running | None = None
        self._rest = b""
        self._in_objects = False
        self.read: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
        self.samples: dict[str, list[str]] = {}
        self._lines = self._taken = 0

    @property
    def passed_over(self) -> int:
        """Messages that no format knows, blank ones too."""
        return max(0, self._lines - self._taken)

    def feed(self, chunk: bytes, arrived: float) -> list[Finding]:
        """Read further bytes; a line that has no end yet waits for the rest of it.

        Args:
            chunk: the next bytes of the log.
            arrived: Unix seconds at which they were read.
        """
        body = self._rest + chunk
        end = max(body.rfind(b"\n"), body.rfind(b"\r")) + 1
        self._rest = body[end : end + _LONGEST_BYTES]  # what is beyond, nobody looks at when the line has its end
        findings: list[Finding] = []
        text = self._unwrapped(_plain(body[:end].decode("utf-8", "replace")))
        place = self._held(text, 0, arrived, findings)
        while hit := self._any_needle.search(text, place):
            begin, end = text.rfind("\n", 0, hit.start()) + 1, text.find("\n", hit.end())
            end = len(text) if end < 0 else end
            if hit.end() <= begin + LONGEST:  # a needle beyond is in the part that is cut off
                self._take(text[begin : min(end, begin + LONGEST)], hit[0], arrived, findings)
                self._taken += 1
            place = self._run(text, self._held(text, end + 1, arrived, findings), findings)
        self._lines += text.count("\n")
        return findings

    def _unwrapped(self, text: str) -> str:
        """Take lines out of a container's objects; the first two lines of a log tell whether it is made of those."""
        if not self._in_objects and self._lines < _TELLING:
            self._in_objects = any(
                line.startswith(BEGIN) for line in text.split("\n", _TELLING)[: _TELLING - self._lines]
            )
        return _plain(unwrapped(text)) if self._in_objects else text

    def _run(self, text: str, place: int, findings: list[Finding]) -> int:
        """Give the lines from a place on to the format of the line before, as long as they are plain ones of it."""
        if self._runner is None or self._holder is not None:
            return place
        made, after = self._runner.run(text, place, self._zone)
        if after > place:
            findings += made
            self._taken += text.count("\n", place, after)
            self.read[type(self._runner).__name__] += len(made)
        return after

    def _held(self, text: str, place: int, arrived: float, findings: list[Finding]) -> int:
        """Give the lines from a place on to the format with an open record, as long as they belong to it."""
        while self._holder is not None and place < len(text):
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
            if end > place and not self._goes_on(text[place:end], arrived, findings):
                break
            self._taken += 1
            place = end + 1
        return min(place, len(text))

    def flush(self) -> list[Finding]:
        """Give what waited for a further line, once the log stands still; a line without an end goes on waiting."""
        findings: list[Finding] = []
        self._close(findings)
        for one in self._flushers:
            findings += filter(_is_sound, one.flush())
        return findings

    def finish(self, arrived: float) -> list[Finding]:
        """Read the last line though it has no end, and give everything: the log is complete."""
        return [*(self.feed(b"\n", arrived) if self._rest else []), *self.flush()]

    def _goes_on(self, text: str, arrived: float, findings: list[Finding]) -> bool:
        assert self._holder is not None
        if self._holder.goes_on(Line(text[:LONGEST], arrived, self._zone, self._booted)):
            return True
        self._close(findings)
        return False

    def _close(self, findings: list[Finding]) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            try:
                made = holder.complete()
            except _TRIPPED:
                made = ()
                self._note_unread(type(holder).__name__, "a record of several lines")
            self.read[type(holder).__name__] += len(made)
            findings += filter(_is_sound, made)

    def _take(self, text: str, needle: str, arrived: float, findings: list[Finding]) -> None:
        line = Line(text, arrived, self._zone, self._booted)
        first = self._by_needle[needle]
        if first is self._formats[-1]:  # the plainest reading comes last, though its needle may stand first
            first = next(one for one in self._formats if any(each in text for each in one.needles))
        made = self._ask(first, line)
        self._runner = self._runners.get(id(first)) if made else None
        if made:
            findings += filter(_is_sound, made)
            if _WATCHDOG in text or _DRIVER in text:
                findings += filter(_is_sound, self._further(line, [one for one in self._glued if one is not first]))
            return
        if self._holder is not None:
            return
        others = [one for one in self._formats if one is not first and any(each in text for each in one.needles)]
        further = self._further(line, others)
        findings += filter(_is_sound, further)
        if made is None and not further and self._holder is None:
            self._note_unread(type(first).__name__, text)

    def _further(self, line: Line, formats: list[Format]) -> list[Finding]:
        for one in formats:
            made = self._ask(one, line)
            if made or self._holder is not None:
                return list(made or ())
        return []

    def _ask(self, one: Format, line: Line) -> list[Finding] | None:
        try:
            made = one.read(line)
        except _TRIPPED:
            return None
        if made is None:
            return None
        if made:
            self.read[type(one).__name__] += 1
        elif (holder := self._holders.get(id(one))) is not None and holder.is_open:
            self._holder = holder
        return list(made)

    def _note_unread(self, name: str, text: str) -> None:
        self.unread[name] += 1
        samples = self.samples.setdefault(name, [])
        if len(samples) < _SAMPLES_KEPT:
            samples.append(text.strip()[:500])


def _plain(text: str) -> str:
    """Give the text without colours, one message a line: bars end in a carriage return."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return text.replace("\r", "\n") if "\r" in text else text


def _pattern(needles: Iterable[str]) -> str:
    """Give an expression for all needles that tells by their first character where none of them begins."""
    by_first: dict[str, list[str]] = {}
    for needle in sorted(needles, key=len, reverse=True):
        by_first.setdefault(needle[0], []).append(re.escape(needle[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items())


def _is_sound(finding: Finding) -> bool:
    """Tell whether a record can hold it: a damaged line may print a step or a number beyond all bounds."""
    if isinstance(finding, LoggedStep):
        return finding.step <= MOST_STEPS and finding.every <= MOST_STEPS and _is_unix(finding.time)
    if isinstance(finding, Happening):
        whole = (value for value in finding.data.values() if isinstance(value, int))
        return all(-MOST_STEPS <= value <= MOST_STEPS for value in whole) and _is_unix(finding.time)
    return True


def _is_unix(time: float | None) -> bool:
    return time is None or 0 <= time < LATEST_TIME
