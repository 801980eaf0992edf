"""What Alertmanager, NVSentinel, Kubernetes and Slurm say, as events; and what of it is left out."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from streams.agents.events.alertmanager import alerts
from streams.agents.events.arrived import NotReadable
from streams.agents.events.cloud_event import cloud_events
from streams.agents.events.kubernetes import KubernetesEvents, happening_of
from streams.agents.events.slurm import NODES, Slurm, run
from streams.agents.finding import Finding, Happening
from streams.agents.paced import Paced

Json = Any  # what JSON holds


def body(said: Json) -> bytes:
    """Write JSON."""
    return json.dumps(said).encode()


def happenings(findings: Sequence[Finding]) -> list[tuple[str, str, Json]]:
    """Give word, subject and data."""
    return [(each.event, each.subject, each.data) for each in findings if isinstance(each, Happening)]


ALERT = {
    "status": "firing",
    "labels": {
        "alertname": "GpuHot",
        "severity": "warning",
        "instance": "n05:9400",
        "UUID": "GPU-1",
        "hpc_job": "wm-64",
    },
    "annotations": {"summary": "it is hot"},
    "startsAt": "2026-03-04T10:00:00Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "fingerprint": "f1",
}


def webhook(**other: Json) -> bytes:
    """Write the body of a webhook with one alert."""
    return body({"version": "4", "groupKey": "{}", "status": "firing", "receiver": "r", "alerts": [{**ALERT, **other}]})


def test_an_alert_without_annotations_is_one() -> None:
    """Senders write null where there are none, add fields of their own, and print nanoseconds and offsets."""
    said = webhook(annotations=None, values={"A": 1.5}, startsAt="2026-03-04T12:00:00.123456789+02:00")
    (fired,) = alerts(said)
    assert fired.happening.text == ""
    assert fired.happening.time == pytest.approx(1772618400.123456)


def test_an_alert_is_an_event_at_its_time() -> None:
    """A firing alert has the time of its start, a resolved one of its end; labels say node, GPU and job."""
    (fired,) = alerts(webhook())
    assert (fired.node, fired.job, fired.happening.subject) == ("n05", "wm-64", "GPU-1")
    assert (fired.happening.event, fired.happening.data["name"], fired.happening.text) == (
        "alert",
        "GpuHot",
        "it is hot",
    )
    assert fired.happening.time == 1772618400.0
    (resolved,) = alerts(webhook(status="resolved", endsAt="2026-03-04T10:05:00Z"))
    assert resolved.happening.time == 1772618700.0
    assert resolved.id != fired.id
    assert [each.id for each in alerts(webhook())] == [fired.id]


@pytest.mark.parametrize("wrong", [b"", b"{}", b"[]", b'{"alerts":[{"status":"odd","labels":{}}]}', b"\xff"])
def test_what_is_no_webhook_is_refused(wrong: bytes) -> None:
    """Other bodies are refused with the field at fault."""
    with pytest.raises(NotReadable):
        list(alerts(wrong))


HEALTH = {
    "version": 1,
    "agent": "syslog-health-monitor",
    "componentClass": "GPU",
    "checkName": "SysLogsXIDError",
    "isFatal": True,
    "isHealthy": False,
    "message": "ErrorCode:79 GPU has fallen off the bus",
    "recommendedAction": 24,
    "errorCode": ["79"],
    "entitiesImpacted": [
        {"entityType": "PCI", "entityValue": "0000:3B:00.0"},
        {"entityType": "GPU_UUID", "entityValue": "GPU-7"},
    ],
    "generatedTimestamp": "2026-03-04T10:00:00Z",
    "nodeName": "n05",
}


def cloud_event(data: Json, **other: Json) -> Json:
    """Make a CloudEvent."""
    return {"specversion": "1.0", "id": "1", "source": "s", "type": "com.nvidia.health", "data": data, **other}


def test_a_health_event_is_a_condition_of_its_node_and_an_xid_of_its_gpu() -> None:
    """NVSentinel's event says check, codes and recommendation; its Xid is one of ours, with UUID and address."""
    condition, xid = cloud_events(body(cloud_event({"healthEvent": HEALTH, "metadata": {"cluster": "c"}})))
    assert (condition.happening.event, condition.happening.subject, condition.node) == ("node.condition", "n05", "n05")
    assert condition.happening.data["recommended"] == "RESTART_BM"
    assert condition.happening.data["healthy"] is False
    assert (xid.happening.event, xid.happening.subject) == ("xid", "GPU-7")
    assert xid.happening.data == {"code": 79, "pci": "0000:3b:00"}
    assert xid.id != condition.id


def test_health_events_that_recommend_nothing_are_passed_over() -> None:
    """Of a large fleet's events nearly all recommend nothing; they are left out, unless they are fatal."""
    for action in (0, "NONE"):
        quiet = {**HEALTH, "recommendedAction": action, "isFatal": False}
        assert list(cloud_events(body(cloud_event({"healthEvent": quiet})))) == []
    assert list(cloud_events(body(cloud_event({"healthEvent": {**HEALTH, "recommendedAction": 0}}))))


def test_our_own_words_and_others_come_as_cloud_events() -> None:
    """An event under our prefix is that word; any other type is a word of its own; a batch is several events."""
    ours = cloud_event(
        {"job": "wm-64", "attempt": 2, "code": 1}, type="io.trainmaster.event.storage.error", subject="/data"
    )
    theirs = cloud_event(5, type="com.example.backup.began", time="2026-03-04T10:00:00Z", id="2")
    first, second = cloud_events(body([ours, theirs]))
    assert (first.happening.event, first.job, first.attempt, first.happening.data) == (
        "storage.error",
        "wm-64",
        2,
        {"code": 1},
    )
    assert (second.happening.event, second.happening.data) == ("com.example.backup.began", {"value": 5})
    assert second.happening.time == 1772618400.0
    with pytest.raises(NotReadable, match="specversion"):
        list(cloud_events(body({**ours, "specversion": "0.3"})))


KUBERNETES: dict[str, tuple[Json, tuple[str, str] | None]] = {
    "evicted, core spelling": (
        {"reason": "Evicted", "involvedObject": {"kind": "Pod", "name": "train-0"}, "source": {"host": "n05"}},
        ("worker.evicted", "n05"),
    ),
    "reboot, newer spelling": (
        {"reason": "Rebooted", "regarding": {"kind": "Node", "name": "n06"}},
        ("node.boot", "n06"),
    ),
    "a node out of memory": (
        {
            "reason": "SystemOOM",
            "involvedObject": {"kind": "Node", "name": "n05"},
            "message": "System OOM encountered, victim process: python, pid: 4711",
        },
        ("oom.kill", "n05"),
    ),
    "the newer spelling of who speaks": (
        {
            "reason": "Evicted",
            "regarding": {"kind": "Pod", "name": "p"},
            "note": "The node was low on resource: memory.",
            "reportingController": "kubelet",
            "reportingInstance": "n06",
        },
        ("worker.evicted", "n06"),
    ),
    "a mount": ({"reason": "FailedMount", "involvedObject": {"kind": "Pod", "name": "p"}}, ("storage.error", "")),
    "a mount of what the cluster itself keeps": (
        {
            "reason": "FailedMount",
            "involvedObject": {"kind": "Pod", "name": "p"},
            "message": 'MountVolume.SetUp failed for volume "kube-api-access-x" : object "ml"/"root-ca" not registered',
        },
        None,
    ),
    "a pull": ({"reason": "Pulled", "involvedObject": {"kind": "Pod", "name": "p"}}, None),
}


@pytest.mark.parametrize("name", KUBERNETES)
def test_reasons_of_kubernetes_are_events(name: str) -> None:
    """Reasons that say something of a training job's life become events, others nothing."""
    event, wanted = KUBERNETES[name]
    found = happening_of(event)
    assert (found and (found.event, found.subject)) == wanted


def test_memory_kills_name_their_victim() -> None:
    """The note of a kill names process and number; the time is that of the last observation."""
    event = {
        "reason": "OOMKilling",
        "regarding": {"kind": "Node", "name": "n05"},
        "note": "Memory cgroup out of memory: Killed process 77 (python3) total-vm:1kB",
        "series": {"count": 2, "lastObservedTime": "2026-03-04T10:00:00.000000Z"},
        "eventTime": "2026-03-04T09:00:00Z",
    }
    found = happening_of(event)
    assert found is not None
    assert (found.data["pid"], found.data["process"], found.time) == (77, "python3", 1772618400.0)


class ApiServer:
    """An API server with a list of events to watch; `status` other than 200 is what it answers instead."""

    def __init__(self) -> None:
        self.events: list[Json] = []
        self.status = 200
        self.rest = b""
        self.asked: list[str] = []
        answers = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Answer as the API server does."""
                answers.asked.append(f"{self.headers.get('Authorization')} {self.path}")
                self.send_response(answers.status)
                self.end_headers()
                if answers.status != 200:
                    return
                if "watch=1" in self.path:
                    for event in answers.events:
                        self.wfile.write(body({"type": "ADDED", "object": event}) + b"\n")
                    self.wfile.write(answers.rest)
                else:
                    self.wfile.write(body({"metadata": {"resourceVersion": "10"}, "items": []}))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """An API server on loopback."""
    made = ApiServer()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_kubernetes_is_watched_from_where_it_was_left(api: ApiServer, tmp_path: Path) -> None:
    """History is passed over, versions move on, the account's token is shown, and a version too old begins anew."""
    (tmp_path / "token").write_text("secret\n")
    source = KubernetesEvents(api.url, tmp_path)
    assert source() == []
    api.events = [{"reason": "Evicted", "metadata": {"resourceVersion": "12"}, "source": {"host": "n05"}}]
    assert [word for word, _, _ in happenings(source())] == ["worker.evicted"]
    api.events = []
    assert source() == []
    assert api.asked[-1].startswith("Bearer secret /api/v1/events?watch=1&resourceVersion=12")
    api.status = 410
    assert source() == []
    api.status = 403
    with pytest.raises(OSError, match="Forbidden"):
        source()


@pytest.mark.parametrize(
    "rest", [b'{"type":"ADDED","obj', b"[1]\n", b'{"object":{"metadata":[]}}\n', b"[" * 9000 + b"\n"]
)
def test_an_answer_that_breaks_off_costs_nothing(rest: bytes, api: ApiServer, tmp_path: Path) -> None:
    """What came before half a line is told, once, and the watch goes on from there."""
    source = KubernetesEvents(api.url, tmp_path)
    assert source() == []
    api.events = [{"reason": "Evicted", "metadata": {"resourceVersion": "12"}, "source": {"host": "n05"}}]
    api.rest = rest
    assert [word for word, _, _ in happenings(source())] == ["worker.evicted"]
    api.events = []
    assert source() == []
    assert "resourceVersion=12" in api.asked[-1]


def test_a_cluster_without_kubernetes_is_a_gap(tmp_path: Path) -> None:
    """Where nobody answers the source says so."""
    with pytest.raises(OSError, match="events of Kubernetes"):
        KubernetesEvents("http://127.0.0.1:1", tmp_path)()


def states(nodes: str, jobs: str) -> Callable[[Sequence[str]], str]:
    """Answer as Slurm's commands do."""
    return lambda command: nodes if command == NODES else jobs


def test_slurm_tells_what_changed() -> None:
    """The first look is history; then drained, lost and recovered nodes and the states of jobs are events."""
    answers = {"now": states("n01|allocated|none\nn02|idle|none\n", "7|wm-64|RUNNING|None\n")}
    slurm = Slurm(lambda command: answers["now"](command))
    assert slurm() == []
    assert slurm() == []
    answers["now"] = states(
        "n01|drained*|[node_problem] Xid 79\nn02|down*|Not responding\n", "7|wm-64|NODE_FAIL|NodeDown\n"
    )
    found = happenings(slurm())
    assert [(word, subject) for word, subject, _ in found] == [
        ("node.cordoned", "n01"),
        ("node.missing", "n02"),
        ("scheduler.status", ""),
    ]
    assert found[0][2]["by"] == "node_problem"
    assert found[2][2] == {"state": "node_fail", "name": "wm-64", "id": "7", "reason": "NodeDown"}
    answers["now"] = states("n01|idle|none\nn02|idle|none\nn03|idle|none\n", "")
    assert [word for word, _, _ in happenings(slurm())] == ["node.uncordoned", "node.uncordoned", "node.joined"]


def test_a_node_without_slurm_is_a_gap() -> None:
    """A command that is not there, or fails, is an OSError like any other source's."""
    with pytest.raises(OSError, match="no-such-command"):
        run(["no-such-command-anywhere"])
    with pytest.raises(OSError, match="false: CalledProcessError"):
        run(["false"])


def test_a_source_is_asked_at_its_own_pace() -> None:
    """Between two questions there is nothing; a failure waits its turn too."""
    now = [0.0]
    calls: list[float] = []

    def source() -> Sequence[Finding]:
        calls.append(now[0])
        return [Happening(event="alert")]

    paced = Paced(source, 10.0, lambda: now[0])
    for moment in (0.0, 5.0, 9.9, 10.0, 15.0):
        now[0] = moment
        paced()
    assert calls == [0.0, 10.0]
