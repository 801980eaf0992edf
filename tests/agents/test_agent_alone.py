"""The command `trainmaster agent` on a machine without GPU, driver, jobs or logs."""

import asyncio
import re
import signal
import sys
from pathlib import Path

from schemas.telemetry import SampleFrame
from tests.agents.recording import RecordingServer, run, until


def test_an_agent_without_gpu_says_so_once_and_delivers_the_node(tmp_path: Path) -> None:
    """It runs, tells of the missing driver once in its log and once as an event, and sends what the node says."""

    async def story() -> None:
        async with RecordingServer() as server:
            places = ["--dir", str(tmp_path / "hooks"), "--spool", str(tmp_path / "spool")]
            agent = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "streams", "agent", "--node", "n01", "--url", server.url, "--every", "0.1"),
                *places,
                stderr=asyncio.subprocess.PIPE,
            )

            def names() -> set[str]:
                samples = [record for record in server.records if isinstance(record, SampleFrame)]
                return {name for sample in samples for name in sample.values}

            wanted = {"cpu_util", "memory_available_bytes", "clock_synchronised", "space_free_bytes"}
            await until(lambda: wanted <= names() and len(server.records) > 60, "samples of the node", 40.0)
            agent.send_signal(signal.SIGTERM)
            _, said = await asyncio.wait_for(agent.communicate(), 20)
            assert agent.returncode == 0
            (gap,) = server.events_named("source.gap")
            assert (gap.data["source"], gap.data["reason"]) == ("gpu", "there is no NVIDIA driver")
            assert len(re.findall("there is no NVIDIA driver", said.decode())) == 1

    run(story)
