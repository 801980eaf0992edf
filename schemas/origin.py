"""Where in the log something comes from, so that it can be read again and computed again."""

from msgspec import Struct


class Origin(Struct, frozen=True):
    """A stretch of the log, both ends included: whoever reads it can compute what was told.

    It stands beside a record and never in it: the same telemetry leads to the same records in every runtime, and lies
    elsewhere in each.

    Attributes:
        topic: stream by the table of topics; `journal` in one process.
        partition: of the topic; 0 in one process.
        first: offset at which the memory of the key begins.
        last: offset with which it was told.
    """

    topic: str
    partition: int
    first: int
    last: int
