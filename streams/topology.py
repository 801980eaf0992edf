"""THE table of the topology: which stage reads what, writes what, and by which key. Both runtimes loop over it."""

from msgspec import Struct

from playbooks.cause import Cause
from playbooks.playbook import Playbook
from streams.stages.correlate.stage import Correlate
from streams.stages.decide.stage import Decide
from streams.stages.detect.stage import Detect
from streams.stages.stage import AnyStage


class Row(Struct, frozen=True):
    """One stage in its place.

    Attributes:
        reads: streams it is fed, in the order in which their records arise.
        writes: streams its records may go to.
        key: what its memory is kept by.
    """

    stage: AnyStage
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    key: str


def topology(
    causes: tuple[Cause, ...], playbooks: tuple[Playbook, ...], *, lateness: float = 10.0, hold: float = 10.0
) -> tuple[Row, ...]:
    """Lay out the stages.

    Args:
        causes: the catalogue of causes.
        playbooks: the policies.
        lateness: seconds a record may come late and still be used.
        hold: seconds a finding waits for others before it opens an incident.
    """
    return (
        Row(Detect(lateness), reads=("telemetry",), writes=("events", "detections", "vitals", "telemetry"), key="job"),
        Row(
            Correlate(causes, hold), reads=("events", "detections", "vitals"), writes=("drafts", "telemetry"), key="job"
        ),
        Row(Decide(playbooks), reads=("drafts", "vitals", "events"), writes=("incidents", "requests"), key="job"),
    )
