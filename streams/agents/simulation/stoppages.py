"""What stops: the job in the middle of a step, the agent of a node, or all telemetry of a job that goes on."""

from streams.agents.simulation.conditions import Conditions, Happening
from streams.agents.simulation.influence import Influence


class Hang(Influence, frozen=True, kw_only=True):
    """One rank never ends its step; its peers wait in a collective, busy by the look of it, and nothing times out.

    Attributes:
        rank: who stopped.
        seconds: how long that is watched.
    """

    rank: int
    seconds: float = 900.0

    def apply(self, now: Conditions) -> None:
        """Let the rank never finish this step."""
        if now.step == self.onset:
            now.stuck, now.stuck_seconds = (self.rank,), self.seconds


class SilentNode(Influence, frozen=True, kw_only=True):
    """The agent of a node sends nothing more; the job does not mind."""

    node: str

    def apply(self, now: Conditions) -> None:
        """Keep everything of that node back."""
        if self.strength(now.step):
            now.silent.add(self.node)


class SilentJob(Influence, frozen=True, kw_only=True):
    """All agents of a job send nothing more, while the scheduler goes on to call it running.

    Attributes:
        every: steps from one word of the scheduler to the next.
    """

    every: int = 60

    def apply(self, now: Conditions) -> None:
        """Keep everything but the scheduler's word back."""
        if not self.strength(now.step):
            return
        now.silent.update(now.job.nodes)
        if (now.step - self.onset) % self.every == 0:
            data = {"state": "running", "tasks": now.job.world_size}
            now.closing.append(Happening(node="scheduler", event="scheduler.status", data=data))
