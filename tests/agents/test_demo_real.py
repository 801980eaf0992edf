"""The real demo, as a newcomer runs it: one command, four processes, nothing simulated."""

import json
import os
import signal
import subprocess
import sys

import pytest

DEADLINE = 240


def run_demo() -> tuple[int, bytes, str]:
    """Run the demo to its end; give its exit code, what it gave and what it said."""
    command = [sys.executable, "-m", "streams", "demo", "--real", "--exit", "--json", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as running:
        try:
            given, said = running.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # the store and the training too
            _, said = running.communicate()
            pytest.fail(f"the demo did not end within {DEADLINE} s: {said.decode()[-2000:]}")
        return running.returncode, given, said.decode()


@pytest.mark.service
def test_a_real_training_is_cured_of_a_slow_store() -> None:
    """One incident, caused by the storage path; the switch to the copy is verified on the job, and nobody is paged.

    A machine that others use as well may be slow for reasons of its own, which is told too, but never as the loader's.
    """
    code, given, said = run_demo()
    assert code == 0, said[-4000:]
    told = json.loads(given)["incidents"]
    [incident] = [one for one in told if one["layer"] in ("storage", "data")]
    assert (incident["cause"], incident["state"]) == ("loader_starved_by_storage", "resolved")
    [switch] = [one for one in incident["actions"] if one["action"] == "loader.use_cache"]
    assert switch["verification"] == "verified"
    assert switch["step"] > incident["onset_step"]
    pages = [entry for one in told for entry in one["actions"] if entry["action"] == "notify"]
    assert pages
    assert {(one["decision"], one["outcome"]) for one in pages} == {("would_act", "")}
