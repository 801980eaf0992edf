"""The way to the scheduler: configured commands, run without a shell."""

import asyncio
import re
from asyncio.subprocess import DEVNULL, PIPE
from typing import Annotated

from msgspec import Meta, Struct

from playbooks.ports import NotAllowed, NotConfigured, Unsettled

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,252}")
_WHOLE_CLUSTER = ("all", "none", "default")
"""Words that schedulers read as every node, no node, or whatever comes first."""
_LAST_WORDS = 200
Command = tuple[str, ...]


class Commands(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Command and arguments of each order; an empty one is not configured.

    `{node}`, `{job}` and `{reason}` in an argument are replaced; an argument stays one argument whatever is in them.

    Attributes:
        cordon: `["scontrol", "update", "NodeName={node}", "State=DRAIN", "Reason={reason}"]`.
        restart: `["scontrol", "requeue", "{job}"]`.
        stop: `["scancel", "{job}"]`.
        seconds: a command that takes longer is ended.
    """

    cordon: Command = ()
    restart: Command = ()
    stop: Command = ()
    seconds: Annotated[float, Meta(gt=0)] = 30.0


class CommandScheduler:
    """Runs the command of an order and believes its exit code."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    async def cordon(self, node: str, reason: str) -> str:
        """Keep new work off a node; give what was done, for the record."""
        await self._run("cordon", self._commands.cordon, {"node": _checked(node), "reason": reason})
        return f"{node} cordoned"

    async def restart(self, job: str, reason: str) -> str:
        """Restart a job from its last complete checkpoint."""
        await self._run("restart", self._commands.restart, {"job": _checked(job), "reason": reason})
        return f"restart of {job} ordered"

    async def stop(self, job: str, reason: str) -> str:
        """Stop a job."""
        await self._run("stop", self._commands.stop, {"job": _checked(job), "reason": reason})
        return f"stop of {job} ordered"

    async def _run(self, order: str, command: Command, values: dict[str, str]) -> None:
        if not command:
            raise NotConfigured(f"no command for {order} is configured")
        arguments = [filled(argument, values) for argument in command]
        try:
            process = await asyncio.create_subprocess_exec(*arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)
        except OSError as fault:
            raise NotConfigured(f"the command for {order} cannot be started: {fault.strerror}") from fault
        try:
            async with asyncio.timeout(self._commands.seconds):
                _, complaint = await process.communicate()
        except TimeoutError:
            raise Unsettled(f"{order} did not end within {self._commands.seconds:g} s") from None
        finally:
            await _end(process)
        if process.returncode != 0:
            raise ConnectionError(f"{order} ended with {process.returncode}: {_last_line(complaint)}")


def filled(argument: str, values: dict[str, str]) -> str:
    """Replace the placeholders of an argument in one pass, so that a value cannot bring in another.

    >>> filled("NodeName={node}", {"node": "n01", "reason": "slow"})
    'NodeName=n01'
    """
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), argument)


def _checked(name: str) -> str:
    """Refuse what a scheduler could read as an option, a list, a pattern, or the whole cluster."""
    if not _NAME.fullmatch(name) or name.lower() in _WHOLE_CLUSTER:
        raise NotAllowed(f"{name!r} is not passed on to the scheduler as a name")
    return name


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1][:_LAST_WORDS] if lines else "no words"
