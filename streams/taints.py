"""The ledger of contaminated steps in the forms that trainers and evaluations read."""

from collections.abc import Iterable

from schemas.action import TaintRecord
from schemas.wording import some


def merged(records: Iterable[TaintRecord]) -> list[tuple[int, int]]:
    """Ranges of steps, both ends included, overlapping and touching ones joined.

    >>> from schemas.action import TaintRecord
    >>> row = dict(job="j", attempt=1, reason="", incident="i", confidence=1.0, layer="data", time=0.0)
    >>> merged([TaintRecord(id="a", from_step=3, to_step=5, **row), TaintRecord(id="b", from_step=6, to_step=9, **row)])
    [(3, 9)]
    """
    ranges: list[tuple[int, int]] = []
    for begin, end in sorted((one.from_step, one.to_step) for one in records):
        if ranges and begin <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((begin, end))
    return ranges


def row_of(record: TaintRecord) -> tuple[str, ...]:
    """One line of the ledger in words: whose, which steps, why, and what was written and read in them."""
    sampled = record.from_sample is not None and record.to_sample is not None
    return (
        record.job,
        str(record.attempt),
        f"{record.from_step:,} to {record.to_step:,}",
        record.reason,
        f"{record.confidence:.0%}",
        some([f"{step:,}" for step in record.checkpoints], len(record.checkpoints)),
        f"{record.from_sample:,} to {record.to_sample:,}" if sampled else "",
        some(record.shards, record.shards_opened),
        record.incident,
    )


def skipped_iterations(records: Iterable[TaintRecord]) -> list[int]:
    """Every contaminated step once, ascending: what Megatron-LM takes after `--iterations-to-skip`."""
    return [step for begin, end in merged(records) for step in range(begin, end + 1)]
