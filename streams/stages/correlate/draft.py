"""A case becomes the incident that people and playbooks read."""

from msgspec import structs

from playbooks.cause import UNKNOWN, Cause
from playbooks.diagnosis import Diagnosis, diagnose, place_of
from playbooks.facts import Facts, moved_by, present_level
from schemas.codec import encode
from schemas.incident import SEVERITIES, Affected, Basis, Incident, Severity, Suspect
from schemas.telemetry import is_finite
from schemas.wording import change
from streams.stages.correlate import fleet
from streams.stages.correlate.cost import gpu_seconds
from streams.stages.correlate.grouping import facts_of
from streams.stages.correlate.memory import Case, CorrelateMemory
from streams.stages.correlate.taint import taint_of

EFFECTS = ("tokens_per_second", "step_seconds", "samples_per_second", "tflops")
RETOLD = 1.25
"""GPU hours are told again when they have grown by this factor."""
SLIGHT = 0.05
STOPS = ("crash", "stalled")
"""What has found the job stopped: its last steps were as fast as ever, and that makes it no lighter."""
TORN_DOWN = ("rank.exit", "rank.error", "nccl.timeout", "nccl.error")
"""Events after which nothing is slow: the job stops, whatever is found of it later."""
GRAVE = 0.2
OFTEN_STEPS = 400
"""What comes back after no more steps is likely to come back once more."""
STANDSTILL_SECONDS = 300.0
"""A standstill that was told early for what the GPUs do is critical once it has lasted as long as any other has to."""
UNSEEN = ("history.lost",)
"""Events whose words say what could not be seen."""


def draft(memory: CorrelateMemory, case: Case, causes: tuple[Cause, ...], hold: float, basis: Basis) -> Incident | None:
    """Write the incident of a case, None where nothing has changed since it was last told.

    Args:
        memory: of the job.
        case: the incident in the making.
        causes: the catalogue.
        hold: seconds for which a case that nothing explains yet is kept back once more: its evidence may be on the way.
        basis: what it can be computed from again, as far as it is the same for all.
    """
    facts = facts_of(memory, case)
    diagnosis = _said_by_person(diagnose(facts, causes), case, causes)
    case.cause = diagnosis.cause.cause
    if case.cause == UNKNOWN and not case.told and memory.clock - case.opened_time < 2 * hold:
        return None
    if not case.linked:
        _link(memory, case)
    lost = gpu_seconds(memory, case)
    here = structs.replace(basis, key=memory.key, until=memory.clock, records=memory.records)
    incident = structs.replace(_incident(memory, case, facts, diagnosis, lost), basis=here)
    lasting = _lasting(incident)
    if lasting == case.told and lost < case.told_lost * RETOLD + 60.0 * max(1, memory.world_size):
        return None
    case.told, case.told_lost = lasting, lost
    return incident


def _lasting(incident: Incident) -> bytes:
    """What has to change before an incident is told again: not the numbers, which move at every step."""
    return encode(
        structs.replace(
            incident,
            updated_time=0.0,
            gpu_hours_lost=0.0,
            taint=None,
            confidence=0.0,
            title="",
            causes=(),
            evidence=tuple(
                structs.replace(one, text="", weight=0.0, before=None, after=None, limit=None, numbers={})
                for one in incident.evidence
            ),
            basis=None,
            ruled_out=tuple(structs.replace(one, because="") for one in incident.ruled_out),
            suspects=(),
        )
    )


def _incident(memory: CorrelateMemory, case: Case, facts: Facts, diagnosis: Diagnosis, lost: float) -> Incident:
    blamed = tuple(one for one in diagnosis.suspects if one.score >= diagnosis.cause.blamed_share)
    ranks, nodes, gpus = _culprits(blamed, facts)
    if _is_everybody(nodes, facts):
        ranks, nodes, gpus = (), (), ()
    case.part_of = fleet.followed_by(memory, case, diagnosis.cause)
    everyone = tuple(sorted(facts.rank_nodes))
    legitimate = case.legitimate
    return Incident(
        id=case.id,
        revision=0,
        job=memory.key,
        attempt=case.attempt,
        cluster=memory.cluster,
        state="closed" if case.part_of else case.state,
        severity="info" if legitimate else _worst(case, _severity(diagnosis.cause, facts)),
        title=_title(case, diagnosis.cause, facts),
        cause=diagnosis.cause.cause,
        layer="none" if legitimate else diagnosis.cause.layer,
        confidence=round(diagnosis.confidence, 2),
        onset_step=case.onset_step,
        onset_time=case.onset_time,
        opened_time=case.opened_time,
        updated_time=memory.clock or case.opened_time,  # a stream of log lines alone moves no clock
        end_step=case.end_step,
        end_time=case.end_time,
        ranks=ranks,
        nodes=nodes,
        gpus=gpus,
        suspects=diagnosis.suspects,
        affected=Affected(
            ranks=tuple(rank for rank in everyone if rank not in ranks),
            nodes=tuple(sorted(set(facts.rank_nodes.values()) - set(nodes))),
            jobs=_jobs(memory, facts),
        ),
        causes=diagnosis.ranked,
        evidence=diagnosis.evidence,
        ruled_out=diagnosis.ruled_out,
        blind=_blind(diagnosis, facts),
        gpu_hours_lost=round(lost / 3600.0, 3),
        taint=taint_of(memory, case),
        detections=tuple(sorted(case.detections)),
        linked=case.part_of or case.linked,
        acknowledged_by=case.acknowledged_by,
    )


def _jobs(memory: CorrelateMemory, facts: Facts) -> tuple[str, ...]:
    """The jobs that lose time: this one, or those that told their cluster of it."""
    told = {one.data.get("job") for one in facts.events if one.event in ("job.fault", "job.incident")}
    return tuple(sorted(one for one in told if isinstance(one, str))) or (memory.key,)


def _said_by_person(diagnosis: Diagnosis, case: Case, causes: tuple[Cause, ...]) -> Diagnosis:
    """A person who closes an incident has the last word on its cause."""
    named = next((cause for cause in causes if cause.cause == case.named_cause), None)
    return diagnosis if named is None else structs.replace(diagnosis, cause=named, confidence=1.0)


def _blind(diagnosis: Diagnosis, facts: Facts) -> tuple[str, ...]:
    clues = diagnosis.evidence[1:]  # the first is the verdict itself
    asked = [one.text for one in clues if one.status == "unknown" and one.weight == 0.0]
    skewed = {one.node: one.data["stamped"] - one.time for one in facts.events if is_finite(one.data.get("stamped"))}
    wrong = (f"the clock behind the log of {node} is {off:+.0f} s off" for node, off in sorted(skewed.items()))
    return (*asked, *(one.text for one in facts.events if one.event in UNSEEN and one.text), *wrong)


def _culprits(suspects: tuple[Suspect, ...], facts: Facts) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    """Ranks, nodes and GPUs behind the suspects, as far as the placement tells; a rank is more exact than its node."""
    ranks = {int(one.id) for one in suspects if one.kind == "rank"}
    nodes = {one.id for one in suspects if one.kind == "node"}
    gpus = {one.id for one in suspects if one.kind == "gpu"}
    ranks |= {rank for rank, gpu in facts.rank_gpus.items() if gpu and gpu in gpus}
    whole = nodes - {facts.rank_nodes.get(rank, "") for rank in ranks}
    ranks |= {rank for rank, node in facts.rank_nodes.items() if node in whole}
    nodes |= {facts.rank_nodes[rank] for rank in ranks if facts.rank_nodes.get(rank)}
    nodes |= {place_of(event) for event in facts.events if event.subject and event.subject in gpus}
    gpus |= {facts.rank_gpus[rank] for rank in ranks if facts.rank_gpus.get(rank)}
    return tuple(sorted(ranks)), tuple(sorted(nodes)), tuple(sorted(gpus))


def _is_everybody(nodes: tuple[str, ...], facts: Facts) -> bool:
    """What all nodes of a job have is no fault of theirs: a room that is too hot, a rack that has no power."""
    return len(nodes) > 1 and set(nodes) == set(facts.rank_nodes.values())


def _worst(case: Case, severity: Severity) -> Severity:
    """An incident does not become harmless by being cured."""
    case.severity = max(case.severity, severity, key=SEVERITIES.index)
    return case.severity


def _severity(cause: Cause, facts: Facts) -> Severity:
    """That of the cause; lower where the job hardly feels it, higher for the unknown that costs much."""
    if any(one.part == "spinning" and (one.after or 0.0) < STANDSTILL_SECONDS for one in facts.detections):
        return min(cause.severity, "error", key=SEVERITIES.index)
    silences = [one.part for one in facts.detections if one.detector == "silence"]
    if cause.severity == "warning" and silences and set(silences) <= {"held", "held_all"}:
        return "info"  # it is known, and nobody is paged before it has lasted
    moved = moved_by(facts, "step_seconds")
    if moved is None or moved[0] <= 0:
        return cause.severity
    slowdown = moved[1] / moved[0] - 1
    if cause.severity == "error" and slowdown < SLIGHT and not _has_stopped(facts):
        return "warning"
    if cause.cause == UNKNOWN and slowdown >= GRAVE:
        return "error"
    return cause.severity


def _has_stopped(facts: Facts) -> bool:
    torn = any(one.event in TORN_DOWN for one in facts.events)
    return torn or any(one.detector in STOPS for one in facts.detections)


def _title(case: Case, cause: Cause, facts: Facts) -> str:
    effect = _found_effect(facts) or _seen_effect(case, facts)
    return f"{cause.title}: {effect}" if effect else cause.title


def _found_effect(facts: Facts) -> str:
    for signal in EFFECTS:
        found = [one for one in facts.detections if one.signal == signal and one.before and one.after]
        if found:
            worst = max(found, key=lambda one: (abs((one.after or 0.0) - (one.before or 0.0)), one.id))
            return f"{signal} {change(signal, worst.before, worst.after)}"
    return ""


def _seen_effect(case: Case, facts: Facts) -> str:
    """Where the job was slow already nothing new is found of its pace: what it lost on top is read off its values."""
    if case.state == "open" and case.detections:
        for signal in EFFECTS:
            before, present = facts.before.get(signal), present_level(facts, signal)
            if before and present and _is_harm(signal, present / before - 1.0):
                case.effect = f"{signal} {change(signal, before, present)}"
                break
    return case.effect


def _is_harm(signal: str, moved: float) -> bool:
    return (moved if signal == "step_seconds" else -moved) >= SLIGHT


def _link(memory: CorrelateMemory, case: Case) -> None:
    """Name the last case of the same cause that is over, which this one repeats, and how many steps ago it began."""
    earlier = [
        one
        for one in memory.cases.values()
        if one.state in ("resolved", "closed") and one.cause == case.cause and one.onset_time < case.onset_time
    ]
    if not earlier:
        return
    last = max(earlier, key=lambda one: one.onset_time)
    case.linked = last.id
    if case.cause != UNKNOWN and last.attempt == case.attempt and None not in (case.onset_step, last.onset_step):
        gap = (case.onset_step or 0) - (last.onset_step or 0)
        case.gap = gap if 0 < gap <= OFTEN_STEPS else 0
