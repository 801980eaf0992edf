"""Fakes of the ports: they record what was asked of them and answer what the test has scripted."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from playbooks.ports import Kind, NotConfigured, Ports, Reply
from playbooks.retry import Delivered, Delivery
from schemas.action import Control, Request, Setting, TaintRecord
from schemas.detection import Detection
from schemas.incident import Incident


class Posted(Struct, frozen=True):
    """One post."""

    url: str
    body: bytes
    headers: dict[str, str]


class FakeHttp:
    """Answers with scripted replies, then with 200; an exception in the script is raised."""

    def __init__(self, *script: Reply | ConnectionError) -> None:
        self.script = list(script)
        self.posts: list[Posted] = []

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Record the post."""
        self.posts.append(Posted(url, body, dict(headers)))
        answer = self.script.pop(0) if self.script else Reply(status=200)
        if isinstance(answer, ConnectionError):
            raise answer
        return answer


class FakeTrainer:
    """Keeps one control document for each job."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.controls: dict[str, Control] = {}
        self.fault = fault

    async def set(
        self, job: str, attempt: int, settings: Mapping[str, str | int | float | bool], request: str
    ) -> Control:
        """Change some settings."""
        wished = {name: Setting(value=value, request=request) for name, value in settings.items()}
        return self._keep(job, attempt, {**self._settings(job), **wished})

    async def clear(self, job: str, attempt: int, names: tuple[str, ...]) -> Control:
        """Give settings back."""
        return self._keep(job, attempt, {name: one for name, one in self._settings(job).items() if name not in names})

    def wishes(self, job: str) -> dict[str, str | int | float | bool]:
        """Give the settings of a job as plain values."""
        return {name: one.value for name, one in self._settings(job).items()}

    def _settings(self, job: str) -> dict[str, Setting]:
        return self.controls[job].settings if job in self.controls else {}

    def _keep(self, job: str, attempt: int, settings: dict[str, Setting]) -> Control:
        if self.fault is not None:
            raise self.fault
        version = self.controls[job].version + 1 if job in self.controls else 1
        self.controls[job] = Control(job=job, attempt=attempt, version=version, settings=settings)
        return self.controls[job]


class FakeScheduler:
    """Records orders; raises what the test has scripted."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.orders: list[tuple[str, str, str]] = []

    async def cordon(self, node: str, reason: str) -> str:
        """Record a cordon."""
        return self._order("cordon", node, reason)

    async def restart(self, job: str, reason: str) -> str:
        """Record a restart."""
        return self._order("restart", job, reason)

    async def stop(self, job: str, reason: str) -> str:
        """Record a stop."""
        return self._order("stop", job, reason)

    def _order(self, order: str, name: str, reason: str) -> str:
        self.orders.append((order, name, reason))
        if self.faults:
            raise self.faults.pop(0)
        return f"{order} of {name}"


class FakeLedger:
    """Keeps lines by their id."""

    def __init__(self) -> None:
        self.lines: dict[str, TaintRecord] = {}

    async def add(self, record: TaintRecord) -> None:
        """Add a line."""
        self.lines.setdefault(record.id, record)


class FakeDocuments:
    """Keeps documents by their name; raises what the test has scripted."""

    def __init__(self, fault: OSError | None = None) -> None:
        self.texts: dict[str, str] = {}
        self.fault = fault

    async def write(self, name: str, text: str) -> str:
        """Keep a document."""
        if self.fault is not None:
            raise self.fault
        self.texts[name] = text
        return f"documents/{name}"


class FakeRecords:
    """Knows the revisions and detections it was given."""

    def __init__(self, *revisions: Incident, detections: tuple[Detection, ...] = ()) -> None:
        self.all = list(revisions)
        self.known = {detection.id: detection for detection in detections}

    async def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision."""
        found = await self.revisions(incident_id)
        return found[-1] if found else None

    async def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision."""
        return [incident for incident in self.all if incident.id == incident_id]

    async def detections(self, ids: tuple[str, ...]) -> list[Detection]:
        """Give detections."""
        return [self.known[id_] for id_ in ids if id_ in self.known]


class Told(Struct, frozen=True):
    """One message."""

    sink: str
    incident: Incident
    kind: Kind
    request: Request | None


class FakeSinks:
    """Sinks by name and kind, each with its own script of answers, then delivered."""

    def __init__(self, kinds: Mapping[str, str], scripts: Mapping[str, list[Delivery]] | None = None) -> None:
        self._kinds = dict(kinds)
        self.scripts = {name: list(answers) for name, answers in (scripts or {}).items()}
        self.told: list[Told] = []

    def kinds(self) -> Mapping[str, str]:
        """Give the kind of each sink."""
        return self._kinds

    async def tell(self, name: str, incident: Incident, kind: Kind, request: Request | None = None) -> Delivery:
        """Record a message."""
        if name not in self._kinds:
            raise NotConfigured(f"no sink named {name!r} is configured")
        self.told.append(Told(name, incident, kind, request))
        script = self.scripts.get(name, [])
        return script.pop(0) if script else Delivered("told")

    def to(self, name: str) -> list[Kind]:
        """Give the kinds of the messages one sink was given."""
        return [told.kind for told in self.told if told.sink == name]


class FakeClock:
    """A clock that moves only when somebody waits on it."""

    def __init__(self, now: float = 1_740_960_000.0) -> None:
        self.time = now
        self.waits: list[float] = []

    def now(self) -> float:
        """Unix seconds."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
        self.waits.append(seconds)
        self.time += seconds


class Killed(BaseException):
    """What ends a process: nothing catches it."""


class DyingClock(FakeClock):
    """A clock at whose n-th wait the process dies."""

    def __init__(self, waits: int) -> None:
        super().__init__()
        self._left = waits

    async def sleep(self, seconds: float) -> None:
        """Wait, or die."""
        self._left -= 1
        if self._left < 0:
            raise Killed
        await super().sleep(seconds)


class FakePorts(Struct, frozen=True):
    """The fakes by name, for a test to look into."""

    http: FakeHttp
    trainer: FakeTrainer
    scheduler: FakeScheduler
    ledger: FakeLedger
    documents: FakeDocuments
    records: FakeRecords
    sinks: FakeSinks
    clock: FakeClock

    def ports(self) -> Ports:
        """Hand them in as what they stand for."""
        return Ports(**structs.asdict(self))


def fake_ports(**given: Any) -> FakePorts:  # Any: whichever fakes the test brings along
    """Make all fakes, taking some from the test."""
    fakes: dict[str, Any] = {  # Any: fakes of different ports
        "http": FakeHttp(),
        "trainer": FakeTrainer(),
        "scheduler": FakeScheduler(),
        "ledger": FakeLedger(),
        "documents": FakeDocuments(),
        "records": FakeRecords(),
        "sinks": FakeSinks({}),
        "clock": FakeClock(),
    }
    return FakePorts(**{**fakes, **given})
