"""Write the contaminated step range of an incident into the ledger."""

from playbooks.actions.action import NoParams, Risk
from playbooks.ports import Ports
from playbooks.retry import Ending, Finished, Refused
from schemas.action import Request, TaintRecord
from schemas.ids import derived_id
from schemas.incident import Incident, Taint


class TaintMark:
    """Add the range as it stands now; a range that grew later is another line of the ledger."""

    name = "taint.mark"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "none"
    after_the_end = True

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Add the range."""
        incident = await ports.records.incident(request.incident)
        if incident is None or incident.taint is None:
            return Refused("the incident has no contaminated steps")
        record = taint_record(incident, incident.taint)
        await ports.ledger.add(record)
        return Finished(f"steps {record.from_step} to {record.to_step} of attempt {record.attempt} marked")


def taint_record(incident: Incident, taint: Taint) -> TaintRecord:
    """Make the line of the ledger; the same range of the same incident is always the same line."""
    return TaintRecord(
        id=derived_id("taint", incident.id, incident.attempt, taint.from_step, taint.to_step),
        job=incident.job,
        attempt=incident.attempt,
        from_step=taint.from_step,
        to_step=taint.to_step,
        reason=incident.cause,
        incident=incident.id,
        confidence=incident.confidence,
        layer=incident.layer,
        checkpoints=taint.checkpoints,
        from_sample=taint.from_sample,
        to_sample=taint.to_sample,
        shards=taint.shards,
        shards_opened=taint.shards_opened,
        time=incident.updated_time,
    )
