"""The desk of the decide stage: drafts and vitals come in by hand, incidents and requests go out."""

from typing import Any

from playbooks.playbook import Budget, Limit, Playbook, Verify, When
from schemas.action import ActionEntry, Request
from schemas.detection import Vitals
from schemas.incident import Incident, Taint
from schemas.telemetry import Event, Reading
from streams.stages.decide.stage import Decide
from tests.stages.build import START, Fed

PACE = 1000.0


def cache(**changed: Any) -> Playbook:  # Any: fields of a playbook
    """A playbook with a limit in a row, a trial, and an action that takes back what did not help."""
    fields: dict[str, Any] = {  # Any: fields of a playbook
        "playbook": "cache",
        "summary": "read from the cache",
        "when": When(causes=("starved",), all=(Limit(signal="loader_share", above=0.15, steps=10),)),
        "action": "loader.use_cache",
        "params": {"path": "cache"},
        "mode": "act",
        "cooldown": 100.0,
        "verify": Verify(skip_steps=2, steps=10, within_steps=60, within_seconds=200.0),
        "on_failure": "loader.restore",
    }
    return Playbook(**{**fields, **changed})


def tell(**changed: Any) -> Playbook:  # Any: fields of a playbook
    """A playbook that tells people, also when it gets worse and when it is over."""
    fields: dict[str, Any] = {  # Any: fields of a playbook
        "playbook": "tell",
        "summary": "tell people",
        "when": When(states=("open", "acting", "recovering", "resolved")),
        "action": "notify",
        "params": {"kind": "$occasion"},
        "mode": "act",
        "cooldown": 0.0,
        "fresh_seconds": 0.0,
        "budget": Budget(actions=1000, seconds=3600.0),
        "again": ("changed", "resolved"),
    }
    return Playbook(**{**fields, **changed})


class Desk:
    """A job that takes one second for a step; its pace has been learned."""

    def __init__(self, *playbooks: Playbook, learned: bool = True) -> None:
        self.fed = Fed(Decide(playbooks))
        self.step, self.time = 100, START
        self._events = 0
        self._fields: dict[str, Any] = {}  # Any: fields of an incident
        self.go(1, normal={"tokens_per_second": PACE} if learned else {})
        self.go(19)

    def go(
        self,
        steps: int,
        *,
        pace: float = PACE,
        phase: str = "",
        normal: dict[str, Reading] | None = None,
        **values: Reading,
    ) -> None:
        """Train on at some share of the pace."""
        for number in range(steps):
            self.time += 1.0
            told = Vitals(
                job="toy",
                attempt=1,
                step=self.step,
                time=self.time,
                values={"tokens_per_second": pace, "loader_share": 0.03, **values},
                normal=(normal or {}) if number == 0 else {},
                phase=phase,
                clock=self.time,
            )
            self.fed.feed(told)
            self.step += 1

    def draft(self, **changed: Any) -> None:  # Any: fields of an incident
        """The correlate stage tells of the incident; what was changed before stays changed."""
        self._fields = {
            "id": "incident-1",
            "revision": 0,
            "job": "toy",
            "attempt": 1,
            "state": "open",
            "severity": "error",
            "cause": "starved",
            "layer": "storage",
            "confidence": 0.9,
            "onset_step": self.step,
            "onset_time": self.time,
            "opened_time": self.time,
            "taint": Taint(from_step=self.step, to_step=self.step + 5),
            **self._fields,
            **changed,
        }
        self.fed.feed(Incident(**self._fields, updated_time=self.time))

    def happen(self, event: str, subject: str = "", attempt: int = 1, **data: Any) -> None:  # Any: event data
        """Something happens."""
        self._events += 1
        head = {"job": "toy", "attempt": attempt, "node": "feed", "seq": self._events, "time": self.time}
        self.fed.feed(Event(**head, event=event, subject=subject, data=data))  # type: ignore[arg-type]

    def starve(self) -> None:
        """An incident is open and the loader has been short for twelve steps."""
        self.draft()
        self.go(12, pace=0.7 * PACE, loader_share=0.25)

    def acknowledge(self, request: Request, **data: Any) -> None:  # Any: event data
        """The trainer says that a setting is in effect from the last step on."""
        self.happen("control.acknowledged", request.id, **{"request": request.id, "step": self.step - 1, **data})

    @property
    def requests(self) -> list[Request]:
        """Every request, in order."""
        return self.fed.told(Request)

    @property
    def incident(self) -> Incident:
        """The incident as it was last shown."""
        return self.fed.told(Incident)[-1]

    def entry(self, action: str = "loader.use_cache", incident: str = "incident-1") -> ActionEntry:
        """What was last shown of an action."""
        shown = [one for one in self.fed.told(Incident) if one.id == incident][-1]
        return [entry for entry in shown.actions if entry.action == action][-1]
