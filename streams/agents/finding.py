"""What a source of the node finds: readings, things that happened, steps of a log; the agent stamps records of them."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from schemas.telemetry import Entity, Reading


class Sample(Struct, frozen=True, kw_only=True):
    """Readings of some things of one kind; the agent makes a `schemas.telemetry.SampleFrame` of it.

    Attributes:
        of: what kind of thing the ids name.
        ids: names, in the order of every list in `values`; empty means the node itself.
        ranks: their ranks where known.
        values: signal -> one reading for each.
        time: Unix seconds at the source; None where the source does not say.
    """

    of: Entity
    ids: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    values: dict[str, list[Reading]] = field(default_factory=dict)
    time: float | None = None


class Happening(Struct, frozen=True, kw_only=True):
    """Something that happened; the agent makes a `schemas.telemetry.Event` of it.

    Attributes:
        event: a word of `schemas.events.EVENTS`.
        subject: what it happened to; "" where the source does not say.
        time: Unix seconds at the source; None where the source does not say.
    """

    event: str
    subject: str = ""
    data: dict[str, Any] = field(default_factory=dict)  # Any: each event has its own fields
    text: str = ""
    time: float | None = None


class LoggedStep(Struct, frozen=True, kw_only=True, gc=False):  # it holds numbers: no circle goes through it
    """A step that a log tells of; the agent makes a `schemas.telemetry.StepFrame` without ranks of it.

    Attributes:
        step: training iteration.
        values: signal -> reading of the job.
        time: Unix seconds at the source; None where the log does not say.
        every: steps from one line to the next.
        mean: whether the values are means over those steps.
    """

    step: int
    values: dict[str, Reading]
    time: float | None = None
    every: int = 1
    mean: bool = False


class Of(Struct, frozen=True):
    """A finding of a job that the source knows; other findings are of the jobs that run on the node.

    Attributes:
        attempt: start number of the job.
    """

    job: str
    attempt: int
    finding: Sample | Happening | LoggedStep


Finding = Sample | Happening | LoggedStep | Of
Source = Callable[[], Sequence[Finding]]
"""Looks once; may block. What it cannot read it leaves out; OSError means that it can read nothing."""


def in_one(findings: Sequence[Finding]) -> list[Finding]:
    """Put the samples of the node itself together: one record of it a look is enough.

    >>> in_one([Sample(of="node", values={"a": [1.0]}), Sample(of="node", values={"b": [2.0]})])[0].values
    {'a': [1.0], 'b': [2.0]}
    """
    values: dict[str, list[Reading]] = {}
    others: list[Finding] = []
    for each in findings:
        if isinstance(each, Sample) and each.of == "node" and not each.ids and each.time is None:
            values |= each.values
        else:
            others.append(each)
    return [Sample(of="node", values=values), *others] if values else others
