"""The runner's clock."""

import asyncio

from streams.clock import unix_seconds


class WallClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Unix seconds."""
        return unix_seconds()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
