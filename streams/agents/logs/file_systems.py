"""Servers of file systems that went away or came back, as the clients of NFS and Lustre in the kernel tell it."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_NFS = re.compile(r"nfs: server (\S+) (?:(not responding, (?:still trying|timed out))|OK)\b")
_LOST = re.compile(r"Lustre.{0,200}?: (?:Connection to (\S+) .{0,100}?was lost|This client was evicted by ([^\s;]+))")
_BACK = re.compile(r"Lustre.{0,200}?: Connection restored to (\S+)")
_MOST_SERVERS = 1000
_AGAIN_SECONDS = 60.0
"""After which what was said of a server before is said again: the kernel prints a line for each request that waits."""


class FileSystems:
    """Reads them; of the lines of one kind about one server the first of a minute counts."""

    needles = ("OK", ", still trying", ", timed out", "Lustre")

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, float]] = {}

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _NFS.search(line.text):
            return self._say(found[1], "away" if found[2] else "back", line)
        if found := _LOST.search(line.text):
            return self._say(found[1] or found[2], "away" if found[1] else "evicted", line)
        if found := _BACK.search(line.text):
            return self._say(found[1], "back", line)
        return []

    def _say(self, server: str, state: str, line: Line) -> Sequence[Finding]:
        now, before = line.moment, self._told.get(server)
        if before is not None and before[0] == state and abs(now - before[1]) < _AGAIN_SECONDS:
            return []
        if len(self._told) >= _MOST_SERVERS:
            self._told.clear()
        self._told[server] = (state, now)
        data = {"level": "info" if state == "back" else "error", "rank": None, "server": server}
        return [Happening(event="log.line", data=data, text=line.text.strip(), time=line.time)]
