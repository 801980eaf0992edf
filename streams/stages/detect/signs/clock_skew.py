"""A node whose clock is wrong by a minute and more: what it tells is dated wrong, and is out of order with the rest."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from schemas.wording import amount, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOKED = 20
"""Steps in a row in which a clock is wrong, or right again: a record that was held up for a minute is none."""
MOST = 0.5
"""Share of the nodes that may be wrong: more are no exception."""


class Wrong(Struct):
    """One clock: step and time at which it was first wrong, steps in a row that it was so, and that it was right."""

    step: int
    time: float
    away: int = 0
    right: int = 0
    told: bool = False


class ClockSkewMemory(Struct):
    """Clocks that are wrong, by node."""

    wrong: dict[str, Wrong] = field(default_factory=dict)


class ClockSkew(Sign[ClockSkewMemory]):
    """Compare when the nodes say that a step has ended: in a synchronous job that is the same moment."""

    name = "clock_skew"
    memory = ClockSkewMemory

    def step(self, memory: ClockSkewMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Count for how long each clock has been wrong."""
        if not closed.apart and not memory.wrong:
            return
        few = len(closed.apart) <= MOST * len(closed.nodes)
        for node in sorted(closed.apart) if few else ():
            known = memory.wrong.setdefault(node, Wrong(closed.step, closed.time - closed.apart[node]))
            known.away, known.right = known.away + 1, 0
            if known.away == LOOKED and not known.told:
                known.told = True
                yield self._seen(node, known, closed.apart[node])
        for node in [node for node in memory.wrong if node in closed.nodes and node not in closed.apart]:
            known = memory.wrong[node]
            known.away, known.right = 0, known.right + 1
            if not known.told or known.right >= LOOKED:
                del memory.wrong[node]
                if known.told:
                    yield Seen(**_place(node, known), over=True, end_step=closed.step)

    def _seen(self, node: str, known: Wrong, seconds: float) -> Seen:
        way = "ahead of" if seconds > 0 else "behind"
        return Seen(
            **_place(node, known),
            onset_step=known.step,
            nodes=(node,),
            before=0.0,
            after=seconds,
            text=(
                f"the clock of {node} is {amount('interval_seconds', abs(seconds))} {way} those of the other nodes "
                f"since {step_words(known.step)}: what it tells is dated wrong"
            ),
        )


def _place(node: str, known: Wrong) -> dict[str, Any]:  # Any: fields of what was seen
    return {
        "sign": ClockSkew.name,
        "subject": f"node:{node}",
        "again": str(known.step),
        "onset_time": known.time,
    }
