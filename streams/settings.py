"""Settings: read once at the start from a file and the environment, checked, and handed down.

`trainmaster.toml` (or the file named by --config) goes first, the environment over it: `TRAINMASTER_PORT=9000`, nested
ones with two underscores: `TRAINMASTER_SCHEDULER__CORDON='["scontrol", ...]'`. Unknown keys are errors.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from schemas.action import Mode

Seconds = Annotated[float, Field(gt=0)]
Table = dict[str, Any]  # Any: each sink declares its own fields, checked where it is built


class KafkaSettings(BaseModel):
    """How to reach Kafka, and how the workers share the work.

    Attributes:
        bootstrap: addresses, comma-separated; `KAFKA_BOOTSTRAP_SERVERS` is read where it is not set.
        prefix: before every topic's name, with its own separator: `prod.`.
        security: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
        mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
        username: for SASL; `password` likewise.
        ca: file with the authority's certificate; "" takes the system's.
        certificate: file with this client's certificate, and `key` the one with its key.
        partitions: of every topic instead of what the table says; 0 takes the table's.
        replication: copies of every partition.
        group: of the workers.
        session: seconds after which a worker that fell silent loses its partitions.
        start: seconds within which everything has to be reached.
        deliver: seconds until something that Kafka has not confirmed counts as failed, and the worker ends.
        reread: messages that are read again at most where a memory is missing.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    bootstrap: str = ""
    prefix: str = ""
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    username: str = ""
    password: SecretStr = SecretStr("")
    ca: str = ""
    certificate: str = ""
    key: str = ""
    partitions: Annotated[int, Field(ge=0)] = 0
    replication: Annotated[int, Field(ge=1)] = 1
    group: str = "trainmaster"
    session: Annotated[float, Field(ge=1.0, le=300.0)] = 15.0
    start: Seconds = 20.0
    deliver: Annotated[float, Field(ge=1.0)] = 30.0
    reread: Annotated[int, Field(ge=0)] = 50_000


class RedisSettings(BaseModel):
    """How to reach Redis.

    Attributes:
        url: `redis://` or `rediss://`, with the password in it; `REDIS_URL` is read where it is not set.
        prefix: before every key.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: SecretStr = SecretStr("")
    prefix: str = "trainmaster"


class FollowedLog(BaseModel):
    """Logs to follow, and whose they are.

    Attributes:
        path: with `*` and `?`; `**` goes into folders.
        job: "" for the jobs that run on the node.
        attempt: start number of that job.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    path: str
    job: str = ""
    attempt: Annotated[int, Field(ge=0)] = 1


class AgentSettings(BaseModel):
    """What the node agent looks at beside the trainers' files and the host.

    Attributes:
        every: seconds from one sample of the node to the next.
        gpu: whether to ask the NVIDIA driver; without one the agent says so once and goes on.
        node: whether to look at pressure, links, mounts and the clock.
        logs: logs to follow.
        scrape: pages of exporters on this node.
        dumps: pattern of the flight recorder's dumps; "" for none.
        kernel: whether to read the kernel's log; it needs the right to do so.
        slurm: whether to ask Slurm for the states of nodes and jobs; one agent of a cluster is enough.
        kubernetes: whether to ask Kubernetes for its events; one agent of a cluster is enough.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    every: Seconds = 5.0
    gpu: bool = True
    node: bool = True
    logs: list[FollowedLog] = []
    scrape: list[str] = []
    dumps: str = ""
    kernel: bool = True
    slurm: bool = False
    kubernetes: bool = False


class BadSettings(ValueError):
    """Settings that cannot be used; the message names the field and where it came from."""


class Settings(BaseSettings):
    """Everything that can be set.

    Attributes:
        state: folder for the database, the agent's spool and post-mortems.
        host: address the server listens on; anything but loopback needs a token.
        port: its port; 0 picks a free one.
        token: what callers of the API must present.
        link: where people reach the page, for links in messages; "" means the server's own address.
        lateness: seconds a record may come late and still be used.
        hold: seconds a finding waits for others before it opens an incident.
        alarms_per_job_week: false alarms on a job's pace (step time, tokens a second) that are borne in a week; from it
            and the job's own step time follows the smallest change worth one. Not set: 4 %, which jobs with steps of a
            second pass by chance about once a week.
        tick: seconds from one tick to the next; 0 for none: silence is then judged by the other sources alone.
        snapshot: seconds from one snapshot of memory to the next.
        causes: folder with causes instead of the ones that ship.
        priors: cause or layer -> nats it is believed in more (or less) before anything is seen; say `gpu = 0.5` where
            most trouble is of the GPUs.
        playbooks: folder with playbooks instead of the ones that ship.
        modes: playbook -> observe, ask or act, instead of what its file says.
        sinks: name -> kind and configuration of each way to tell people.
        scheduler: cordon, restart, stop -> command as a list of words.
        kafka: for the commands `topics`, `worker`, `act` and `api`.
        redis: likewise.
        agent: for the command `agent`.
        health: port of /livez, /readyz and /metrics of a worker or runner; 0 picks a free one.
        lease: seconds a target stays taken after its runner has died; a try may take three quarters of it.
    """

    model_config = SettingsConfigDict(
        env_prefix="TRAINMASTER_", env_nested_delimiter="__", extra="forbid", hide_input_in_errors=True
    )

    state: Path = Path(".trainmaster")
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8420
    token: SecretStr | None = None
    link: str = ""
    lateness: Annotated[float, Field(ge=0)] = 10.0
    hold: Annotated[float, Field(ge=0)] = 10.0
    alarms_per_job_week: Annotated[float, Field(gt=0, le=10_000)] | None = None
    tick: Annotated[float, Field(ge=0)] = 5.0
    snapshot: Seconds = 10.0
    causes: Path | None = None
    priors: dict[str, Annotated[float, Field(ge=-2.0, le=2.0)]] = {}
    playbooks: Path | None = None
    modes: dict[str, Mode] = {}
    sinks: Annotated[dict[str, Table], Field(repr=False)] = {}
    scheduler: dict[str, list[str]] = {}
    kafka: KafkaSettings = KafkaSettings()
    redis: RedisSettings = RedisSettings()
    agent: AgentSettings = AgentSettings()
    health: Annotated[int, Field(ge=0, le=65535)] = 8421
    lease: Annotated[float, Field(ge=1.0)] = 60.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - a .env file is not read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - nor a folder of secrets
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options given in code go first, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def database(self) -> Path:
        """The file that holds journal, snapshots, archive and leases."""
        return self.state / "trainmaster.db"


def load_settings(file: Path | None = None, given: Table | None = None) -> Settings:
    """Read the settings.

    Args:
        file: TOML; None for `trainmaster.toml` in this folder, if there is one.
        given: settings that go before file and environment.

    Raises:
        BadSettings: a value cannot be used, or the file is not there.
    """
    if file is not None and not file.is_file():
        raise BadSettings(f"{file}: no such file")

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file or "trainmaster.toml")

    try:
        return FromFile(**(given or {}))
    except ValidationError as fault:
        first = fault.errors()[0]
        raise BadSettings(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as fault:
        raise BadSettings(f"{file or 'trainmaster.toml'}: {fault}") from None
