"""What can be seen and what not, with the way to the rest; and whether a run may start."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from detectors.catalogue import DETECTORS
from playbooks.load import load_causes
from schemas.codec import encode
from streams.agents.finding import Happening, Sample
from streams.agents.stamp import Stamp
from streams.agents.trainer import Hook
from streams.readiness.checks import Check, configuration, gpus, path, placement
from streams.readiness.coverage import given, needs, runs, sight
from streams.readiness.fixes import fixes
from streams.readiness.probe import of_lines, of_node
from streams.readiness.sign_needs import SIGN_NEEDS
from streams.stages.detect.signs.catalogue import CATALOGUE as SIGNS
from tests.agents.recording import RecordingServer, run, until

CAUSES = {cause.cause: cause for cause in load_causes()}

WITHOUT = {
    "silence",
    "history.lost",
    "source.gap",
    "gpu.lost",
    "agent.dropped",
    "log.line",
    "job.incident",
    "source_age_seconds",
    "checkpoint",
    "busy_power_watts",
    "busy_sm_active",
    "busy_temperature_c",
    "config.drift",
    "job.fault",
}
"""What only we ourselves can say."""


def test_every_detector_says_what_it_needs() -> None:
    """A detector of the catalogue cannot be judged unless its needs stand in the table."""
    assert {name for name in DETECTORS if not needs(name)} == set()


def test_every_sign_says_what_it_needs() -> None:
    """A sign has its needs in the table, and without them no cause that rests on it alone can be seen."""
    assert {sign.name for sign in SIGNS} == SIGN_NEEDS.keys()
    blind = sight(CAUSES["labels_broken"], given(["cpu_util"], ["xid"]))
    assert (blind.share, blind.opens, blind.missing) == (0.0, False, ("loss",))
    assert sight(CAUSES["labels_broken"], given(["loss"], [])).opens


def test_the_end_of_a_log_is_looked_at(tmp_path: Path) -> None:
    """What a trainer prints is given, and what it would print of a fault; a pattern without files is trouble."""
    (tmp_path / "train.log").write_text("iter 7: loss 2.5, time 13.80ms, mfu 20.00%\niter 8: loss 2.5, time 13.80ms\n")
    patterns = [str(tmp_path / "*.log"), str(tmp_path / "*.none")]
    probe = of_node({}, None, kernel=tmp_path / "none", logs=patterns)
    assert {"loss", "step_seconds"} <= probe.signals
    assert {"nccl.timeout", "rank.exit"} <= probe.events
    assert f"log {tmp_path}/*.none: there is none" in probe.troubles


def test_a_cause_is_seen_by_the_weight_of_its_clues() -> None:
    """With all a cause needs its share is whole; with nothing it is blind, and the weightiest clue is named first."""
    cause = CAUSES["gpu_thermal"]
    nothing, clocks = sight(cause, given([], [])), sight(cause, given(["sm_clock_mhz", "temperature_c"], []))
    assert (nothing.share, nothing.opens) == (0.0, False)
    assert nothing.missing[0] == "throttle_hw_thermal"
    assert 0.1 < clocks.share < 0.3
    assert not clocks.opens
    whole = sight(cause, given(["throttle_hw_thermal", "throttle_sw_thermal", "throttle_hw_slowdown", "sm_clock_mhz",
                                "temperature_c", "compute_seconds"], []))  # fmt: skip
    assert (whole.share, whole.opens, whole.missing) == (1.0, True, ())


def test_what_the_pipeline_derives_counts_as_given() -> None:
    """A trainer that says loader and step time gives the loader's share too, and the detectors of it."""
    there = given(["loader_seconds", "step_seconds"], [])
    assert sight(CAUSES["loader_starved_by_storage"], there).opens
    assert runs("sustained", there)
    assert not runs("slow_rank", there)


def test_every_missing_name_of_the_catalogue_has_a_fix_or_is_ours() -> None:
    """For nearly everything that a shipped cause looks at there is a line to take over; the others are listed here."""
    missing = {name for cause in CAUSES.values() for name in sight(cause, given([], [])).missing}
    fixed = {name for fix in fixes(missing) for name in fix.brings}
    assert missing - fixed - WITHOUT == set()


def test_the_counters_file_has_fields_of_the_exporter() -> None:
    """For missing GPU signals the lines of dcgm-exporter's counters file are ready, each once."""
    (fix,) = fixes(["sm_active", "hbm_active", "throttle_hw_thermal", "throttle_sw_thermal"])
    assert fix.text.splitlines() == [
        "DCGM_FI_PROF_DRAM_ACTIVE, gauge, hbm_active.",
        "DCGM_FI_PROF_SM_ACTIVE, gauge, sm_active.",
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS, gauge, reasons for low clocks.",
    ]


def test_a_node_and_its_trainer_are_looked_at(tmp_path: Path) -> None:
    """Sources that fail are troubles, the hook's signals are there, and so is what the kernel's log would bring."""
    hook = Hook(str(tmp_path), "wm-64", 0)
    with hook.step(1) as s:
        s.log(loss=1.0)
    hook.flush()

    def broken() -> list[Sample]:
        raise OSError("no driver")

    sources = {"gpu": broken, "node": lambda: [Sample(of="node", values={"load": [1.0]})]}
    probe = of_node(sources, tmp_path, kernel=tmp_path / "none")
    assert {"step_seconds", "loss", "load"} <= probe.signals
    assert probe.troubles == ["gpu: no driver", f"kernel log: {tmp_path / 'none'} cannot be read"]
    assert "xid" not in probe.events
    assert "checkpoint.end" in probe.events


def test_a_record_is_judged_by_what_is_in_it() -> None:
    """Of recorded telemetry the names count; lines that cannot be read are passed over."""
    stamp = Stamp("n", "c", 1.0, 1)
    lines = [
        encode(stamp.samples("j", 1, 1.0, Sample(of="gpu", ids=["g"], values={"power_watts": [1.0]}))),
        encode(stamp.event("j", 1, 1.0, "xid", {})),
        b"{broken",
    ]
    probe = of_lines(lines)
    assert probe.signals == {"power_watts"}
    assert "xid" in probe.events


def command(*words: str, folder: Path) -> tuple[int, str]:
    """Run a command in a folder; give its exit code and its output."""
    done = subprocess.run(
        [sys.executable, "-m", "streams", *words], capture_output=True, text=True, cwd=folder, timeout=120, check=False
    )
    return done.returncode, done.stdout


def test_doctor_on_this_machine_names_what_is_missing(tmp_path: Path) -> None:
    """Without GPU and trainer it says so, names blind causes, offers the fixes, and ends with 3."""
    code, out = command("doctor", "--json", folder=tmp_path)
    said = json.loads(out)
    assert code == 3
    assert any("NVIDIA driver" in trouble for trouble in said["troubles"])
    assert any("trainer" in trouble for trouble in said["troubles"])
    assert {"cpu_util", "memory_available_bytes"} <= set(said["signals"])
    assert said["detectors"]["slow_rank"] is False
    blind = {cause["cause"] for cause in said["causes"] if not cause["opens"]}
    assert {"gpu_thermal", "slow_gpu"} <= blind
    assert any("hook.step" in fix["text"] for fix in said["fixes"])


def levels(checks: list[Check]) -> list[tuple[str, str]]:
    """Give questions and answers in short."""
    return [(check.check, check.level) for check in checks]


def test_sick_gpus_fail_the_preflight() -> None:
    """Rows that wait for a reset, lost and missing GPUs fail; link errors warn; healthy ones pass."""
    well = Sample(of="gpu", ids=["GPU-0"], values={"ecc_dbe_volatile_total": [0.0], "throttle_hw_thermal": [None]})
    assert levels(list(gpus([well], 1))) == [("gpus", "ok")]
    assert levels(list(gpus([well], 8))) == [("gpus", "failed")]
    sick = Sample(
        of="gpu",
        ids=["GPU-0", "GPU-1"],
        values={"remapped_rows_pending": [0.0, 1.0], "nvlink_errors_total": [3.0, 0.0]},
    )
    lost = Happening(event="gpu.lost", subject="GPU-2")
    assert levels(list(gpus([sick, lost], 0))) == [
        ("gpus", "ok"),
        ("gpu health", "failed"),
        ("gpu health", "warning"),
        ("gpu health", "failed"),
    ]


def test_folders_are_written_to_and_left_as_they_were(tmp_path: Path) -> None:
    """A writable folder with space passes, one without space or that is none fails; nothing stays behind."""
    assert levels(list(path(tmp_path, 1))) == [("path", "ok"), ("space", "ok")]
    assert levels(list(path(tmp_path, 1 << 60))) == [("path", "ok"), ("space", "failed")]
    assert levels(list(path(tmp_path / "none", 1))) == [("path", "failed")]
    assert list(tmp_path.iterdir()) == []


PLACEMENTS: dict[str, tuple[dict[str, str], int, str]] = {
    "no launcher": ({}, 8, "ok"),
    "as it should be": ({"RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}, 8, "ok"),
    "a rank too many": ({"RANK": "16", "WORLD_SIZE": "16"}, 0, "failed"),
    "nodes that differ": ({"RANK": "0", "WORLD_SIZE": "15", "LOCAL_WORLD_SIZE": "8"}, 8, "failed"),
    "fewer GPUs than ranks": ({"RANK": "0", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}, 7, "failed"),
    "hidden GPUs": (
        {"RANK": "0", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "8", "CUDA_VISIBLE_DEVICES": "0,1"},
        8,
        "failed",
    ),
}


@pytest.mark.parametrize("name", PLACEMENTS)
def test_the_launchers_numbers_have_to_fit(name: str) -> None:
    """Ranks, nodes and GPUs are held against each other."""
    environment, gpu_count, wanted = PLACEMENTS[name]
    assert [check.level for check in placement(environment, gpu_count)] == [wanted]


def test_dangerous_changes_are_named() -> None:
    """Fields that break a comparison are named with both values; others are counted."""
    before = {"model": {"seq_length": 2048}, "tokenizer": "a", "log": {"level": "info"}, "seed": 1}
    now = {"model": {"seq_length": 4096}, "tokenizer": "b", "log": {"level": "debug"}, "seed": 1}
    check = configuration(before, now)
    assert check.level == "warning"
    assert check.data["dangerous"] == ["model.seq_length", "tokenizer"]
    assert check.data["changed"]["tokenizer"] == ["a", "b"]
    assert "1 other field" in check.text
    assert configuration(before, before).level == "ok"
    assert configuration(None, now).level == "ok"


def test_a_preflight_is_told_and_ends_with_its_verdict(tmp_path: Path) -> None:
    """The second attempt names what changed, the server gets an event, and a missing GPU ends with 1."""

    async def story() -> None:
        async with RecordingServer() as server:
            for attempt, rate in ((1, 0.1), (2, 0.2)):
                (tmp_path / "run.yaml").write_text(yaml.safe_dump({"optimizer": {"lr": rate}}))
                words = [
                    "--job",
                    "wm-64",
                    "--attempt",
                    str(attempt),
                    "--config",
                    "run.yaml",
                    "--write",
                    ".",
                    "--space",
                    "1",
                ]
                code, out = await in_thread(*words, "--url", server.url, "--json")
                assert code == 0, out
            found = {check["check"]: check for check in json.loads(out)["findings"]}
            assert found["configuration"]["data"]["changed"] == {"optimizer.lr": [0.1, 0.2]}
            assert found["gpus"]["level"] == "warning"
            await until(lambda: len(server.events_named("preflight")) == 2, "the events")
            assert server.events_named("preflight")[1].data["passed"] is True
            code, out = await in_thread("--job", "wm-64", "--gpus", "8", "--json")
            assert (code, json.loads(out)["passed"]) == (1, False)

    async def in_thread(*words: str) -> tuple[int, str]:
        import asyncio

        return await asyncio.to_thread(command, "preflight", *words, folder=tmp_path)

    run(story)
