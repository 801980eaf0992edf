"""The last line of a Python traceback: which error a rank raised."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_ERROR = re.compile(
    r"(?:^|[\]:)|] ?| F )((?:(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit))|Exception): (.+)$"
)
_NO_TRACEBACK = re.compile(
    r"(?i)\b(?:warn|info|debug|notice|retry|ignor|lustreerror)|[\"'#<]|//|(?:\b[a-z&]{2,30}[ ,:]{1,3}){5}"
)
"""What stands before or in an error of somebody who goes on: a level below an error, a quotation, or a sentence."""
_LONGEST = 500


class Errors:
    """Reads them where they stand at the beginning of a line, or after the prefix of a rank."""

    needles = ("Error: ", "Exception: ")

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line; words of an error in the middle of a sentence are none."""
        found = _ERROR.search(line.text)
        if found is None or _NO_TRACEBACK.search(line.text, 0, found.end(1)):
            return []
        error = f"{found[1]}: {found[2]}"[:_LONGEST]
        data = {"rank": line.rank, "error": error}
        return [Happening(event="rank.error", data=data, text=line.text.strip()[:_LONGEST], time=line.time)]
