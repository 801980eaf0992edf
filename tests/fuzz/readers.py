"""Readers of single bodies under damage: what they cannot read they refuse, and never in another way."""

import contextlib
import json
import pickle
from collections.abc import Callable, Iterable
from datetime import UTC
from pathlib import Path
from random import Random

from schemas.codec import BadRecord, decode, encode, split
from schemas.telemetry import Tick
from streams.agents import rank_file
from streams.agents.events.alertmanager import alerts
from streams.agents.events.arrived import Arrived
from streams.agents.events.arrived import NotReadable as NoEvent
from streams.agents.events.cloud_event import cloud_events
from streams.agents.finding import Finding
from streams.agents.flight_recorder import read as read_dump
from streams.agents.flight_recorder import states
from streams.agents.logs.reader import LogReader
from streams.agents.series.reader import SeriesReader, is_wanted
from streams.agents.series.series import Series, on_page
from streams.agents.stamp import Stamp
from streams.feed import otlp, remote_write
from tests.agents import exporter_pages as pages
from tests.agents.logs.lines import LINES as KNOWN_LINES
from tests.agents.logs.lines import in_docker
from tests.fuzz.mutate import cuts, mutate

ARRIVED = 1_780_000_000.0
LINES = [text.encode() for text, _ in KNOWN_LINES.values()]
LINES += [in_docker(text).encode() for text, _ in list(KNOWN_LINES.values())[::4]]
RANK_LINES = [
    b'{"n":3,"t":1740960000.5,"s":7,"v":{"step_seconds":0.5,"loader_seconds":null},"j":{"loss":2.5}}',
    b'{"n":4,"t":1740960001.5,"e":"checkpoint.end","u":"","x":"text","d":{"step":7,"bytes":10,"deep":{"a":[1,2]}}}',
    b'{"n":5,"t":1740960002.5,"of":"mount","id":"/data","v":{"storage_retries_total":3.0}}',
    b'{"n":6,"t":1740960003.5,"ack":"r1","setting":"loader.path","s":9,"error":"","lost":2}',
    b'{"hook":1740960000.0,"n":0,"local":0,"cpus":[0,1]}',
    b'{"n":7,"t":1740960000.5,"s":8,"v":{},"j":{"loss":NaN,"grad_norm":-Infinity}}',
]
EVENTS = [
    json.dumps(
        {"version": "4", "alerts": [{
            "status": "firing", "labels": {"alertname": "Hot", "instance": "n05:9400"},
            "startsAt": "2026-03-04T10:00:00Z", "endsAt": "0001-01-01T00:00:00Z", "fingerprint": "f1",
        }]}
    ).encode(),
    json.dumps(
        {"specversion": "1.0", "id": "1", "source": "s", "type": "trainmaster.event.xid", "data": {"healthEvent": {
            "checkName": "SysLogsXIDError", "isFatal": True, "errorCode": ["79"], "recommendedAction": 24,
            "entitiesImpacted": [{"entityType": "GPU", "entityValue": "GPU-1"}, {"entityValue": "0000:3b:00"}],
            "nodeName": "n05", "generatedTimestamp": "2026-03-04T10:00:00.123456789Z",
        }}}
    ).encode(),
    json.dumps(
        {"specversion": "1.0", "id": "2", "source": "s", "type": "com.example.note",
         "time": "2026-03-04T10:00:00Z", "data": {"node": "n01", "job": "j", "attempt": 2, "text": "t", "value": 3}}
    ).encode(),
]  # fmt: skip
_STATUS = {"last_enqueued_collective": 9, "last_started_collective": 8, "last_completed_collective": 7}
_DUMP = {
    "version": "2.5",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": _STATUS},
    "entries": [{"pg_id": 0, "collective_seq_id": 8, "profiling_name": "nccl:all_gather", "state": "started"}],
}
DUMPS = [json.dumps(_DUMP).encode(), *(pickle.dumps(_DUMP, protocol) for protocol in (0, 2, 4))]
PAGES = [page.encode() for page in (pages.dcgm(gpus=1), pages.dcgm(pages.LABELS_BEFORE, 1), pages.node(1000))]


def _message() -> bytes:
    request = remote_write.MESSAGES["v1.WriteRequest"]()
    series = request.timeseries.add()
    for name, value in (("__name__", "DCGM_FI_DEV_GPU_TEMP"), ("UUID", "GPU-1"), ("Hostname", "n05")):
        series.labels.add(name=name, value=value)
    series.samples.add(value=61.0, timestamp=1_780_000_000_000)
    return bytes(request.SerializeToString())


MESSAGES = [_message(), b"", b"\x22\x03abc\x2a\x04\x0a\x02\x00\x00"]


def check_records(findings: Iterable[Finding]) -> int:
    """Make a record of each finding, write it, and read it again."""
    stamp, count = Stamp("n", "c", 1.0, 1), 0
    for finding in findings:
        record = stamp.record("j", 1, ARRIVED, finding)
        assert not isinstance(decode(encode(record)), Tick)
        count += 1
    return count


def logs(chance: Random) -> int:
    """Read a damaged log whole and in pieces: nothing is raised, and both ways the same is found."""
    pieces_of = [chance.choice(LINES) for _ in range(chance.randint(1, 15))]
    if chance.random() < 0.5:  # long stretches of one format are read in another way than single lines
        pieces_of = [piece for piece in pieces_of for _ in range(chance.randint(1, 6))]
    most = chance.choice((1, 4))
    log = b"\n".join(mutate(chance, piece, LINES, most) for piece in pieces_of)
    whole, pieces = LogReader(UTC), LogReader(UTC)
    found = [*whole.feed(log, ARRIVED), *whole.finish(ARRIVED)]
    parted = [finding for piece in cuts(chance, log) for finding in pieces.feed(piece, ARRIVED)]
    parted += pieces.finish(ARRIVED)
    check_records(found)
    assert repr(found) == repr(parted), "cut in pieces it says something else"
    return log.count(b"\n") + 1


def rank_lines(chance: Random) -> int:
    """Read a damaged line of a hook."""
    rank_file.parse(mutate(chance, chance.choice(RANK_LINES), RANK_LINES))
    return 1


def events(chance: Random) -> int:
    """Read a damaged body of somebody's events."""
    body = mutate(chance, chance.choice(EVENTS), EVENTS)
    for read in (alerts, cloud_events):
        arrived: list[Arrived] = []
        with contextlib.suppress(NoEvent):
            arrived = list(read(body))
        with contextlib.suppress(ValueError):  # a number beyond 64 bits, which the server refuses with the body
            check_records(each.happening for each in arrived)
    return 1


def dumps(chance: Random, folder: Path) -> int:
    """Read a damaged dump of the flight recorder."""
    file = folder / "trace_7"
    file.write_bytes(mutate(chance, chance.choice(DUMPS), DUMPS))
    with contextlib.suppress(ValueError):
        check_records(states(read_dump(file), 7))
    return 1


def exporters(chance: Random) -> int:
    """Read damaged pages of exporters one after the other, as one source's."""
    reader, lines = SeriesReader(), 0
    for look in range(3):
        page = mutate(chance, chance.choice(PAGES), PAGES).decode("utf-8", "replace")
        lines += page.count("\n")
        series: list[Series] = []
        with contextlib.suppress(ValueError):
            series = list(on_page(page, is_wanted))
        check_records(each.finding for each in reader.read(series, ARRIVED + 15 * look))
    return lines


def messages(chance: Random) -> int:
    """Read damaged messages of remote_write and OTLP."""
    body = mutate(chance, chance.choice(MESSAGES), MESSAGES)
    ways: tuple[Callable[[], Iterable[Series]], ...] = (
        lambda: remote_write.series_of(body, version_2=False),
        lambda: remote_write.series_of(body, version_2=True),
        lambda: remote_write.series_of(remote_write.unpack(body), version_2=False),
        lambda: otlp.series_of(body, as_json=False),
        lambda: otlp.series_of(body, as_json=True),
    )
    for way in ways:
        series: list[Series] = []
        with contextlib.suppress(remote_write.NotReadable):
            series = list(way())
        check_records(each.finding for each in SeriesReader().read(series, ARRIVED))
    return 1


def telemetry(chance: Random) -> int:
    """Read damaged records as the server does."""
    body = b"\n".join(mutate(chance, chance.choice(RANK_LINES + EVENTS), RANK_LINES) for _ in range(3))
    for raw in split(body):
        with contextlib.suppress(BadRecord):
            decode(raw)
    return 3
