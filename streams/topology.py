"""THE table of the topology: which stage reads what, writes what, and by which key. Both runtimes loop over it."""

from msgspec import Struct

from detectors.catalogue import DETECTORS
from playbooks.cause import Cause
from playbooks.playbook import Playbook
from schemas.ids import derived_id
from streams.detector_versions import detector_versions
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
    causes: tuple[Cause, ...],
    playbooks: tuple[Playbook, ...],
    *,
    lateness: float = 10.0,
    hold: float = 10.0,
    alarms_per_job_week: float | None = None,
) -> tuple[Row, ...]:
    """Lay out the stages.

    Args:
        causes: the catalogue of causes.
        playbooks: the policies.
        lateness: seconds a record may come late and still be used.
        hold: seconds a finding waits for others before it opens an incident.
        alarms_per_job_week: false alarms on a job's pace that are borne; None = by the table of signals.
    """
    return (
        Row(
            Detect(lateness, alarms_per_job_week, detector_versions()),
            reads=("telemetry",),
            writes=("events", "detections", "vitals", "telemetry"),
            key="job",
        ),
        Row(
            Correlate(causes, hold, _made_by(lateness, hold, alarms_per_job_week)),
            reads=("events", "detections", "vitals"),
            writes=("drafts", "telemetry"),
            key="job",
        ),
        Row(Decide(playbooks), reads=("drafts", "vitals", "events"), writes=("incidents", "requests"), key="job"),
    )


def _made_by(*settings: float | None) -> str:
    """Name all detectors, their versions and parameters, so that it can be told whether others would have looked."""
    parameters = [
        f"{name} {parameter} {value}"
        for name, build in sorted(DETECTORS.items())
        for parameter, value in sorted(vars(build()).items())
        if isinstance(value, int | float | str | tuple)
    ]
    versions = [f"{name} {version}" for name, version in detector_versions().items()]
    return derived_id(*(one for one in settings if one is not None), *parameters, *versions)
