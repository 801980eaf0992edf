"""A closed step becomes numbers: arrays over the ranks, one value per signal of the job, and what is derived."""

from collections.abc import Callable
from itertools import chain

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from detectors.base import Floats
from schemas.signals import Over, signal_named
from schemas.telemetry import LARGEST, Reading, StepFrame, is_finite
from streams.stages.detect.memory import OpenStep, Participants
from streams.stages.detect.participants import places_of

OWN_PARTS = ("compute_seconds", "loader_seconds", "h2d_seconds", "host_prep_seconds", "optimizer_seconds")
_NOT_A_LEVEL = ("sample_id",)
_RULES: dict[Over, Callable[[Floats], float]] = {
    "mean": np.nanmean,
    "median": np.nanmedian,
    "max": np.nanmax,
    "min": np.nanmin,
    "sum": np.nansum,
}


class ClosedStep(Struct):
    """The numbers of one step.

    Attributes:
        time: Unix seconds at which the step ended: the latest of its frames.
        interval: seconds since the step before ended, per step; NaN for the first.
        ranks: signal -> seconds or counts per rank, shape (ranks,) in the order of the participants, NaN = rank silent.
        own: seconds of own work per rank, shape (ranks,); NaN where it cannot be told.
        job: signal -> finite value of the job as a whole.
        readings: signal -> reading as the trainer gave it, absent and non-finite ones included.
        tellers: signal -> node whose frame gave that reading.
        nodes: whose frames the step was made of.
    """

    step: int
    time: float
    interval: float
    ranks: dict[str, Floats] = field(default_factory=dict)
    own: Floats | None = None
    job: dict[str, float] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    tellers: dict[str, str] = field(default_factory=dict)
    nodes: frozenset[str] = frozenset()


def derive(step: OpenStep, participants: Participants, previous_time: float, steps: int) -> ClosedStep:
    """Assemble the frames of a step and derive loader share, tokens per second and the like.

    Args:
        previous_time: Unix seconds at which the last closed step ended; 0 when there is none.
        steps: training steps since that one, at least 1.
    """
    time = max(frame.time for frame in step.frames)
    interval = (time - previous_time) / steps if previous_time and time > previous_time else np.nan
    nodes = frozenset(frame.node for frame in step.frames)
    closed = ClosedStep(step=step.step, time=time, interval=interval, nodes=nodes)
    closed.ranks = _rows(step.frames, participants)
    for frame in step.frames:
        _tell(closed, frame)
    _own_work(closed)
    for name, row in closed.ranks.items():
        if name not in closed.job and name not in _NOT_A_LEVEL and not np.isnan(row).all():
            closed.job[name] = by_rule(signal_named(name).over, row)
    _rates(closed)
    return closed


def by_rule(rule: Over, row: Floats) -> float:
    """One value of the job out of those of its ranks or entities, at least one of which is finite."""
    return float(_RULES[rule](row))


def _rows(frames: list[StepFrame], participants: Participants) -> dict[str, Floats]:
    """Lay the readings of all frames out over the ranks, one row per signal; of two for the same rank the first stands.

    A step has a frame per node and a reading per rank and signal, so they become numbers a row at a time.
    """
    speakers: dict[str, list[StepFrame]] = {}
    for frame in frames:
        for name in frame.values:
            speakers.setdefault(name, []).append(frame)
    width, known = len(participants.ranks), _Places(participants)
    return {
        name: _row(known.of(some), [frame.values[name] for frame in some], width) for name, some in speakers.items()
    }


class _Places:
    """Places of the ranks of frames; signals that the same frames speak of share them."""

    def __init__(self, participants: Participants) -> None:
        self._participants = participants
        self._frames: list[StepFrame] = []
        self._places: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def of(self, frames: list[StepFrame]) -> npt.NDArray[np.intp]:
        if len(frames) != len(self._frames) or any(
            one is not two for one, two in zip(frames, self._frames, strict=True)
        ):
            places = chain.from_iterable(places_of(self._participants, frame) for frame in frames)
            self._frames, self._places = frames, np.fromiter(places, dtype=np.intp)
        return self._places


def _row(places: npt.NDArray[np.intp], readings: list[list[Reading]], width: int) -> Floats:
    values = np.array(list(chain.from_iterable(readings)), dtype=np.float64)
    with np.errstate(invalid="ignore"):
        usable = np.abs(values) <= LARGEST
    row = np.full(width, np.nan)
    if not usable.all():
        places, values = places[usable], values[usable]
    row[places[::-1]] = values[::-1]
    return row


def _tell(closed: ClosedStep, frame: StepFrame) -> None:
    """Take what a frame says of the job as a whole."""
    for name, reading in frame.job_values.items():
        closed.readings.setdefault(name, reading)
        closed.tellers.setdefault(name, frame.node)
        if reading is not None and is_finite(reading):
            closed.job.setdefault(name, float(reading))


def _own_work(closed: ClosedStep) -> None:
    """A rank's own work is its step without the waiting; else the sum of the parts it reports."""
    step, wait = closed.ranks.get("step_seconds"), closed.ranks.get("wait_seconds")
    if step is not None and wait is not None:
        closed.own = step - wait
        return
    parts = [closed.ranks[name] for name in OWN_PARTS if name in closed.ranks]
    if "compute_seconds" in closed.ranks:
        closed.own = closed.ranks["compute_seconds"] + sum(
            np.nan_to_num(part) for part in parts if part is not closed.ranks["compute_seconds"]
        )


def _rates(closed: ClosedStep) -> None:
    job, ranks = closed.job, closed.ranks
    seconds = job.get("step_seconds", 0.0)
    if "loader_seconds" in ranks and "step_seconds" in ranks:
        with np.errstate(all="ignore"):
            share = ranks["loader_seconds"] / ranks["step_seconds"]
        share = np.where(np.abs(share) <= LARGEST, share, np.nan)
        if np.isfinite(share).any():
            job["loader_share"], job["loader_share_median"] = float(np.nanmean(share)), float(np.nanmedian(share))
    elif "loader_seconds" in job and seconds > 0 and is_finite(job["loader_seconds"] / seconds):
        job.setdefault("loader_share", job["loader_seconds"] / seconds)
    wait = ranks.get("wait_seconds")
    if wait is not None and np.isfinite(wait).any():
        job["wait_least_seconds"] = float(np.nanmin(wait))
    if "tokens" in job and seconds > 0 and is_finite(job["tokens"] / seconds):
        job.setdefault("tokens_per_second", job["tokens"] / seconds)
    if np.isfinite(closed.interval):
        job["interval_seconds"] = closed.interval
