"""Which jobs run, as their own telemetry tells: what others say of a job is its own only while it speaks itself."""

from schemas.telemetry import Event, SampleFrame, StepFrame

SPEAKS_SECONDS = 600.0
"""After which a job that says nothing is not taken to run; compiling and loading a checkpoint may take minutes."""
_MOST_JOBS = 10_000


class Running:
    """Notes the jobs that speak; safe to use from several threads, for each note is one step of a dictionary."""

    def __init__(self) -> None:
        self._heard: dict[str, float] = {}

    def hear(self, record: StepFrame | SampleFrame | Event, now: float) -> None:
        """Note what a record says of its job.

        Args:
            record: of any job; those without an attempt are of a cluster, or of somebody who only knows the job's name.
            now: Unix seconds.
        """
        if record.attempt <= 0:
            return
        if isinstance(record, Event) and record.event == "attempt.ended":
            self._heard.pop(record.job, None)
            return
        self._heard[record.job] = now
        if len(self._heard) > _MOST_JOBS:
            self._heard = {job: time for job, time in self._heard.copy().items() if now - time <= SPEAKS_SECONDS}

    def runs(self, job: str, now: float) -> bool:
        """Tell whether a job runs.

        >>> Running().runs("wm-64", 0.0)
        False
        """
        heard = self._heard.get(job)
        return heard is not None and now - heard <= SPEAKS_SECONDS
