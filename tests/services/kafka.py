"""A real Apache Kafka, one node in KRaft mode, from jars that Maven brings; no container engine is needed."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError
from msgspec import Struct

from tests.services.processes import ServerProcess, free_port, listens

POM = Path(__file__).parents[2] / "deploy" / "kafka" / "pom.xml"
OLDEST_JAVA = 17
_CLUSTER = "dHJhaW5tYXN0ZXItdGVzdA"
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners={addresses},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={addresses}
listener.security.protocol.map={protocols},CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
num.partitions=1
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.segment.bytes=16777216
log.cleaner.dedupe.buffer.size=2097152
num.network.threads=2
num.io.threads=2
background.threads=2
"""


class Listener(Struct, frozen=True):
    """One more door of a broker, beside the one that is open to everybody.

    Attributes:
        name: in capital letters.
        protocol: as Kafka calls it.
        port: on loopback.
        properties: lines of the broker's configuration that belong to it.
    """

    name: str
    protocol: str
    port: int
    properties: str

    @property
    def bootstrap(self) -> str:
        """Its address for clients."""
        return f"127.0.0.1:{self.port}"


class Unavailable(RuntimeError):
    """There is no way to a broker here; the message says what to install."""


class KafkaBroker:
    """A broker of our own on free loopback ports; its data survive a restart and die with the folder.

    Args:
        folder: for data, configuration and log.
        listeners: further doors.
    """

    def __init__(self, folder: Path, listeners: Sequence[Listener] = ()) -> None:
        self.port = free_port()
        self._libs = jars()
        self._properties = folder / "server.properties"
        doors = (Listener("PLAINTEXT", "PLAINTEXT", self.port, ""), *listeners)
        text = _PROPERTIES.format(
            addresses=",".join(f"{one.name}://127.0.0.1:{one.port}" for one in doors),
            protocols=",".join(f"{one.name}:{one.protocol}" for one in doors),
            controller=free_port(),
            data=folder / "data",
        )
        self._properties.write_text(text + "".join(one.properties for one in doors))
        java = ("java", "-Xmx512m", "-Xms256m", "-XX:+UseSerialGC", "-cp", f"{self._libs}/*")
        self.process = ServerProcess((*java, "kafka.Kafka", str(self._properties)), folder, self._answers)
        storage = (*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(self._properties))
        subprocess.run(storage, check=True, capture_output=True, cwd=folder)

    @property
    def bootstrap(self) -> str:
        """Its address for clients."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it serves."""
        self.process.start()

    def restart(self) -> None:
        """Stop it and start it again with its data."""
        self.process.stop()
        self.process.start()

    def _answers(self) -> bool:
        if not listens(self.port):
            return False
        with contextlib.suppress(KafkaError, OSError):
            admin = KafkaAdminClient(
                bootstrap_servers=self.bootstrap, bootstrap_timeout_ms=3000, request_timeout_ms=5000
            )
            try:
                admin.list_topics()
            finally:
                admin.close()
            return True
        return False


def jars() -> Path:
    """The folder of the broker's jars, brought by Maven once per version and kept outside the tree.

    Raises:
        Unavailable: Java or Maven is missing, or Maven could not bring them.
    """
    _need_java()
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "trainmaster" / f"kafka-{_version()}"
    if (folder / "complete").is_file():
        return folder / "libs"
    if shutil.which("mvn") is None:
        raise Unavailable("Maven is missing (Debian: apt-get install maven); it brings the jars of Apache Kafka")
    with _only_one(folder):
        if not (folder / "complete").is_file():
            _bring(folder)
    return folder / "libs"


def _bring(folder: Path) -> None:
    shutil.rmtree(folder / "libs", ignore_errors=True)
    command = (
        "mvn",
        "-q",
        "-B",
        "-f",
        str(POM),
        "dependency:copy-dependencies",
        f"-DoutputDirectory={folder / 'libs'}",
    )
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"Maven could not bring Apache Kafka: {done.stdout.decode(errors='replace')[-500:]}")
    (folder / "complete").touch()


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Two test runs must not write the same folder at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _need_java() -> None:
    words = f"Java {OLDEST_JAVA} or newer is missing (Debian: apt-get install default-jre-headless)"
    if shutil.which("java") is None:
        raise Unavailable(words)
    told = subprocess.run(("java", "-version"), capture_output=True, check=False).stderr.decode(errors="replace")
    found = re.search(r'version "(\d+)', told)
    if found is None or int(found[1]) < OLDEST_JAVA:
        raise Unavailable(words)


def _version() -> str:
    space = {"m": "http://maven.apache.org/POM/4.0.0"}
    element = ET.parse(POM).find("m:dependencies/m:dependency/m:version", space)
    assert element is not None
    assert element.text
    return element.text
