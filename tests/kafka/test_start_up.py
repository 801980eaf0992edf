"""What cannot be reached or is not as it should be ends every command at its start, with one line that says why."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import Struct
from pydantic import SecretStr

from streams.agents.simulated import simulate
from streams.kafka.connection import NoKafka
from streams.kafka.topic_admin import apply, compare
from streams.settings import BadSettings, KafkaSettings, RedisSettings
from streams.stores.redis_client import NoRedis, connect
from tests.kafka.installation import Installation
from tests.services.fixtures import made
from tests.services.kafka import KafkaBroker, Listener
from tests.services.processes import free_port
from tests.services.redis import RedisServer
from tests.services.secured import Certificate, made_certificate, sasl_listener, tls_listener
from tests.waiting import until

pytestmark = pytest.mark.service
START = 4.0
"""The start-up time-out of the commands, seconds."""
LOADING = 90.0
"""What a busy machine may take to load some commands side by side, seconds."""
PREFIX, PARTITIONS = "start-up.", 2
USER, PASSWORD, REDIS_PASSWORD = "trainmaster", "open-sesame", "open-redis"
WRONG = "shut-sesame"
ALL = ("worker", "act", "api", "topics apply")
REFUSED = "refuses the credentials|hangs up on us, as on credentials that it refuses"
"""Which of the two depends on whether the client reads the broker's last word before it sees the line go dead."""
COPIES = ("worker", "act", "api")
"""The commands that need topics and Redis."""


class Ground(Struct, frozen=True):
    """Services that want credentials."""

    broker: KafkaBroker
    sasl: Listener
    tls: Listener
    certificate: Certificate
    redis: RedisServer


class Ended(Struct, frozen=True):
    """How a command ended."""

    command: str
    status: int
    out: str
    told: str


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A broker with three doors, topics on it, and a Redis with a password."""
    folder = tmp_path_factory.mktemp("secured")
    users = {USER: PASSWORD}
    certificate = made(lambda: made_certificate(folder))
    sasl, tls = sasl_listener(users), tls_listener(users, certificate)
    broker = made(lambda: KafkaBroker(folder, (sasl, tls)))
    redis = made(lambda: RedisServer(tmp_path_factory.mktemp("redis"), REDIS_PASSWORD, durable=False))
    broker.start()
    redis.start()
    apply(KafkaSettings(bootstrap=broker.bootstrap, prefix=PREFIX, partitions=PARTITIONS))
    yield Ground(broker, sasl, tls, certificate, redis)
    broker.process.kill()
    redis.process.kill()


def test_a_wrong_address(ground: Ground, tmp_path: Path) -> None:
    """Nobody listens there."""
    address = f"127.0.0.1:{free_port()}"
    for one in ended(ground, tmp_path, ALL, kafka__bootstrap=address):
        assert words(one).startswith(f"Kafka at {address} does not answer")
        assert "kafka.bootstrap" in words(one)


@pytest.mark.parametrize("case", ["nobody listens", "nobody answers", "wrong password", "another protocol"])
def test_the_time_out_is_kept(ground: Ground, case: str) -> None:
    """However there is no Kafka, that is said when the time for a start is over, and not long after."""
    seconds = 2.0
    with socket.create_server(("127.0.0.1", 0)) as mute:
        addresses = {
            "nobody listens": f"127.0.0.1:{free_port()}",
            "nobody answers": f"127.0.0.1:{mute.getsockname()[1]}",
            "wrong password": ground.sasl.bootstrap,
            "another protocol": ground.sasl.bootstrap,
        }
        settings = KafkaSettings(bootstrap=addresses[case], start=seconds)
        if case == "wrong password":
            settings = door(ground.sasl, password=WRONG)
        begin = time.monotonic()
        with pytest.raises(NoKafka, match=REFUSED if case == "wrong password" else "does not answer"):
            compare(settings)
        assert time.monotonic() - begin < seconds + 5.0


def test_missing_topics(ground: Ground, tmp_path: Path) -> None:
    """Nobody has made them; the line says how to."""
    for one in ended(ground, tmp_path, COPIES, kafka__prefix="other."):
        assert words(one).startswith("topic other.telemetry is missing; ")
        assert words(one).endswith("run `trainmaster topics apply`")


def test_a_wrong_partition_count(ground: Ground, tmp_path: Path) -> None:
    """The topics were made with another number of partitions, which cannot be changed in place."""
    for one in ended(ground, tmp_path, ALL, kafka__partitions="3"):
        assert words(one).startswith("topic start-up.telemetry has 2 partitions, 3 are expected; ")


def test_a_missing_redis(ground: Ground, tmp_path: Path) -> None:
    """Nobody listens there."""
    port = free_port()
    for one in ended(ground, tmp_path, COPIES, redis__url=f"redis://:{WRONG}@127.0.0.1:{port}/0"):
        assert words(one).startswith(f"Redis at 127.0.0.1:{port} does not answer")


def test_a_refused_redis_password(ground: Ground, tmp_path: Path) -> None:
    """Redis wants another password, or one at all."""
    where = f"127.0.0.1:{ground.redis.port}"
    for one in ended(ground, tmp_path, COPIES, redis__url=f"redis://:{WRONG}@{where}/0"):
        assert words(one) == f"Redis at {where} refuses the credentials"
    with pytest.raises(NoRedis, match="refuses the credentials"):
        connect(RedisSettings(url=SecretStr(f"redis://{where}/0")))


def test_refused_credentials(ground: Ground, tmp_path: Path) -> None:
    """Kafka knows another password of that user."""
    for one in ended(ground, tmp_path, ALL, **credentials(ground.sasl, kafka__password=WRONG)):
        assert words(one).startswith(f"Kafka at {ground.sasl.bootstrap} ")
        assert words(one).endswith(f"(SASL_PLAINTEXT, PLAIN, user {USER})")
        assert re.search(REFUSED, words(one))


def test_a_way_in_that_is_not_this_ones(ground: Ground, tmp_path: Path) -> None:
    """Another mechanism, a certificate that nobody vouches for, and a file that is not there are told apart."""
    other = door(ground.sasl, mechanism="SCRAM-SHA-256")
    with pytest.raises(NoKafka, match=r"takes no credentials of this kind|hangs up on us"):
        compare(other)
    with pytest.raises(NoKafka, match=r"cannot agree on TLS \(certificate verify failed"):
        compare(door(ground.tls))
    with pytest.raises(BadSettings, match=rf"a certificate or key cannot be read \({tmp_path}/no-such-file\)"):
        compare(door(ground.tls, ca=str(tmp_path / "no-such-file")))


def test_good_credentials_lead_all_the_way(ground: Ground, tmp_path: Path) -> None:
    """A worker with a password in the open and a server over TLS: what is posted comes back as an incident."""
    installation = Installation("credentials", ground.broker.bootstrap, ground.redis.url, tmp_path / "all", 1)
    trusted = {"kafka__ca": str(ground.certificate.public)}
    worker = installation.start("worker", **environment(credentials(ground.sasl)))
    api = installation.start("api", **environment({**credentials(ground.tls), **trusted}))
    lines = list(simulate("xid", 5, defects=False))[700:]
    status, answer = api.post("/telemetry", b"".join(lines))
    assert (status, answer["accepted"]) == (200, len(lines))
    installation.until_done()
    until(lambda: api.get("/incidents")["items"], 30.0, "no incident came back")
    (incident,) = api.get("/incidents")["items"]
    assert incident["cause"] == "gpu_failed"
    assert not [word for word in (PASSWORD, REDIS_PASSWORD) if word in worker.log + api.log]
    installation.close()


def door(listener: Listener, **given: str) -> KafkaSettings:
    """The same for a client in this process; it gives up after two seconds."""
    told = {name.removeprefix("kafka__"): value for name, value in credentials(listener).items()}
    return KafkaSettings.model_validate({**told, "start": 2.0, **given})


def credentials(listener: Listener, **given: str) -> dict[str, str]:
    """Settings that lead through a door."""
    return {
        "kafka__bootstrap": listener.bootstrap,
        "kafka__security": listener.protocol,
        "kafka__username": USER,
        "kafka__password": PASSWORD,
        **given,
    }


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Settings as environment variables."""
    return {f"TRAINMASTER_{name.upper()}": value for name, value in given.items()}


def ended(ground: Ground, folder: Path, commands: tuple[str, ...], **given: str) -> list[Ended]:
    """Run commands side by side; each has to end by itself with one line and no secret in it."""
    usual = {
        "kafka__bootstrap": ground.broker.bootstrap,
        "kafka__prefix": PREFIX,
        "kafka__partitions": str(PARTITIONS),
        "kafka__start": str(START),
        "redis__url": ground.redis.url,
    }
    settings = {**os.environ, **environment({**usual, **given})}
    with ThreadPoolExecutor(len(commands)) as pool:
        found = list(pool.map(lambda command: _run(command, folder / command, settings), commands))
    for one in found:
        assert (one.status, one.out) == (1, ""), one
        assert not [word for word in (PASSWORD, REDIS_PASSWORD, WRONG) if word in one.told], one
    return found


def words(one: Ended) -> str:
    """The only line a command has said."""
    (line,) = one.told.splitlines()
    assert line.startswith("trainmaster: ")
    return line.removeprefix("trainmaster: ")


def _run(command: str, folder: Path, settings: dict[str, str]) -> Ended:
    folder.mkdir(parents=True)
    port = {"topics apply": [], "api": ["--port", "0"]}.get(command, ["--health", "0"])
    state = [] if command == "topics apply" else ["--state", str(folder / "state")]
    line = [sys.executable, "-m", "streams", *command.split(), *port, *state]
    done = subprocess.run(line, env=settings, capture_output=True, text=True, timeout=START + LOADING, check=False)
    return Ended(command, done.returncode, done.stdout, done.stderr)
