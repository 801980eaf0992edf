"""The way into `trainmaster`: what runs on nodes is small, and is the same command as among all."""

import subprocess
import sys

import pytest
import typer

from streams.cli import app
from streams.start import ON_NODES, small

DEAR = ("detectors", "faust", "fastapi", "google.protobuf", "kafka", "numpy", "playbooks", "scipy")
"""What a command on a node has no use for."""


@pytest.mark.parametrize("name", ON_NODES)
def test_a_command_on_a_node_imports_no_line(name: str) -> None:
    """Its module brings neither the detectors nor a web server nor a client of Kafka along."""
    code = f"import sys, {ON_NODES[name]}; print(sorted(set({DEAR}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ON_NODES)
def test_a_command_on_a_node_is_the_one_among_all(name: str) -> None:
    """It has the same options and arguments, whichever way it is put together."""
    alone, among = (typer.main.get_command(each) for each in (small(name), app))
    commands = [getattr(each, "commands")[name] for each in (alone, among)]  # noqa: B009 - of a group
    first, second = ([(one.name, one.opts, one.required) for one in each.params] for each in commands)
    assert first == second
    assert first


def test_words_that_are_no_command_are_refused() -> None:
    """Anything else goes to the whole, which knows what is no command."""
    done = subprocess.run([sys.executable, "-m", "streams", "agents"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "agents" in done.stderr
