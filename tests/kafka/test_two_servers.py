"""Two servers over one installation: what one says the other says too, and neither hides what is missing."""

import base64
import json

import pytest

from schemas.codec import encode
from streams.agents.simulated import simulate
from streams.kafka.log_producer import log_producer
from streams.kafka.message import Letter
from tests.actions.samples import an_incident
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation, Process
from tests.kafka.orders import endings, results
from tests.kafka.reading import Heard, Reader, pages
from tests.services.kafka import KafkaBroker
from tests.services.redis import RedisServer
from tests.stores.at_once import at_once
from tests.waiting import until

pytestmark = pytest.mark.service
SECONDS = 60.0
INCIDENTS = 12
SAID_BY_STEP = 1450
"""By then the storage fault has been recognised and a person asked."""
MODES = {"loader-to-nvme-cache": "ask", "tell-people": "observe"}
BAD = b'{"kind":"steps","v":1,"job":"sim-16"'


def say(installation: Installation, revision: int) -> None:
    """Put one more revision of every incident on the topic."""
    producer = log_producer(installation.settings, "test")
    told = [an_incident(id=f"incident-{number}", revision=revision) for number in range(INCIDENTS)]
    producer.deliver([Letter("incidents", one.id, encode(one)) for one in told])
    producer.close()


def hear(server: Process, after: int | None, wanted: int) -> list[Heard]:
    """Listen to a server until so much was heard."""
    reader = Reader(server, after)
    until(lambda: len(reader.heard) >= wanted, SECONDS, f"{wanted} events were not heard")
    return reader.leave()


def test_a_reader_goes_from_one_to_the_other(new_installation: NewInstallation) -> None:
    """Whichever server is asked, also one that is behind: nothing is heard twice or missed, all in one order."""
    installation = new_installation(4)
    one, other = installation.start_together("api", "api")
    listening = Reader(one, None)
    for revision in range(1, 5):
        say(installation, revision)
    until(lambda: len(listening.heard) == 4 * INCIDENTS, SECONDS, "not everything was heard")
    heard = listening.leave()
    assert [event.id for event in heard] == list(range(1, 4 * INCIDENTS + 1))
    assert hear(one, 0, len(heard)) == hear(other, 0, len(heard)) == heard
    whole: list[Heard] = []
    while len(whole) < len(heard):
        whole += hear((one, other)[len(whole) % 2], whole[-1].id if whole else 0, 1)[: 1 + len(whole) % 7]
    assert whole == heard
    other.freeze()
    say(installation, 5)
    ahead = hear(one, heard[-1].id, INCIDENTS)
    other.thaw()
    behind = Reader(other, ahead[-1].id)
    say(installation, 6)
    until(lambda: len(behind.heard) >= INCIDENTS, SECONDS, "the server that was behind says nothing")
    assert behind.leave() == hear(one, ahead[-1].id, INCIDENTS)
    listed = [item["id"] for item in pages([one, other], "/incidents", 5)]
    assert listed == [item["id"] for item in one.get("/incidents?limit=500")["items"]]
    assert len(set(listed)) == len(listed) == INCIDENTS
    assert [event.event for event in hear(other, 10_000, 1)] == ["io.trainmaster.reset"]


def test_what_one_takes_in_both_know(new_installation: NewInstallation) -> None:
    """Telemetry through either, answers at either: one story, one dead letter for each bad line, one action."""
    installation = new_installation(2, TRAINMASTER_MODES=json.dumps(MODES))
    servers = installation.start_together("api", "api", "worker", "act")[:2]
    lines = [line.strip() for line in simulate("storage", 2, defects=False)]
    sent = [line for line in lines if json.loads(line).get("step", 0) <= SAID_BY_STEP]
    jobs = [job.encode() for job in ("sim-one", "sim-two")]
    accepted = 0
    for turn, at in enumerate(range(0, len(sent), 100)):
        body = b"\n".join(line.replace(b"sim-16", job) for job in jobs for line in sent[at : at + 100])
        status, answer = servers[turn % 2].post("/telemetry", body)
        assert (status, answer["rejected"]) == (200, 0)
        accepted += answer["accepted"]
    assert accepted == 2 * len(sent)
    for server in servers:
        status, answer = server.post("/telemetry", sent[0] + b"\n" + BAD)
        assert (status, answer["accepted"], answer["rejected"]) == (200, 1, 1)
    until(lambda: all(one.get("/dead")["items"] for one in servers), SECONDS, "the bad line is not shown")
    for server in servers:
        assert [base64.b64decode(one["raw"]) for one in server.get("/dead")["items"]] == [BAD]
    until(lambda: all(len(asked(one)) == len(jobs) for one in servers), SECONDS, "nobody was asked")
    first, second = asked(servers[0])
    assert asked(servers[1]) == [first, second]
    assert servers[1].post(f"/requests/{first['id']}/approve", b'{"by":"ann"}')[0] == 202
    assert servers[0].post(f"/requests/{first['id']}/approve", b'{"by":"bob"}')[0] == 200
    assert servers[0].post(f"/requests/{first['id']}/reject", b'{"by":"bob"}')[0] == 409
    words = ("approve", "reject")
    answers = at_once(2, lambda who: servers[who].post(f"/requests/{second['id']}/{words[who]}", b'{"by":"ann"}')[0])
    assert sorted(answers) == [202, 409]
    approved = 1 + (answers[0] == 202)
    until(lambda: len(results(installation)) >= approved, SECONDS, "what was approved was not done")
    ended = {one.request: (one.action, one.outcome) for one in results(installation)}
    assert list(ended.values()) == [("loader.use_cache", "done")] * approved
    assert len(installation.said("control")) == approved
    told = [subject for event, subject in endings(installation) if event == "action.done"]
    assert sorted(told) == sorted(ended)


def asked(server: Process) -> list[dict[str, str]]:
    """What a server shows people to decide on."""
    found = [one["request"] for one in server.get("/requests")["items"]]
    return [one for one in found if one["decision"] == "asked"]


def test_a_server_says_what_it_lacks(
    own_kafka: KafkaBroker, own_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Without Kafka or Redis it refuses what it cannot do, still answers what it knows, and recovers by itself."""
    folder = tmp_path_factory.mktemp("installation")
    installation = Installation("lacking", own_kafka.bootstrap, own_redis.url, folder / "installation", 2)
    server = installation.start("api")
    line = next(iter(simulate("quiet", 1, defects=False)))
    assert server.post("/telemetry", line)[0] == 200
    say(installation, 1)
    until(lambda: len(server.get("/incidents")["items"]) == INCIDENTS, SECONDS, "the incidents are not shown")

    own_redis.process.kill()
    until(lambda: any("Redis" in fault for fault in server.faults()), SECONDS, "it is ready without Redis")
    assert server.post("/killswitch", b'{"by":"ann","on":true}')[0] == 503
    assert server.post("/telemetry", line)[0] == 200
    assert len(server.get("/incidents")["items"]) == INCIDENTS
    own_redis.start()
    until(server.ready, SECONDS, "it is not ready again")
    assert server.post("/killswitch", b'{"by":"ann","on":true}')[0] == 200

    own_kafka.process.kill()
    status, problem = server.post("/telemetry", line)
    assert (status, "Kafka does not answer" in problem["detail"]) == (503, True)
    until(lambda: any("Kafka" in fault for fault in server.faults()), SECONDS, "it is ready without Kafka")
    assert len(server.get("/incidents")["items"]) == INCIDENTS
    assert server.lives()
    own_kafka.start()
    until(server.ready, SECONDS, "it is not ready again")
    assert server.post("/telemetry", line)[0] == 200
    say(installation, 2)
    until(
        lambda: {one["revision"] for one in server.get("/incidents")["items"]} == {2},
        SECONDS,
        "what came later is not shown",
    )
    assert not server.has_ended()
    installation.close()
