"""The compose files and the image say what our commands and settings understand."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from streams.cli import app
from streams.settings import load_settings
from tests.services.kafka import POM

TOP = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((TOP / "docker-compose.yml").read_text())["services"]
TEST_SERVICES = yaml.safe_load((TOP / "deploy" / "test-services.yml").read_text())["services"]
OURS = sorted(name for name, one in COMPOSE.items() if one["image"] == "trainmaster")


def test_an_installation_is_whole() -> None:
    """Kafka, Redis, topics, two workers, a runner, a server and a job."""
    commands = [COMPOSE[name]["command"][0] for name in OURS]
    assert sorted(commands) == ["act", "api", "simulate", "topics", "worker", "worker"]
    assert {"kafka", "redis"} <= set(COMPOSE)


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_one_of_ours(name: str) -> None:
    """The words of a service are a command with its options."""
    command: Any = get_command(app)
    words = list(COMPOSE[name]["command"])
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context(name, words)


@pytest.mark.parametrize("name", OURS)
def test_every_setting_is_one_of_ours(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment of a service can be read, and leads to the broker and the Redis of the file."""
    monkeypatch.chdir(tmp_path)
    for key, value in COMPOSE[name]["environment"].items():
        monkeypatch.setenv(key, value)
    settings = load_settings()
    assert settings.kafka.bootstrap == "kafka:9092"
    assert settings.redis.url.get_secret_value() == "redis://redis:6379/0"


@pytest.mark.parametrize("services", [COMPOSE, TEST_SERVICES])
def test_every_file_runs_the_broker_that_is_tested(services: dict[str, Any]) -> None:
    """The image has the version of the jars."""
    version = re.search(r"<artifactId>kafka_2.13</artifactId>\s*<version>([^<]+)<", POM.read_text())
    assert version is not None
    assert services["kafka"]["image"] == f"apache/kafka:{version[1]}"


def test_nothing_is_published_to_other_machines() -> None:
    """Ports are bound to loopback."""
    ports = [port for one in COMPOSE.values() for port in one.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_gets_what_it_copies() -> None:
    """Whatever the Dockerfile copies is let through by .dockerignore, and exists."""
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (TOP / "Dockerfile").read_text(), re.MULTILINE)
    let_through = {line[1:] for line in (TOP / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {word for line in copied for word in line.split()} == let_through
    assert all((TOP / word).exists() for word in let_through)
