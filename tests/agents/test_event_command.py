"""`trainmaster event` against a server that keeps what it was sent."""

import asyncio
import sys

from tests.agents.recording import RecordingServer, run, until


async def tell(url: str, *words: str) -> tuple[int, str]:
    """Run the command; give its exit code and what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams", "event", *words, "--url", url), stderr=asyncio.subprocess.PIPE
    )
    _, said = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, said.decode()


def test_an_event_from_the_command_line_arrives() -> None:
    """Word, fields, job and subject arrive as a record; a word that nobody knows is kept, with a note."""

    async def story() -> None:
        async with RecordingServer() as server:
            words = ["storage.error", "code=503", "reason=slow down", "--job", "wm-64", "--subject", "/data"]
            assert (await tell(server.url, *words))[0] == 0
            code, said = await tell(server.url, "we.did.something", "--node", "n01")
            assert (code, "not in the table" in said) == (0, True)
            await until(lambda: len(server.events) == 2, "both")
            first, second = server.events
            assert (first.job, first.attempt, first.event, first.subject) == ("wm-64", 1, "storage.error", "/data")
            assert first.data == {"code": 503, "reason": "slow down"}
            assert (second.job, second.attempt, second.node) == ("default", 0, "n01")

    run(story)


def test_what_cannot_be_sent_ends_with_one() -> None:
    """A field without a value, and a server that is away, are one line and exit code 1."""

    async def story() -> None:
        code, said = await tell("http://127.0.0.1:1", "alert", "nonsense")
        assert (code, "name=value" in said) == (1, True)
        code, said = await tell("http://127.0.0.1:1", "alert")
        assert (code, "no answer" in said) == (1, True)

    run(story)
