"""What the detect stage says: detections, and the vitals of a job that put them into proportion."""

from typing import Literal

from msgspec import Struct, field

from schemas.telemetry import VERSION, Reading

Layer = Literal["loss", "throughput", "system", "data", "checkpoint"]
Direction = Literal["up", "down", "none"]


class Detection(Struct, frozen=True, kw_only=True):
    """A detector's finding: what moved, where, since which step, by how much, with the numbers and limits used.

    A detection is raised once and revised while it lasts: the same id, a higher revision; the last one has an end.

    Attributes:
        detector: name in `detectors.catalogue`.
        signal: name in `schemas.signals`.
        layer: layer of that signal.
        subject: `job`, or kind and name: `rank:7`, `node:n01`, `gpu:GPU-3f1c`, `mount:/data`.
        direction: which way the signal went.
        onset_step: first step concerned; None where the signal has no steps.
        onset_time: Unix seconds of the same moment.
        step: the step at which it was raised, nothing after it being known.
        time: Unix seconds of that moment.
        end_step: last step concerned; None while it lasts.
        end_time: Unix seconds of the same moment.
        before: the healthy level, in the signal's unit.
        after: the level found.
        limit: what `after` was held against, in the signal's unit.
        score: no unit; 1.0 is just alarming.
        ranks: the ranks concerned where they are fewer than all.
        nodes: the nodes concerned, likewise.
        gpus: the GPUs concerned, likewise.
        part: which share of a rank's own work explains it: `compute`, `loader`, `input_copy` ..., or "".
        numbers: parameters and further figures by name.
        version: of the detector's code; "" where it is not known.
        parameters: with which the detector looked at this signal.
        text: one sentence for a person.
    """

    v: int = VERSION
    id: str
    revision: int = 0
    job: str
    attempt: int
    cluster: str = "default"
    detector: str
    signal: str
    layer: Layer
    subject: str = "job"
    direction: Direction = "none"
    onset_step: int | None = None
    onset_time: float
    step: int | None = None
    time: float
    end_step: int | None = None
    end_time: float | None = None
    before: Reading = None
    after: Reading = None
    limit: Reading = None
    score: float = 1.0
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    part: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    version: str = ""
    parameters: dict[str, float] = field(default_factory=dict)
    text: str = ""


class Vitals(Struct, frozen=True, kw_only=True):
    """The state of a job at one step, or of its machines at one moment, with what is normal for it.

    Attributes:
        of: `step` for the values of a closed step, else the entity kind that was sampled.
        step: the last closed step.
        values: signal -> value over the job (see the signal table for the rule: mean, median, maximum or sum).
        normal: signal -> healthy level; only signals whose baseline was learned or changed since the last vitals.
        phase: the legitimate phase the job is in, or "".
        world_size: ranks of the attempt; 0 where unknown.
        clock: the job's stream clock, Unix seconds: the latest trusted time seen.
        records: records of this key that had been taken by then, each counted once.
    """

    v: int = VERSION
    job: str
    attempt: int
    cluster: str = "default"
    of: str = "step"
    step: int | None = None
    time: float
    values: dict[str, Reading] = field(default_factory=dict)
    normal: dict[str, Reading] = field(default_factory=dict)
    phase: str = ""
    world_size: int = 0
    clock: float = 0.0
    records: int = 0
