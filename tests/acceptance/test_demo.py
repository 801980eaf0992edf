"""The demo, as a newcomer runs it."""

import json
import subprocess
import sys

import pytest

DEADLINE = 120


@pytest.mark.service
def test_the_demo_ends_with_one_incident_cured_and_proved() -> None:
    """The worked case: one incident, the storage path as cause, found early, both cures applied and verified."""
    command = [
        sys.executable,
        "-m",
        "streams",
        "demo",
        "--exit",
        "--json",
        "--port",
        "0",
        "--speed",
        "60",
        "--seed",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    whole = json.loads(done.stdout)
    [incident] = whole["incidents"]
    assert (incident["cause"], incident["layer"], incident["state"]) == (
        "loader_starved_by_storage",
        "storage",
        "resolved",
    )
    assert [one["id"] for one in incident["suspects"]] == ["/data"]
    onsets = {one["signal"]: one["onset_step"] for one in reversed(whole["detections"])}
    assert 18_000 <= incident["onset_step"] <= onsets["storage_retries_total"] < onsets["checkpoint_seconds"] == 18_300
    verified = {one["action"]: one for one in incident["actions"] if one["verification"] == "verified"}
    assert set(verified) == {"loader.use_cache", "checkpoint.defer"}
    assert "95 % confidence" in verified["loader.use_cache"]["detail"]
    ruled_out = {one["cause"]: one["because"] for one in incident["ruled_out"]}
    assert "loss: 2.3" in ruled_out["numeric_blow_up"]
    assert "grad_norm: 0.3" in ruled_out["numeric_blow_up"]
    assert "MHz" in ruled_out["slow_gpu"]
    assert incident["taint"]["from_step"] == incident["onset_step"]
    assert 18_300 < incident["taint"]["to_step"] < 18_400
    assert 1.0 < incident["gpu_hours_lost"] < 5.0
