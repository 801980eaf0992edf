"""What is said of the nodes of a cluster: who need not speak, and what is heard too late to be about them still."""

from typing import Any

import pytest

from schemas.detection import Detection
from schemas.telemetry import Event, SampleFrame
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import START, Fed, of_kind

NODES = ("n1", "n2", "n3", "n4", "n5")
HOUR, DAY = 3600.0, 86400.0


class Pool:
    """A cluster of idle nodes, each of which is read every ten seconds, one a little after the other."""

    def __init__(self) -> None:
        self.fed: Fed[DetectMemory] = Fed(Detect(), "c1")
        self.time, self._seq = START, 0

    def idle(self, seconds: float, nodes: tuple[str, ...] = NODES) -> "Pool":
        """Let time pass while these nodes speak."""
        for _ in range(int(seconds / 10)):
            for node in NODES:
                self.time += 2.0
                if node not in nodes:
                    continue
                frame = SampleFrame(**self._head(node), of="node", ids=[node], ranks=[], values={"cpu_util": [0.1]})
                self.fed.feed(frame)
        return self

    def say(self, name: str, subject: str = "", at: float | None = None, **data: Any) -> "Pool":  # Any: event data
        """Something happens, now or at another time."""
        head = {**self._head("scheduler"), "time": self.time if at is None else at}
        self.fed.feed(Event(**head, event=name, subject=subject, data=data))
        return self

    def silent(self) -> list[tuple[str, bool]]:
        """The nodes that were missed, and whether they are still."""
        last = {one.id: one for one in self.fed.told(Detection) if one.detector == "silence"}
        return [(one.nodes[0], one.end_time is None) for one in last.values()]

    def heard(self, name: str) -> int:
        """How many events of a name count."""
        return sum(one.event == name for one in of_kind(self.fed.said, Event))

    def _head(self, node: str) -> dict[str, Any]:  # Any: the fields every record has
        self._seq += 1
        return {"job": "c1", "cluster": "c1", "attempt": 0, "node": node, "seq": self._seq, "time": self.time}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("node.cordoned", {"reason": "upgrade"}),
        ("node.removed", {"gpus": []}),
        ("action.started", {"action": "node.reboot"}),
    ],
)
def test_a_node_that_is_announced_to_be_away_is_not_missed(name: str, data: dict[str, Any]) -> None:
    """Work on a node is told before the node falls silent."""
    pool = Pool().idle(300).say(name, "n1", **data).idle(600, NODES[1:])
    assert pool.silent() == []


def test_a_node_of_which_nothing_was_said_is_missed() -> None:
    """Silence that nobody announced is told, also beside a node that is away on purpose."""
    pool = Pool().idle(300).say("node.cordoned", "n1").idle(600, NODES[2:])
    assert pool.silent() == [("n2", True)]


def test_a_node_that_is_released_and_stays_silent_is_missed() -> None:
    """Whoever is back in the pool has to speak; it has as long as any other."""
    pool = Pool().idle(300).say("node.cordoned", "n1").idle(600, NODES[1:]).say("node.uncordoned", "n1")
    assert pool.idle(100, NODES[1:]).silent() == []
    assert pool.idle(300, NODES[1:]).silent() == [("n1", True)]


def test_a_silence_that_was_told_ends_with_the_word_that_explains_it() -> None:
    """The announcement may come after the silence has been told."""
    pool = Pool().idle(300).idle(300, NODES[1:])
    assert pool.silent() == [("n1", True)]
    assert pool.say("node.cordoned", "n1").idle(60, NODES[1:]).silent() == [("n1", False)]


def test_nodes_that_a_job_has_taken_are_heard_elsewhere() -> None:
    """They are missed neither while it runs nor, before they are heard as idle ones again, after it."""
    pool = Pool().idle(300).say("job.running", "toy", nodes=["n1", "n2", "n3"]).idle(900, NODES[3:])
    pool.say("job.summary", "toy", nodes=["n1", "n2", "n3"]).idle(300, NODES[3:])
    assert pool.silent() == []
    assert pool.idle(60).idle(300, NODES[1:]).silent() == [("n1", True)]


def test_a_node_that_goes_on_speaking_here_is_missed() -> None:
    """Some agents speak for the cluster whatever runs on the node; and a job may be gone without a word."""
    pool = Pool().idle(300).say("job.running", "toy", nodes=["n1", "n2"]).idle(120, NODES[:1] + NODES[2:])
    assert pool.idle(300, NODES[2:]).silent() == [("n1", True)]


@pytest.mark.parametrize(
    ("since", "counts"),
    [
        ([], 1),
        ([("node.boot", 300.0)], 1),
        ([("node.uncordoned", 300.0)], 1),
        ([("node.boot", 300.0), ("node.uncordoned", 600.0)], 0),
        ([("node.boot", 2 * HOUR)], 0),
        ([("node.joined", 2 * HOUR)], 0),
        ([("job.running", 2 * HOUR)], 0),
        ([("node.cordoned", 2 * HOUR)], 1),
    ],
)
def test_a_fault_that_is_heard_late_counts_unless_the_node_is_another(
    since: list[tuple[str, float]], counts: int
) -> None:
    """One that was started anew and released, or long since, no longer has what was wrong with it before."""
    pool, then = Pool().say("node.joined", "n9"), START + 1.0
    for name, after in since:
        subject, nodes = ("toy", ["scheduler"]) if name == "job.running" else ("scheduler", [])
        pool.say(name, subject, at=then + after, nodes=nodes)
    assert pool.say("xid", "GPU-1", at=then, code=79).heard("xid") == counts


@pytest.mark.parametrize(("age", "counts"), [(HOUR, 1), (3 * DAY, 0), (10_000 * DAY, 1)])
def test_what_is_days_old_is_history(age: float, counts: int) -> None:
    """A log that is sent once more is not what happens now; a stamp of decades ago only says that a clock is wrong."""
    pool = Pool().idle(60)
    assert pool.say("xid", "GPU-1", at=pool.time - age, code=79).heard("xid") == counts
