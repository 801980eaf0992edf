"""The real ways out, against a real archive, real files, real processes and a real clock."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from playbooks.ports import Http, NotAllowed, NotConfigured, Unsettled
from playbooks.retry import Delivered, Disabled, Refused
from playbooks.sinks.notice import Notice
from playbooks.sinks.secret import Secret
from playbooks.sinks.slack import Slack, SlackConfig
from schemas.action import TaintRecord
from streams.clock import monotonic_seconds, unix_seconds
from streams.ports.aiohttp_http import AiohttpHttp
from streams.ports.archive_ledger import ArchiveLedger
from streams.ports.archive_records import ArchiveRecords
from streams.ports.command_scheduler import Commands, CommandScheduler
from streams.ports.configured_sinks import ConfiguredSinks
from streams.ports.control_trainer import ControlTrainer
from streams.ports.file_documents import FileDocuments
from streams.ports.real_ports import BadPorts, real_ports
from streams.ports.wall_clock import WallClock
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from tests.actions.receiver import Answer, Receiver
from tests.actions.samples import a_detection, an_incident
from tests.fakes import FakeClock, FakeHttp


@pytest.fixture
def archive() -> Iterator[SqliteArchive]:
    """An empty archive in memory."""
    database = Database(":memory:")
    yield SqliteArchive(database)
    database.close()


def test_the_version_grows_with_changes_only(archive: SqliteArchive) -> None:
    """Setting the same again writes nothing; another wish, a new value and giving back each make a version."""

    async def wishes() -> list[int]:
        trainer = ControlTrainer(archive)
        return [
            (await trainer.set("wm-64", 1, {"loader.path": "cache"}, "r1")).version,
            (await trainer.set("wm-64", 1, {"loader.path": "cache"}, "r1")).version,
            (await trainer.set("wm-64", 1, {"checkpoint.mode": "async"}, "r2")).version,
            (await trainer.set("wm-64", 1, {"loader.path": "replica"}, "r3")).version,
            (await trainer.clear("wm-64", 1, ("loader.path",))).version,
            (await trainer.clear("wm-64", 1, ("loader.path",))).version,
        ]

    assert asyncio.run(wishes()) == [1, 1, 2, 3, 4, 4]
    control = archive.control("wm-64")
    assert control is not None
    assert {name: (one.value, one.request) for name, one in control.settings.items()} == {
        "checkpoint.mode": ("async", "r2")
    }


def test_a_new_attempt_begins_without_wishes(archive: SqliteArchive) -> None:
    """Settings die with their attempt, the version goes on, and the old attempt is not spoken to any more."""

    async def wishes() -> None:
        trainer = ControlTrainer(archive)
        await trainer.set("wm-64", 1, {"loader.path": "cache"}, "r1")
        control = await trainer.set("wm-64", 2, {"checkpoint.mode": "async"}, "r2")
        assert (control.version, set(control.settings)) == (2, {"checkpoint.mode"})
        with pytest.raises(NotAllowed, match="attempt 1"):
            await trainer.set("wm-64", 1, {"loader.path": "cache"}, "r3")
        with pytest.raises(NotAllowed, match="attempt 1"):
            await trainer.clear("wm-64", 1, ("loader.path",))

    asyncio.run(wishes())


def test_filing_does_not_move_the_progress(archive: SqliteArchive) -> None:
    """What actions write says nothing about how far the journal has been read."""
    archive.put([], upto=41)
    asyncio.run(ControlTrainer(archive).set("wm-64", 1, {"loader.path": "cache"}, "r1"))
    assert archive.progress() == 41


def test_the_ledger_is_read_back(archive: SqliteArchive) -> None:
    """A line of the ledger is found by its job, once, however often it was added."""
    line = TaintRecord(
        id="t1",
        job="wm-64",
        attempt=1,
        from_step=1,
        to_step=2,
        reason="nan",
        incident="i1",
        confidence=1.0,
        layer="model",
        time=1.0,
    )

    async def twice() -> None:
        await ArchiveLedger(archive).add(line)
        await ArchiveLedger(archive).add(line)

    asyncio.run(twice())
    assert archive.taints("wm-64") == [line]


def test_records_give_the_present_view(archive: SqliteArchive) -> None:
    """Of incidents the latest revision, of detections the latest of each that was asked for, in that order."""
    incidents = [an_incident(revision=1, severity="warning"), an_incident(revision=2)]
    others = [a_detection(id=f"d{n}") for n in range(1500)]
    asked = [a_detection(after=10.0), a_detection(revision=1, after=58.0), a_detection(id="d-loader")]
    archive.put([Sent("incidents", one.id, one) for one in incidents], upto=1)
    archive.put([Sent("detections", one.job, one) for one in (*others, *asked)], upto=2)

    async def look() -> None:
        records = ArchiveRecords(archive)
        assert await records.incident("50409911ed6b7da0") == incidents[1]
        assert await records.revisions("50409911ed6b7da0") == incidents
        assert await records.incident("nobody") is None
        found = await records.detections(("d-loader", "nobody", "d-retries", "d-loader"))
        assert [(one.id, one.after) for one in found] == [("d-loader", 57.8), ("d-retries", 58.0)]
        assert await records.detections(()) == []

    asyncio.run(look())


def test_a_document_is_replaced_whole(tmp_path: Path) -> None:
    """The second text takes the place of the first, and no draft is left behind."""

    async def twice() -> str:
        documents = FileDocuments(tmp_path / "new" / "folder")
        await documents.write("postmortem-i1.md", "first")
        return await documents.write("postmortem-i1.md", "第二")

    path = Path(asyncio.run(twice()))
    assert path.read_text(encoding="utf-8") == "第二"
    assert [one.name for one in path.parent.iterdir()] == ["postmortem-i1.md"]


def test_a_failed_write_leaves_the_old_text(tmp_path: Path) -> None:
    """What cannot be written leaves the old document, and no draft."""
    documents = FileDocuments(tmp_path)
    asyncio.run(documents.write("a.md", "old"))
    with pytest.raises(UnicodeEncodeError):
        asyncio.run(documents.write("a.md", "new \ud800"))
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.md", "old")]


@pytest.mark.parametrize("name", ["../a.md", "/etc/a.md", "", ".hidden", "a/b.md", "a\nb"])
def test_a_document_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    """A name that leads elsewhere is refused."""
    with pytest.raises(ValueError, match="no name of a document"):
        asyncio.run(FileDocuments(tmp_path / "in").write(name, "text"))


def python(code: str, *arguments: str) -> tuple[str, ...]:
    """A command that runs Python code."""
    return sys.executable, "-c", code, *arguments


def test_an_argument_stays_one_argument(tmp_path: Path) -> None:
    """What a name or a reason holds is never read by a shell, and never brings in another placeholder."""
    note = tmp_path / "note"
    code = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(repr(sys.argv[2:]))"
    command = python(code, str(note), "State=DRAIN", "{node}", "Reason={reason}")
    reason = 'it\'s "slow"; rm -rf $HOME && {node} > x'
    assert asyncio.run(CommandScheduler(Commands(cordon=command)).cordon("n01", reason)) == "n01 cordoned"
    assert note.read_text() == repr(["State=DRAIN", "n01", f"Reason={reason}"])


@pytest.mark.parametrize("name", ["--all", "n[01-99]", "n01,n02", "ALL", "all", "", "n01 n02", "$(id)", "n" * 300])
def test_a_dangerous_name_is_not_passed_on(name: str) -> None:
    """A name that a scheduler could read as an option, a list or the whole cluster reaches no command."""
    scheduler = CommandScheduler(Commands(cordon=python("raise SystemExit(9)"), stop=python("raise SystemExit(9)")))
    with pytest.raises(NotAllowed):
        asyncio.run(scheduler.cordon(name, ""))
    with pytest.raises(NotAllowed):
        asyncio.run(scheduler.stop(name, ""))


FAULTS: dict[str, tuple[tuple[str, ...], type[Exception], str]] = {
    "not configured": ((), NotConfigured, "restart"),
    "no such program": (("/nowhere/scontrol",), NotConfigured, "restart"),
    "said no": (
        python("import sys; sys.exit('first\\nno controller')"),
        ConnectionError,
        "ended with 1: no controller",
    ),
    "takes too long": (python("import time; time.sleep(60)"), Unsettled, "did not end within 0.5 s"),
}


@pytest.mark.parametrize(("command", "fault", "words"), FAULTS.values(), ids=FAULTS)
def test_faults_of_a_command_are_told_apart(command: tuple[str, ...], fault: type[Exception], words: str) -> None:
    """Absent, refused and unanswered are three things; a command that takes too long is ended."""
    began = monotonic_seconds()
    with pytest.raises(fault, match=words):
        asyncio.run(CommandScheduler(Commands(restart=command, seconds=0.5)).restart("wm-64", ""))
    assert monotonic_seconds() - began < 10


def test_a_disabled_sink_is_left_alone() -> None:
    """After 410 the receiver is not asked again, and the refusal says why."""

    async def thrice() -> None:
        async with Receiver(Answer(status=410), Answer(status=200)).listening() as receiver, AiohttpHttp() as http:
            sinks = ConfiguredSinks(http, WallClock(), {"chat": Slack(SlackConfig(url=Secret(receiver.address)))})
            assert isinstance(await sinks.tell("chat", an_incident(), "opened"), Disabled)
            assert isinstance(again := await sinks.tell("chat", an_incident(), "changed"), Refused)
            assert "410" in again.reason
            assert len(receiver.received) == 1

    asyncio.run(thrice())


class Keeper:
    """A sink that keeps the notices it is given."""

    name = "keeper"

    def __init__(self) -> None:
        self.config = SlackConfig(url=Secret("https://h.example/"))
        self.notices: list[Notice] = []

    async def send(self, notice: Notice, http: Http) -> Delivered:  # noqa: ARG002
        """Keep it."""
        self.notices.append(notice)
        return Delivered()


def test_a_notice_leads_to_the_page() -> None:
    """The link names job and incident, the time is that of the runner's clock, the language is the installation's."""
    keeper, clock = Keeper(), FakeClock(1234.0)
    sinks = ConfiguredSinks(FakeHttp(), clock, {"k": keeper}, page="http://tm.example:8420/", locale="zh")
    asyncio.run(sinks.tell("k", an_incident(job="a b/c&d"), "opened"))
    (notice,) = keeper.notices
    assert notice.link == "http://tm.example:8420/#job=a%20b%2Fc%26d&incident=50409911ed6b7da0"
    assert (notice.sent_at, notice.locale) == (1234.0, "zh")
    assert sinks.kinds() == {"k": "keeper"}
    with pytest.raises(NotConfigured, match="pager"):
        asyncio.run(sinks.tell("pager", an_incident(), "opened"))


def test_a_client_that_is_not_open_says_so() -> None:
    """Posting outside the context is a connection error like any other."""
    with pytest.raises(ConnectionError, match="not open"):
        asyncio.run(AiohttpHttp().post("http://127.0.0.1:9/", b"", {}))


def test_the_wall_clock_goes() -> None:
    """The runner's clock is this machine's, and waiting takes its time."""
    before = unix_seconds()
    asyncio.run(WallClock().sleep(0.01))
    assert before < WallClock().now() <= unix_seconds()


def test_the_ports_of_an_installation(archive: SqliteArchive, tmp_path: Path) -> None:
    """Settings become ports: each sink under its name, each order as its command."""
    sinks = {"chat": {"kind": "slack", "url": "https://hooks.example/x"}}
    ports = real_ports(archive, FakeHttp(), documents=tmp_path, sinks=sinks, scheduler={"stop": ["true"]})
    assert ports.sinks.kinds() == {"chat": "slack"}
    assert asyncio.run(ports.scheduler.stop("wm-64", "why")) == "stop of wm-64 ordered"
    assert structs.asdict(ports)["clock"].now() > 0


def test_an_unknown_order_is_named(archive: SqliteArchive, tmp_path: Path) -> None:
    """A misspelt order fails at the start."""
    with pytest.raises(BadPorts, match=r"scheduler: .*drain"):
        real_ports(archive, FakeHttp(), documents=tmp_path, sinks={}, scheduler={"drain": ["true"]})
