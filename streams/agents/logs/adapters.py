"""Network adapters and their ports, as the kernel's drivers tell of them."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_MODULE = re.compile(
    r"mlx5_core ([0-9a-f:.]+): Port module event(?:\[\w+\])?: module \d+, (?:Cable (?:error|unplugged)|High Temp)"
)
_LINK = re.compile(r"mlx5_core ([0-9a-f:.]+)(?: (\S+))?: Link (down|up)\b")
_NIC = re.compile(r"([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f.]{1,6}) (\S{1,40}): NIC Link is (Down|Up)")
_FAULT = re.compile(
    r"mlx5_core ([0-9a-f:.]+)(?: (\S+))?: .{0,80}?(?:TX timeout detected|health compromised|firmware internal error"
    r"|health recovery failed|timeout\. Will cause a leak|nsufficient power)"
)
_QUEUE = re.compile(r"NETDEV WATCHDOG: (\S+) \((\S+?)\): transmit queue \d+ timed out")


class Adapters:
    """Reads what drivers say of links and of faults of an adapter itself."""

    needles = ("x5_core ", "NIC Link is", "NETDEV WATCHDOG")

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        text = line.text
        if found := _LINK.search(text) or _NIC.search(text):
            level = "error" if found[3].lower() == "down" else "info"
            return [_told(level, found[1], found[2] or "", line)]
        if found := _FAULT.search(text):
            return [_told("error", found[1], found[2] or "", line)]
        if found := _MODULE.search(text):
            return [_told("error", found[1], "", line)]
        if found := _QUEUE.search(text):
            return [_told("error", "", found[1], line)]
        return []


def _told(level: str, device: str, link: str, line: Line) -> Happening:
    data = {"level": level, "rank": None, "device": device, "link": link}
    return Happening(event="log.line", data=data, text=line.text.strip(), time=line.time)
