"""What NCCL says of the network: completions with an error, connections that broke, ports that did."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_COMPLETION = re.compile(
    r"NET/IB ?: Got completion (?:from peer (\S+) )?with (?:status=(?:\w{1,40}\()?|error )(\d{1,9})"
    r".{0,120}?vendor[ _]err[ =](\d{1,9})(?:.*?hca (\S+))?"
)
_OTHER_NETWORK = re.compile(r"NET/OFI Request \S+ completed with error\. RC: (\d{1,9})")
_ASYNCHRONOUS = re.compile(r"NET/IB ?: (?:(\S+?):\d+ )?Got (?:non-fatal )?async (?:fatal )?event ?: ?(.*)")
_BROKEN = re.compile(
    r"(?:[Cc]all to (?:recv|send) from|[Cc]onnect to) (\S+) (?:failed|returned)(?: :)? ([A-Z][\w ]{3,60})"
)
_QUEUE_PAIR = re.compile(
    r"Call to ibv_modify_qp failed with (?:error |\d{1,9} )([A-Z][\w ]{3,60}?)(?: errno \d+)?"
    r"(?:,.*? on dev (\S+?):\d+|,|$)"
)
_CLOSED = re.compile(r"Connection closed by remote peer(?: (\S+))?")
_PORT_ERROR = "port error"


def network(line: Line) -> Sequence[Finding]:
    """Read a warning of NCCL; what is none of the network's is told as it stands."""
    text = line.text
    if found := _COMPLETION.search(text):
        data = {"status": int(found[2]), "vendor_err": int(found[3]), "peer": found[1] or "", "hca": found[4] or ""}
        return [_told("nccl.error", data, line)]
    if (found := _ASYNCHRONOUS.search(text)) and found[2].startswith(_PORT_ERROR):
        return [_told("nccl.port_error", {"hca": found[1] or ""}, line)]
    if found := _OTHER_NETWORK.search(text):
        return [_told("nccl.error", {"status": int(found[1])}, line)]
    if found := _BROKEN.search(text):
        return [_told("nccl.error", {"status": found[2].strip(), "peer": found[1]}, line)]
    if found := _QUEUE_PAIR.search(text):
        return [_told("nccl.error", {"status": found[1].strip(), "hca": found[2] or ""}, line)]
    if found := _CLOSED.search(text):
        return [_told("nccl.error", {"status": "closed", "peer": found[1] or ""}, line)]
    return [_told("log.line", {"level": "warning", "rank": line.rank}, line)]


def _told(event: str, data: dict[str, str | int | None], line: Line) -> Happening:
    return Happening(event=event, data=data, text=line.text.strip(), time=line.time)
