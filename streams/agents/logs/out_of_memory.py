"""Processes killed for memory, and what dies with them: loader workers and allocations on the GPU."""

import re
from collections.abc import Sequence

from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line

_CHOSEN = re.compile(r"oom-kill:constraint=CONSTRAINT_(\w+),.*?task=([^,]+),pid=(\d+)")
_KILLED = re.compile(r"(Memory cgroup out of memory|Out of memory): Kill(?:ed)? process (\d+) \(([^)]*)\)")
_WORKER = re.compile(
    r"DataLoader worker \(pid(?:\(s\))? (\d+)[^)]*\) (?:is killed by signal: ([^.]+)|exited unexpectedly)"
)
_GPU = re.compile(r"(?:torch\.)?(?:cuda\.)?(?:OutOfMemoryError|RuntimeError): (CUDA out of memory\.[^.]*)")
_SLURM = re.compile(r"Detected \d{1,9} oom[-_]kill event(?:\(s\))? in (?:StepId=|step )(\S+?)\.?(?:\s|$)")
_SAME_SECONDS = 60.0


class OutOfMemory:
    """Reads them; the kernel tells of one kill on two lines, and one event comes of it."""

    needles = (
        "kill:constraint",
        "Out of memory: ",
        "Memory cgroup out",
        "DataLoader worker",
        "CUDA out of memory",
        "ked oom-killer",
        "StepId=",
    )

    def __init__(self) -> None:
        self._told: tuple[int, float] = (-1, 0.0)

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line; the process that asked for memory is not the one that was killed."""
        text = line.text
        if "invoked oom-killer" in text:
            return []
        if found := _CHOSEN.search(text):
            return self._kill(int(found[3]), found[2], found[1].lower(), line)
        if found := _KILLED.search(text):
            constraint = "memcg" if found[1].startswith("Memory cgroup") else "none"
            return self._kill(int(found[2]), found[3], constraint, line)
        if found := _SLURM.search(text):
            data = {"process": "", "constraint": "memcg", "step": found[1]}
            return [Happening(event="oom.kill", data=data, text=text.strip(), time=line.time)]
        if found := _WORKER.search(text):
            data = {"pid": int(found[1]), "signal": found[2] or "exit", "rank": line.rank}
            return [Happening(event="worker.killed", data=data, text=text.strip(), time=line.time)]
        if found := _GPU.search(text):
            data = {"rank": line.rank, "error": found[1]}
            return [Happening(event="rank.error", data=data, text=text.strip(), time=line.time)]
        return [] if "out of memory" in text.lower() or "StepId=" in text else None

    def _kill(self, pid: int, process: str, constraint: str, line: Line) -> Sequence[Finding]:
        now = line.moment
        if self._told[0] == pid and abs(now - self._told[1]) < _SAME_SECONDS:
            return []
        self._told = (pid, now)
        data = {"pid": pid, "process": process, "constraint": constraint}
        return [Happening(event="oom.kill", data=data, text=line.text.strip(), time=line.time)]
