"""What is answered is in the journal; what could not be read is in the archive, with its reason."""

import gzip
import json
from typing import Any

import msgspec
import pytest

from schemas.codec import decode
from schemas.telemetry import Event, StepFrame
from streams.feed.body import MAX_BODY_BYTES
from streams.feed.ingest import MAX_RECORDS
from tests.feed.conftest import Feed

Json = Any  # what JSON holds
PATH = "/api/v1/telemetry"


def _line(job: str = "wm-64", seq: int = 1, **fields: Json) -> Json:
    standard = {"kind": "steps", "v": 1, "job": job, "attempt": 1, "node": "n01", "seq": seq, "time": 1.0, "step": 7}
    return {**standard, **fields}


def _ndjson(*records: Json) -> bytes:
    return b"\n".join(json.dumps(record).encode() for record in records)


def test_every_accepted_record_is_in_the_journal(feed: Feed) -> None:
    """Records are appended in order under their job, byte for byte, stamped, and the pipeline is woken once."""
    lines = [_line(), _line("other", 2), _line(seq=3)]
    answer = feed.call("POST", PATH, data=_ndjson(*lines))
    assert (answer.status, answer.json()) == (200, {"accepted": 3, "rejected": 0, "offset": 3, "faults": []})
    entries = feed.journal.read(0, 10)
    assert [(entry.key, json.loads(entry.raw)) for entry in entries] == [(line["job"], line) for line in lines]
    assert all(entry.received > 1.7e9 for entry in entries)
    assert feed.woken == ["feed"]


def test_a_bad_line_costs_its_neighbours_nothing(feed: Feed) -> None:
    """The good records live, the bad ones are named with line, reason and field, and lie in the archive."""
    body = _ndjson(_line(), _line(step="x"), _line(seq=2)) + b"\n{broken\n"
    answer = feed.call("POST", PATH, data=body)
    assert answer.status == 200
    told = answer.json()
    assert (told["accepted"], told["rejected"], told["offset"]) == (2, 2, 2)
    assert [(fault["line"], fault["reason"], fault["path"]) for fault in told["faults"]] == [
        (1, "schema", "$.step"),
        (3, "malformed", ""),
    ]
    letters = feed.archive.dead()
    assert [(letter.line, letter.source, letter.raw) for letter in letters] == [
        (3, "http:127.0.0.1", b"{broken"),
        (1, "http:127.0.0.1", _ndjson(_line(step="x"))),
    ]


def test_a_repeated_body_files_its_bad_lines_once(feed: Feed) -> None:
    """A sender that got no answer sends again: its bad lines are the same letters, those of another body are not."""
    for body in (b"{broken", b"{broken", b"{broken too"):
        feed.call("POST", PATH, data=body)
    assert sorted(letter.raw for letter in feed.archive.dead()) == [b"{broken", b"{broken too"]


def test_a_body_without_any_readable_record_is_refused(feed: Feed) -> None:
    """Nothing readable is 400 with the faults, an empty body too, and nobody is woken."""
    answer = feed.call("POST", PATH, data=b"hello\nworld")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert [fault["reason"] for fault in answer.json()["faults"]] == ["malformed", "malformed"]
    assert feed.call("POST", PATH, data=b"\n \n").status == 400
    assert feed.woken == []
    assert feed.journal.last() == 0


def test_a_tick_from_outside_is_refused(feed: Feed) -> None:
    """Only the runtime may say what time it is."""
    answer = feed.call("POST", PATH, data=b'{"kind":"tick","v":1,"time":1.0}\n' + _ndjson(_line()))
    assert answer.json()["accepted"] == 1
    assert answer.json()["faults"][0]["reason"] == "kind"


def test_messagepack_and_gzip_are_read(feed: Feed) -> None:
    """One MessagePack record, an array of them, and a gzip body of two members all arrive."""
    packed = msgspec.msgpack.encode(_line())
    several = msgspec.msgpack.encode([_line(seq=2), _line(seq=3)])
    zipped = gzip.compress(_ndjson(_line(seq=4)) + b"\n") + gzip.compress(_ndjson(_line(seq=5)))
    assert feed.call("POST", PATH, data=packed).json()["accepted"] == 1
    assert feed.call("POST", PATH, data=several).json()["accepted"] == 2
    assert feed.call("POST", PATH, data=zipped, headers={"Content-Encoding": "gzip"}).json()["accepted"] == 2
    records = [decode(entry.raw) for entry in feed.journal.read(0, 10)]
    assert [record.seq for record in records if isinstance(record, StepFrame | Event)] == [1, 2, 3, 4, 5]


BAD_BODIES = {
    "gzip that is none": (b"not gzip", "gzip", 400),
    "gzip cut short": (gzip.compress(b"x" * 1000)[:-9], "gzip", 400),
    "gzip of gigabytes": (gzip.compress(b" " * (MAX_BODY_BYTES + 1)), "gzip", 413),
    "larger than allowed": (b" " * (MAX_BODY_BYTES + 1), "identity", 413),
    "more records than allowed": (b"1\n" * (MAX_RECORDS + 1), "identity", 413),
    "unknown packing": (b"x", "br", 415),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_told_by_its_kind(shared_feed: Feed, name: str) -> None:
    """Damaged, too large, even if only when unpacked, and unknown packing each have their own answer."""
    body, encoding, status = BAD_BODIES[name]
    answer = shared_feed.call("POST", PATH, data=body, headers={"Content-Encoding": encoding})
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]


def test_a_flood_of_faults_is_listed_in_part(feed: Feed) -> None:
    """Of many bad lines the first twenty are listed, all are counted, a thousand are kept."""
    answer = feed.call("POST", PATH, data=_ndjson(_line()) + b"\nx" * 1500).json()
    assert (answer["rejected"], len(answer["faults"])) == (1500, 20)
    assert len(feed.archive.dead(5000)) == 1000
