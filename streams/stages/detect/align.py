"""Frames of all nodes meet at their step, and steps close in order.

A step closes when every source that usually delivers has delivered, or when the allowed lateness has passed on the
stream's clock since its first frame came; what the frames' own clocks say does not matter, for one of them may be
wrong. Who usually delivers is not known at first, so the first steps wait for the lateness. A source that misses five
steps in a row is no longer waited for.
"""

from collections.abc import Iterator

from schemas.telemetry import StepFrame
from streams.stages.detect.open_steps import Alignment, FrameSource, OpenStep
from streams.stages.detect.parts import part_of

PATIENCE = 5
LEARNING = 3
MOST_OPEN = 4096


def add(alignment: Alignment, frame: StepFrame, places: bytes, now: float) -> bool:
    """Put a frame to its step; False when that step is closed already.

    A source that is too late for its step by a few steps was not waited for, being new or back from an absence; from
    the next step on it is.

    Args:
        places: of the frame's ranks, as `streams.stages.detect.participants.enrol_frame` gives them.
        now: the stream's clock, Unix seconds.
    """
    if frame.step <= alignment.last_closed:
        if alignment.last_closed - frame.step < PATIENCE * alignment.stride:
            alignment.sources.setdefault(frame.node, FrameSource(last_step=frame.step, every=frame.every)).misses = 0
            _count_expected(alignment)
        return False
    step = alignment.open.get(frame.step)
    if step is None:
        step = alignment.open[frame.step] = OpenStep(step=frame.step, opened=now)
    step.parts.append(part_of(frame, places))
    return True


def oldest(alignment: Alignment) -> OpenStep | None:
    """Give the step that closes next; None where none is open, or too few have closed to know who delivers."""
    if alignment.closed < LEARNING or not alignment.open:
        return None
    return alignment.open[min(alignment.open)]


def would_wait(alignment: Alignment, first: OpenStep, step: int, now: float, lateness: float) -> bool:
    """Tell whether a frame would surely be put to its step and no step would close: a cheap look before `add`.

    Args:
        first: the oldest open step.
        step: of the frame.
        now: the stream's clock when it has come, Unix seconds.
        lateness: seconds a frame may come late.
    """
    if step < first.step or now - first.opened >= lateness or len(alignment.open) >= MOST_OPEN:
        return False
    return len(first.parts) + 1 < alignment.expected


def close_ready(alignment: Alignment, now: float, lateness: float) -> Iterator[OpenStep]:
    """Close, in order, every step that is complete or has waited long enough.

    Args:
        now: the stream's clock, Unix seconds.
        lateness: seconds a frame may come late.
    """
    while alignment.open:
        step = alignment.open[min(alignment.open)]
        waited = now - step.opened >= lateness or len(alignment.open) > MOST_OPEN
        if not waited and not (_is_next(alignment, step) and _is_complete(alignment, step)):
            return
        _close(alignment, step)
        yield step


def close_all(alignment: Alignment) -> Iterator[OpenStep]:
    """Close everything that is open: the attempt, or the stream, has ended."""
    while alignment.open:
        step = alignment.open[min(alignment.open)]
        _close(alignment, step)
        yield step


def _is_next(alignment: Alignment, step: OpenStep) -> bool:
    return alignment.last_closed < 0 or step.step <= alignment.last_closed + alignment.stride


def _is_complete(alignment: Alignment, step: OpenStep) -> bool:
    if alignment.closed < LEARNING or len(step.parts) < alignment.expected:
        return False  # asked with every frame, so the first answer is a cheap one
    here = {part.node for part in step.parts}
    return all(name in here or not _is_expected(source) for name, source in alignment.sources.items())


def _is_expected(source: FrameSource) -> bool:
    return source.misses < PATIENCE and source.every <= 1


def _count_expected(alignment: Alignment) -> None:
    alignment.expected = sum(_is_expected(source) for source in alignment.sources.values())


def _close(alignment: Alignment, step: OpenStep) -> None:
    del alignment.open[step.step]
    if alignment.last_closed >= 0:
        alignment.stride = max(1, min(part.every for part in step.parts))
    alignment.last_closed = step.step
    alignment.closed += 1
    here = {part.node: part.every for part in step.parts}
    for name, source in alignment.sources.items():
        source.misses = 0 if name in here else source.misses + 1
    for name, every in here.items():
        source = alignment.sources.setdefault(name, FrameSource(last_step=step.step))
        source.last_step, source.every = step.step, every
    _count_expected(alignment)
