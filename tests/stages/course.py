"""The course of a job as the correlate stage sees it: vitals step by step, and findings put in by hand."""

from typing import Any

from msgspec import structs

from playbooks.load import load_causes
from schemas.detection import Detection, Direction, Vitals
from schemas.incident import Incident
from schemas.signals import signal_named
from schemas.telemetry import Event, Reading
from streams.stages.correlate.stage import Correlate
from tests.stages.build import START, Fed

NORMAL = {"step_seconds": 1.0, "tokens_per_second": 1000.0, "loader_share": 0.03, "interval_seconds": 1.0}
CAUSES = load_causes()


class Course:
    """A job of eight ranks on two nodes that takes one second for a step, sixty steps after its start."""

    def __init__(self, hold: float = 10.0) -> None:
        self.fed = Fed(Correlate(CAUSES, hold))
        self.step, self.time, self.attempt = 100, START, 1
        self._events = 0
        self.start()
        self.go(1, normal={name: level for name, level in NORMAL.items() if name != "interval_seconds"})
        self.go(59)

    def start(self, **changed: Any) -> None:  # Any: event data
        """An attempt begins."""
        placement = [{"rank": rank, "node": f"n{rank // 4 + 1}", "gpu": f"GPU-{rank}"} for rank in range(8)]
        self.happen("attempt.started", **{"placement": placement, "world_size": 8, "fingerprint": "f", **changed})

    def go(
        self,
        steps: int,
        seconds: float = 1.0,
        phase: str = "",
        normal: dict[str, Reading] | None = None,
        **values: Reading,
    ) -> list[Incident]:
        """Train on; give what was told meanwhile.

        Args:
            steps: how many.
            seconds: length of each.
            phase: the legitimate phase they are in.
            normal: healthy levels that are told with the first of them.
            values: of the job, where they are not the normal ones.
        """
        before = len(self.fed.said)
        for number in range(steps):
            self.time += seconds
            paced = {"step_seconds": seconds, "interval_seconds": seconds, "tokens_per_second": 1000.0 / seconds}
            told = Vitals(
                job="toy",
                attempt=self.attempt,
                step=self.step,
                time=self.time,
                values={**NORMAL, **paced, **values},
                normal=(normal or {}) if number == 0 else {},
                phase=phase,
                world_size=8,
                clock=self.time,
            )
            self.fed.feed(told)
            self.step += 1
        return [sent.record for sent in self.fed.said[before:] if isinstance(sent.record, Incident)]

    def find(
        self,
        detector: str,
        signal: str,
        direction: Direction = "up",
        *,
        ago: int = 8,
        subject: str = "job",
        name: str = "",
        **fields: Any,  # Any: fields of a detection
    ) -> Detection:
        """A detector finds something that began some steps ago."""
        found = Detection(
            id=f"{detector}-{signal}-{subject}{name}-{self.step}",
            job="toy",
            attempt=self.attempt,
            detector=detector,
            signal=signal,
            layer=signal_named(signal).layer,
            subject=subject,
            direction=direction,
            onset_step=self.step - ago,
            onset_time=self.time - ago,
            step=self.step - 1,
            time=self.time,
            text=f"{signal} went {direction}",
            **fields,
        )
        self.fed.feed(found)
        return found

    def slow_rank(self, rank: int, part: str = "compute", ago: int = 8) -> Detection:
        """A rank is found to be slow."""
        return self.find(
            "slow_rank",
            "own_seconds",
            ago=ago,
            subject=f"rank:{rank}",
            ranks=(rank,),
            nodes=(f"n{rank // 4 + 1}",),
            gpus=(f"GPU-{rank}",),
            part=part,
        )

    def slowdown(self, ago: int = 8) -> list[Detection]:
        """The job is found to be slower."""
        return [
            self.find("level_shift", "step_seconds", ago=ago, before=1.0, after=1.4),
            self.find("level_shift", "tokens_per_second", "down", ago=ago, before=1000.0, after=714.0),
        ]

    def starvation(self, ago: int = 8) -> list[Detection]:
        """The loaders are found to wait for the storage."""
        return [
            *self.slowdown(ago),
            self.find("level_shift", "loader_share", ago=ago, before=0.03, after=0.3),
            self.find("level_shift", "storage_retries_total", ago=ago, subject="mount:/data"),
            self.find("level_shift", "storage_latency_seconds", ago=ago, subject="mount:/data"),
        ]

    def end(self, *findings: Detection) -> None:
        """Findings end with the last step."""
        for one in findings:
            self.fed.feed(structs.replace(one, revision=one.revision + 1, end_step=self.step - 1, end_time=self.time))

    def end_all(self) -> None:
        """Every finding of every incident ends with the last step."""
        self.end(*[one for case in self.fed.memory.cases.values() for one in case.detections.values()])

    def happen(self, event: str, node: str = "launcher", subject: str = "", **data: Any) -> list[Incident]:  # Any: data
        """Something happens; give what was told."""
        self._events += 1
        one = Event(
            job="toy",
            attempt=self.attempt,
            node=node,
            seq=self._events,
            time=self.time,
            event=event,
            subject=subject,
            data=data,
        )
        return [sent.record for sent in self.fed.feed(one) if isinstance(sent.record, Incident)]

    @property
    def incidents(self) -> list[Incident]:
        """Every incident as it was last told, in the order of their first."""
        return list({one.id: one for one in self.fed.told(Incident)}.values())
