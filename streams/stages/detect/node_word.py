"""What was last said of one node of a cluster."""

from msgspec import Struct


class NodeWord(Struct):
    """Unix seconds are 0 where nothing was said.

    Attributes:
        away: it is cordoned or was removed.
        busy: something is being done to it.
        job_until: a job has it: infinite while that runs, then when it ended.
        given: when a job last started on it.
        counted_anew: when what reads its counters last started anew, and may count from elsewhere.
    """

    away: bool = False
    busy: bool = False
    job_until: float = 0.0
    booted: float = 0.0
    released: float = 0.0
    given: float = 0.0
    counted_anew: float = 0.0
