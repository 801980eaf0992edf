"""Every finding gets its place: in a case that it fits, in a new one, or none yet.

Nearness in time alone never merges: a finding joins a case only where the leading cause of both together explains it.
"""

from collections.abc import Iterable

from playbooks.cause import Cause
from playbooks.clues import is_event
from playbooks.diagnosis import diagnose, opens
from playbooks.facts import Facts, frozen_normals, levels_before
from schemas.detection import Detection
from schemas.ids import derived_id
from schemas.telemetry import Event
from streams.stages.correlate import cost, overlap
from streams.stages.correlate.finding import Finding, identity, onset, onset_step, seed_of
from streams.stages.correlate.fit import TOGETHER_SECONDS, belongs, may_join
from streams.stages.correlate.memory import LIVE, THINK_AGAIN, Case, CorrelateMemory

FORGOTTEN_SECONDS = 1800.0
"""A sign that explains nothing is forgotten after this."""
MOST_EVENTS = 256
MOST_ALIKE, MOST_TEARDOWN = 64, 8
"""So many events of one name are weighed: of those that may name a culprit, and of those that only follow."""
URGENT = ("spinning", "held", "held_all")
"""Parts of findings that have been waited for already."""
MOMENT_SECONDS = 1.0
"""They wait for those of the same moment only, so that which of them opens a case does not depend on who came first."""
LOOK_AGAIN_SECONDS = 30.0
"""A sign that found no place is tried again after this: the leading cause may have become another."""


def settle(memory: CorrelateMemory, causes: tuple[Cause, ...], hold: float, everything: bool) -> None:
    """Give every waiting finding its place: in a case that explains it, in a new one, or none yet.

    Args:
        memory: of the job.
        causes: the catalogue.
        hold: seconds a finding waits for others, from when it was heard of, before it may open a case.
        everything: the stream has ended, nothing more is coming.
    """
    placed = True
    while placed:
        placed = False
        for finding in _in_order(memory):
            batch = _alike(memory, finding)
            case = _home(memory, causes, batch)
            due = everything or memory.clock >= _heard(memory, finding) + hold
            if case is None and due and opens(causes, finding):
                case, batch = _open(memory, finding), [finding]
            if case is not None:
                for one in batch:
                    _join(memory, case, one)
                placed = True
                break
    _forget(memory)
    held = [_heard(memory, one) + hold for one in _in_order(memory) if opens(causes, one)]
    memory.settle_at = min([one for one in held if one > memory.clock], default=memory.clock + LOOK_AGAIN_SECONDS)
    memory.settle_at = min(memory.settle_at, memory.clock + LOOK_AGAIN_SECONDS)


def look_soon(memory: CorrelateMemory, finding: Finding, hold: float) -> None:
    """Have a newcomer tried at once where there is a case that it may join, else when it may open one.

    What the stream's clock says when a finding is heard of counts, not the finding's own time: of a step that waited
    for a late frame, and of a clock that is wrong, that is long past.

    Args:
        memory: of the job.
        finding: the newcomer.
        hold: as for `settle`.
    """
    heard = max(memory.clock, min(finding.time, memory.clock + hold))
    if isinstance(finding, Detection) and finding.part in URGENT:
        heard = memory.clock - max(0.0, hold - MOMENT_SECONDS)
    memory.heard.setdefault(identity(finding), heard)
    may_join = any(case.state in LIVE for case in memory.cases.values())
    memory.settle_at = 0.0 if may_join else min(memory.settle_at, _heard(memory, finding) + hold)


def is_one_of_many(finding: Detection) -> bool:
    """Tell whether others of the same row may follow: eight ranks of a node are judged together, or blamed one by one.

    The vitals of the row come after the last of them.
    """
    return finding.subject != "job" and finding.part not in URGENT


def is_flood(memory: CorrelateMemory, causes: tuple[Cause, ...], event: Event) -> bool:
    """Tell whether so many events of this name wait or were placed already that one more tells nothing.

    Args:
        memory: of the job.
        causes: the catalogue.
        event: the next one.
    """
    placed = [case.events for case in memory.cases.values() if case.state in LIVE]
    alike = sum(one.event == event.event for events in (memory.waiting_events, *placed) for one in events)
    if alike < MOST_TEARDOWN:
        return False
    speaks = any(clue.weight > 0 and is_event(clue, event) for cause in causes for clue in cause.clues)
    return alike >= (MOST_ALIKE if speaks else MOST_TEARDOWN)


def facts_of(memory: CorrelateMemory, case: Case | None, extra: Iterable[Finding] = ()) -> Facts:
    """Gather what a diagnosis may look at."""
    detections = list(case.detections.values()) if case else []
    events = list(case.events) if case else []
    for finding in extra:
        if isinstance(finding, Detection):
            detections.append(finding)
        else:
            events.append(finding)
    onsets = [one.onset_time for one in detections] + [one.time for one in events]
    counts: dict[str, int] = {}
    placement = memory.placement(case.began_in if case else None)
    for node in placement.nodes.values():
        counts[node] = counts.get(node, 0) + 1
    return Facts(
        seed=seed_of(case),
        detections=tuple(sorted(detections, key=lambda one: (one.onset_time, one.id))),
        events=tuple(sorted(events, key=lambda one: (one.time, one.node, one.seq))),
        tracks=memory.tracks,
        normals=case.normals if case else {},
        before=case.before if case else {},
        stood=case.stood if case else {},
        anew_time=case.anew_time if case else 0.0,
        onset_time=min(onsets, default=0.0),
        end_time=case.end_time if case and case.end_time is not None else float("inf"),
        node_ranks=counts,
        rank_nodes={**_told_places(detections), **placement.nodes},
        rank_gpus=placement.gpus,
    )


def _told_places(detections: list[Detection]) -> dict[int, str]:
    """Where ranks run as far as the findings themselves say so, for jobs whose launcher said nothing."""
    return {one.ranks[0]: one.nodes[0] for one in detections if len(one.ranks) == 1 == len(one.nodes)}


def _heard(memory: CorrelateMemory, finding: Finding) -> float:
    return memory.heard.get(identity(finding), finding.time)


def _in_order(memory: CorrelateMemory) -> list[Finding]:
    waiting: list[Finding] = [*memory.waiting.values(), *memory.waiting_events]
    return sorted(waiting, key=lambda one: (onset(one), identity(one)))


def _alike(memory: CorrelateMemory, finding: Finding) -> list[Finding]:
    """The findings of the same kind that began together: eight slow ranks of a node are one story."""
    if isinstance(finding, Event):
        return [finding]
    kind = (finding.detector, finding.signal, finding.part, finding.attempt)
    return [
        one
        for one in memory.waiting.values()
        if (one.detector, one.signal, one.part, one.attempt) == kind
        and abs(one.onset_time - finding.onset_time) <= TOGETHER_SECONDS
    ]


def _home(memory: CorrelateMemory, causes: tuple[Cause, ...], batch: list[Finding]) -> Case | None:
    for case in overlap.in_turn(memory, batch):
        if case.state in LIVE and all(may_join(case, causes, one) for one in batch):
            together = diagnose(facts_of(memory, case, batch), causes)
            if all(belongs(together, case, one) for one in batch):
                return case
    return None


def _open(memory: CorrelateMemory, finding: Finding) -> Case:
    seed, ran_in = identity(finding), _ran_in(memory, finding)
    case = Case(
        id=derived_id(memory.key, finding.attempt, "incident", seed),
        seed=seed,
        attempt=finding.attempt,
        onset_step=onset_step(memory, finding),
        onset_time=onset(finding),
        opened_time=finding.time,
        normals=frozen_normals(memory.tracks, onset(finding)),
        before=levels_before(memory.tracks, onset(finding)),
        began_in=ran_in,
        outlived=min((one.begun for attempt, one in memory.placements.items() if attempt > ran_in), default=None),
        dead=memory.failed and finding.attempt == memory.attempt,
        moves_pace=isinstance(finding, Detection) and finding.layer != "loss",
    )
    memory.cases[case.id] = case
    overlap.begin(memory, case)
    cost.begin(memory, case)
    return case


def _ran_in(memory: CorrelateMemory, finding: Finding) -> int:
    """The attempt a finding is about: what failed may be told when the next attempt has begun, somewhere else."""
    if isinstance(finding, Detection) and finding.ranks and finding.nodes:
        for attempt, place in sorted(memory.placements.items(), reverse=True):
            if all(place.nodes.get(rank) in finding.nodes for rank in finding.ranks):
                return attempt
    return finding.attempt or memory.attempt


def _join(memory: CorrelateMemory, case: Case, finding: Finding) -> None:
    case.unread = THINK_AGAIN
    case.attempt = max(case.attempt, finding.attempt)
    if isinstance(finding, Detection):
        del memory.waiting[finding.id]
        case.detections[finding.id] = finding
    else:
        memory.waiting_events.remove(finding)
        case.quiet_steps = 0
        if len(case.events) < MOST_EVENTS:
            case.events.append(finding)
    if onset(finding) < case.onset_time:
        case.onset_time = onset(finding)
    step = onset_step(memory, finding)
    if step is not None and (case.onset_step is None or step < case.onset_step):
        case.onset_step = step


def _forget(memory: CorrelateMemory) -> None:
    for one in list(memory.waiting.values()):
        if one.end_time is not None and memory.clock - one.end_time > FORGOTTEN_SECONDS:
            del memory.waiting[one.id]
    memory.waiting_events = [one for one in memory.waiting_events if memory.clock - one.time <= FORGOTTEN_SECONDS]
    if len(memory.heard) > len(memory.waiting) + len(memory.waiting_events):
        memory.heard = {identity(one): _heard(memory, one) for one in _in_order(memory)}
