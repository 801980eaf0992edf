"""What is said of a cluster's nodes: away on purpose, back, started anew, released, with a job.

A node that is announced to be away, or that a job has taken, is not missed where idle nodes are listened for. And what
is heard late of a node tells of the node it was: one that has been started anew and released since is another.
"""

from schemas.telemetry import Event, Telemetry
from streams.stages.detect.memory import Attempt, Voices
from streams.stages.detect.node_word import NodeWord

AWAY, RELEASED = ("node.cordoned", "node.removed"), ("node.joined", "node.uncordoned")
DONE = ("node.boot", "action.done", "action.failed", "action.refused")
FAULTS = ("xid", "gpu.", "node.condition", "node.missing", "nccl.port_error")
"""How events begin that say what is wrong with a node now."""
LONG_SECONDS = 3600.0
"""So long after a fault one word alone, that the node was started anew, released or given a job, says it is over."""
DAY_SECONDS = 86400.0
BROKEN_SECONDS = 90 * DAY_SECONDS
"""What is older than any archive that is read again was stamped by a clock that is wrong."""
NEVER = float("inf")
MOVED_SECONDS = 60.0
"""So long after a job has begun its nodes may still be heard as idle ones."""


def hear(attempt: Attempt, event: Event) -> None:
    """Note a word on nodes of a cluster; a job's own nodes are expected to speak whatever is said of them."""
    if event.event == "exporter.restarted":
        word = _word(attempt, event.subject or event.node)
        word.counted_anew = max(word.counted_anew, event.time)
    if attempt.number > 0:
        return
    if event.event in ("job.running", "job.summary"):
        nodes = event.data.get("nodes")
        for node in nodes if isinstance(nodes, list) else []:
            _with_job(_word(attempt, str(node)), event)
    elif event.event in (*AWAY, *RELEASED, *DONE, "action.started"):
        node = event.subject or event.node
        place = attempt.voices.places.get(node)
        if event.event.startswith("action.") and place is None:
            return  # not every action is one on a node
        _announced(_word(attempt, node), event)
        if place is not None and event.event in (*RELEASED, *DONE):
            attempt.voices.latest[place] = max(attempt.voices.latest[place], event.time)


def spoke(voices: Voices, node: str, time: float) -> None:
    """A node that is heard where idle nodes are, after its job has ended, is one of them again.

    One that is heard there well after a job began on it speaks there anyway, or the job is no more.
    """
    word = voices.words.get(node)
    if word is not None and time > (word.given + MOVED_SECONDS if word.job_until == NEVER else word.job_until):
        word.job_until = 0.0


def is_away(attempt: Attempt, node: str) -> bool:
    """Tell whether a node need not speak."""
    word = attempt.voices.words.get(node)
    return word is not None and (word.away or word.busy or word.job_until > 0)


def is_bygone(attempt: Attempt, record: Telemetry, clock: float) -> bool:
    """Tell whether a fault that is heard of now was that of a node as it no longer is.

    Args:
        attempt: that runs, of a job or of its cluster.
        record: that has just come in.
        clock: the stream's, Unix seconds.
    """
    if not isinstance(record, Event) or not record.event.startswith(FAULTS):
        return False
    now = max(clock, attempt.started or 0.0, record.received or 0.0)
    if DAY_SECONDS <= now - record.time <= BROKEN_SECONDS:
        return True
    word = attempt.voices.words.get(record.subject if record.event.startswith("node.") else record.node)
    if word is None:
        return False
    after = [one for one in (word.booted, word.released, word.given) if one > record.time]
    renewed = word.booted > record.time and word.released >= word.booted
    return renewed or any(one - record.time >= LONG_SECONDS for one in after)


def _word(attempt: Attempt, node: str) -> NodeWord:
    return attempt.voices.words.setdefault(node, NodeWord())


def _announced(word: NodeWord, event: Event) -> None:
    if event.event in (*AWAY, *RELEASED):
        word.away = event.event in AWAY
    else:
        word.busy = event.event == "action.started"
    if event.event == "node.boot":
        word.booted = max(word.booted, event.time)
    elif event.event in RELEASED:
        word.released = max(word.released, event.time)


def _with_job(word: NodeWord, event: Event) -> None:
    """A job has taken the node, or has ended: then the node may be silent until it is heard as an idle one."""
    begun = event.event == "job.running"
    word.job_until = NEVER if begun else event.time
    word.given = max(word.given, event.time) if begun else word.given
