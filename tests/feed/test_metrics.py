"""remote_write and OTLP on a real server: the same signals as from a scrape, refusals with their reason."""

import json
import threading
from collections.abc import Sequence

import cramjam
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from schemas.codec import decode
from schemas.telemetry import Event, SampleFrame
from streams.agents.series.reader import SeriesReader, is_wanted
from streams.agents.series.rounds import PATIENCE_SECONDS
from streams.agents.series.series import Series, on_page
from streams.clock import unix_seconds
from streams.feed.metrics import Metrics
from streams.feed.remote_write import MESSAGES
from streams.feed.running import SPEAKS_SECONDS, Running
from tests.agents import exporter_pages as pages
from tests.feed.conftest import Feed

WRITE, OTLP = "/api/v1/write", "/api/v1/otlp/v1/metrics"
HEADERS = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
HEADERS_2 = {**HEADERS, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}


def version_1(series: Sequence[Series]) -> bytes:
    """Write a request of version 1 as a sender does."""
    request = MESSAGES["v1.WriteRequest"]()
    for one in series:
        made = request.timeseries.add()
        for name, value in {"__name__": one.name, **one.labels}.items():
            made.labels.add(name=name, value=value)
        made.samples.add(value=one.value, timestamp=int((one.time or 0) * 1000))
    return bytes(cramjam.snappy.compress_raw(request.SerializeToString()))


def version_2(series: Sequence[Series]) -> bytes:
    """Write a request of version 2: strings once, and references to them."""
    request = MESSAGES["v2.Request"](symbols=[""])
    places = {"": 0}

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(places)
            request.symbols.append(text)
        return places[text]

    for one in series:
        refs = [place(text) for pair in {"__name__": one.name, **one.labels}.items() for text in pair]
        made = request.timeseries.add(labels_refs=refs)
        made.samples.add(value=one.value, timestamp=int((one.time or 0) * 1000))
    return bytes(cramjam.snappy.compress_raw(request.SerializeToString()))


def scraped(time: float) -> list[Series]:
    """Give the series of a scrape."""
    page = [*on_page(pages.dcgm(), lambda _: True)]
    return [Series(one.name, one.labels, one.value, time) for one in page]


def frames(feed: Feed) -> list[SampleFrame]:
    """Give the samples in the journal."""
    records = [decode(entry.raw) for entry in feed.journal.read(0, 1000)]
    return [record for record in records if isinstance(record, SampleFrame)]


@pytest.mark.parametrize("write", [version_1, version_2])
def test_remote_write_gives_the_signals_of_a_scrape(feed: Feed, write: object) -> None:
    """A stream in pieces gives, round by round, what a scrape of the same page gives."""
    assert callable(write)
    headers = HEADERS_2 if write is version_2 else HEADERS
    past = unix_seconds() - 60
    series = scraped(past)
    for part in (series[:7], series[7:]):
        answer = feed.call("POST", WRITE, data=write(part), headers=headers)
        assert answer.status == 204
        if write is version_2:
            assert answer.headers["x-prometheus-remote-write-samples-written"] == str(len(part))
    assert frames(feed) == []
    deadline = unix_seconds() + PATIENCE_SECONDS + 20
    while not frames(feed):
        assert unix_seconds() < deadline
        threading.Event().wait(0.2)
        feed.call("POST", WRITE, data=write([]) or b"\0", headers=headers)
    (frame,) = frames(feed)
    assert (frame.node, str(frame.of), frame.attempt) == ("n05", "gpu", 0)
    assert frame.time == pytest.approx(past, abs=0.01)
    wanted = SeriesReader().read((one for one in series if is_wanted(one.name)), past)[0].finding
    assert (frame.ids, frame.values) == (wanted.ids, wanted.values)  # type: ignore[union-attr]


def test_what_is_no_message_is_refused(feed: Feed) -> None:
    """A sender that sends something else, or far too much, is told so, and does not send it again."""
    assert feed.call("POST", WRITE, data=b"no snappy", headers=HEADERS).status == 400
    huge = b"\xff\xff\xff\xff\x0f" + b"x" * 10
    assert "64 MiB" in feed.call("POST", WRITE, data=huge, headers=HEADERS).json()["detail"]
    garbage = bytes(cramjam.snappy.compress_raw(b"\x0a\xff\xff\xff\xff"))
    assert feed.call("POST", WRITE, data=garbage, headers=HEADERS).status == 400
    assert feed.call("POST", WRITE, data=b"x", headers={"Content-Type": "application/x-protobuf"}).status == 415
    assert feed.call("POST", OTLP, data=b"\xff\xff", headers={"Content-Type": "application/x-protobuf"}).status == 400


def test_open_telemetry_is_taken_as_protobuf_and_as_json(feed: Feed) -> None:
    """Gauges of a resource become samples of its node; the answer is what exporters expect."""
    request = ExportMetricsServiceRequest()
    resource = request.resource_metrics.add()
    resource.resource.attributes.add(key="host.name").value.string_value = "n07"
    metric = resource.scope_metrics.add().metrics.add(name="hw.gpu.utilization")
    point = metric.gauge.data_points.add(as_double=0.5, time_unix_nano=int((unix_seconds() - 60) * 1e9))
    point.attributes.add(key="hw.id").value.string_value = "GPU-1"
    kind = {"Content-Type": "application/x-protobuf"}
    assert feed.call("POST", OTLP, data=request.SerializeToString(), headers=kind).status == 200
    deadline = unix_seconds() + PATIENCE_SECONDS + 20
    empty = json.dumps({"resourceMetrics": []}).encode()
    while not frames(feed):
        assert unix_seconds() < deadline
        threading.Event().wait(0.2)
        answer = feed.call("POST", OTLP, data=empty, headers={"Content-Type": "application/json"})
        assert answer.json() == {}
    (frame,) = frames(feed)
    assert (frame.node, frame.ids, frame.values) == ("n07", ["GPU-1"], {"gpu_util": [0.5]})


def test_readings_belong_to_the_job_on_their_label_while_it_speaks(feed: Feed) -> None:
    """A GPU's readings go to its job from the job's first word to its end, else to the cluster; a node's always do."""
    running = Running()
    metrics = Metrics(feed.journal, lambda: None, "boot", running)
    started = Event(job="wm-64", attempt=2, node="n05", seq=0, time=1000.0, event="attempt.started")
    ended = Event(job="wm-64", attempt=2, node="n05", seq=1, time=1100.0, event="attempt.ended")
    gpu = Series("DCGM_FI_DEV_GPU_TEMP", {"Hostname": "n05", "UUID": "GPU-1", "hpc_job": "wm-64"}, 61.0)
    node = Series("node_load1", {"instance": "n05:9100", "hpc_job": "wm-64"}, 3.0)

    def owners(now: float) -> list[tuple[str, str]]:
        before = len(frames(feed))
        metrics.take([gpu, node], now)
        metrics.take([], now + PATIENCE_SECONDS)
        return sorted((frame.job, str(frame.of)) for frame in frames(feed)[before:])

    nobodys, its_own = [("default", "gpu"), ("default", "node")], [("default", "node"), ("wm-64", "gpu")]
    assert owners(900.0) == nobodys
    running.hear(started, 1000.0)
    assert owners(1010.0) == its_own
    running.hear(ended, 1100.0)
    assert owners(1110.0) == nobodys
    running.hear(started, 1200.0)
    assert owners(1210.0) == its_own
    assert owners(1200.0 + SPEAKS_SECONDS) == nobodys
