"""The slow rank: own work of every rank against its peers, and the part of the work that explains it."""

from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm, Floats, grow
from detectors.expected_work import ExpectedWork
from detectors.slow_rank import SlowRank
from schemas.wording import amount, step_words
from streams.stages.detect import layout, node_pace
from streams.stages.detect.derive import OWN_PARTS, ClosedStep
from streams.stages.detect.episodes import Found, time_of
from streams.stages.detect.memory import Attempt, Peers
from streams.stages.detect.open_steps import Participants

_SLOW_RANK = SlowRank()
_EXPECTED = ExpectedWork()
_LOADS = ("tokens", "sequence_length")
"""Signals that say how much a rank had to do in a step, where it says so itself."""
_SMOOTHING = 0.1
_WHOLE = "own_seconds"
_EXPLAINS = 0.5
"""A part is named when it holds at least this share of the excess."""


def watch(attempt: Attempt, closed: ClosedStep, explained: bool) -> Iterator[tuple[Alarm, Found]]:
    """Compare the ranks' own work of one step; steps inside a legitimate phase are left out."""
    peers, people = attempt.peers, attempt.participants
    if closed.own is None or explained or not people.ranks:
        return
    fitted = _fit(peers, people)
    _average(peers, closed, len(people.ranks))
    if not people.laid_out and attempt.series.rows >= layout.LEARNING:
        people.laid_out = True
        layout.guess(people, peers.parts[_WHOLE])
    assert peers.slow is not None
    own = _comparable(peers, people, closed)
    for alarm in _SLOW_RANK.update(peers.slow, closed.step, own):
        yield alarm, _found(attempt, alarm, closed, "its peers")
    ended = [] if fitted else list(node_pace.fit(peers.pace, people))
    for alarm in [*ended, *node_pace.watch(peers.pace, closed.step, own)]:
        yield alarm, _found(attempt, alarm, closed, "it did before, unlike other nodes")


def _fit(peers: Peers, people: Participants) -> bool:
    """Make room for those who take part, and say whether these are those of the last step, in the same groups."""
    width = len(people.ranks)
    fitted = peers.slow is not None and peers.slow.width == width
    if peers.slow is None:
        peers.slow = _SLOW_RANK.blank(width)
    elif peers.slow.width < width:
        peers.slow = grow(_SLOW_RANK, peers.slow, width)
    groups = np.array(people.groups, dtype=np.int64)
    if not np.array_equal(groups, peers.slow.group):
        _SLOW_RANK.with_groups(peers.slow, groups)
        return False
    return fitted


def _comparable(peers: Peers, people: Participants, closed: ClosedStep) -> Floats:
    """The ranks' own work; where it is known how much each had to do, under the same load."""
    width = len(people.ranks)
    assert closed.own is not None
    own = _full(closed.own, width)
    load = next((closed.ranks[name] for name in _LOADS if name in closed.ranks), None)
    if load is None:
        return own
    if peers.expected is None:
        peers.expected = _EXPECTED.blank(width)
    elif peers.expected.width < width:
        wider = _EXPECTED.blank(width)
        wider.load[: peers.expected.width], wider.work[: peers.expected.width] = (
            peers.expected.load,
            peers.expected.work,
        )
        wider.both, wider.loads = peers.expected.both, peers.expected.loads
        peers.expected = wider
    return _EXPECTED.without_load(peers.expected, own, _full(load, width), np.array(people.groups, dtype=np.int64))


def _full(row: Floats, width: int) -> Floats:
    """Ranks that were enrolled after the step have no reading in it."""
    return row if len(row) == width else np.concatenate([row, np.full(width - len(row), np.nan)])


def _average(peers: Peers, closed: ClosedStep, width: int) -> None:
    rows = {name: closed.ranks[name] for name in OWN_PARTS if name in closed.ranks}
    if closed.own is not None:
        rows[_WHOLE] = closed.own
    for name, given in rows.items():
        row = _full(given, width)
        mean = _full(peers.parts[name], width) if name in peers.parts else row
        step = _SMOOTHING * (row - mean)
        if np.isnan(step).any():
            mean, step = np.where(np.isnan(mean), row, mean), np.nan_to_num(step)
        peers.parts[name] = mean + step


def _found(attempt: Attempt, alarm: Alarm, closed: ClosedStep, against: str) -> Found:
    people = attempt.participants
    rank, node, gpu = people.ranks[alarm.series], people.nodes[alarm.series], people.gpus[alarm.series]
    part, share = explaining_part(attempt.peers, people, alarm.series)
    ratio = alarm.after / alarm.before if alarm.before else float("nan")
    where = f" on {node}" if node else ""
    return Found(
        detector="slow_rank",
        signal="own_seconds",
        subject=f"rank:{rank}",
        time=closed.time,
        step=closed.step,
        onset_step=alarm.onset,
        onset_time=time_of(attempt.moments, alarm.onset, closed.time),
        ranks=(rank,),
        nodes=(node,) if node else (),
        gpus=(gpu,) if gpu else (),
        part=part,
        numbers={"part_share": share} if part else {},
        text=(
            f"rank {rank}{where} works {ratio:.2f} × as long as {against}: {amount('own_seconds', alarm.after)} "
            f"against {amount('own_seconds', alarm.before)} since {step_words(alarm.onset)}"
            + (f"; {share:.0%} of it is {part}" if part else "")
        ),
    )


def explaining_part(peers: Peers, people: Participants, series: int) -> tuple[str, float]:
    """Name the part of a rank's work that holds most of its excess over its peers, and the share of it."""
    groups = np.array(people.groups)
    same = groups == groups[series]
    excess: dict[str, float] = {}
    for name, mean in peers.parts.items():
        others = mean[same[: len(mean)]]
        if series < len(mean) and np.isfinite(mean[series]) and np.isfinite(others).any():
            excess[name] = float(mean[series] - np.nanmedian(others))
    whole = excess.pop(_WHOLE, 0.0)
    if not excess or whole <= 0:
        return "", 0.0
    name = max(excess, key=lambda part: excess[part])
    share = min(excess[name] / whole, 1.0)
    return (name.removesuffix("_seconds"), share) if share >= _EXPLAINS else ("", 0.0)
