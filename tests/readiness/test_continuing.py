"""The questions before a run goes on: is its checkpoint whole and clean, and are its data the same ones."""

import os
from pathlib import Path
from typing import Any

import pytest

from schemas.action import TaintRecord
from streams.readiness.checks import Check
from streams.readiness.continuing import ancestry, checkpoint, data_fields, data_state, state_of
from tests.readiness.test_saved import deepspeed, hugging_face, lightning, megatron, put, put_torch


def levels(checks: list[Check]) -> list[tuple[str, str]]:
    """Reduce checks to what was asked and how it stands."""
    return [(check.check, check.level) for check in checks]


def taint(begin: int, end: int, *saves: int) -> TaintRecord:
    """A line of the ledger."""
    return TaintRecord(
        id="t", job="j", attempt=1, from_step=begin, to_step=end, reason="bad data", incident="inc-1", confidence=0.9,
        layer="data", checkpoints=saves, time=0.0,
    )  # fmt: skip


def test_a_run_goes_on_from_the_newest_whole_checkpoint(tmp_path: Path) -> None:
    """It is named with its step; nothing else is said where everything is there."""
    folder = deepspeed(tmp_path)
    (check,) = checkpoint(tmp_path, None, 4)
    assert (check.level, check.data["path"], check.data["step"]) == ("ok", str(folder), 1000)


def test_a_checkpoint_that_is_not_whole_fails(tmp_path: Path) -> None:
    """So does a pointer to nothing, and a folder without any."""
    folder = deepspeed(tmp_path)
    (folder / "mp_rank_00_model_states.pt").write_bytes(b"")
    assert levels(list(checkpoint(tmp_path, None, 4))) == [("checkpoint", "failed")]
    put(tmp_path / "latest", b"global_step2000")
    assert levels(list(checkpoint(tmp_path, None, 4))) == [("checkpoint", "failed")]
    assert levels(list(checkpoint(tmp_path / "none", None, 4))) == [("checkpoint", "failed")]


def test_what_is_not_in_a_checkpoint_begins_anew(tmp_path: Path) -> None:
    """Weights alone are a start of another kind: a warning names what is missing."""
    put_torch(tmp_path / "step=5.ckpt", "state_dict")
    first, second = checkpoint(tmp_path, None, 0)
    assert (first.level, second.level) == ("ok", "warning")
    assert second.data["missing"] == ["optimizer", "schedule", "random numbers", "place in the data"]


def test_an_optimizer_of_another_time_is_told(tmp_path: Path) -> None:
    """Both parts are named with their sizes; one that was written hours before the other is doubted."""
    folder = hugging_face(tmp_path)
    (check,) = checkpoint(tmp_path, None, 4)
    assert "(weights 0.00, optimizer 0.00)" in check.text
    assert check.data["weights_bytes"] + check.data["optimizer_bytes"] < check.data["bytes"]
    os.utime(folder / "optimizer.pt", (1_780_000_000, 1_780_000_000))
    for shard in folder.glob("*.safetensors"):
        os.utime(shard, (1_780_009_000, 1_780_009_000))
    _, doubt = checkpoint(tmp_path, None, 4)
    assert (doubt.check, doubt.level) == ("checkpoint fits", "warning")
    assert doubt.text.startswith("the optimizer was written 2.5 h before the weights")


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    """Another number of ranks, later ones passed over, fewer files than before, and a step behind the last start."""
    deepspeed(tmp_path)
    *_, ranks = checkpoint(tmp_path, None, 8)
    assert ranks.text.startswith("4 ranks wrote it and 8 go on")
    megatron(tmp_path / "m")
    put_torch(tmp_path / "m" / "iter_0001500" / "mp_rank_00" / "model_optim_rng.pt")
    *_, later = checkpoint(tmp_path / "m", {"resumed_step": 1200}, 0)
    assert later.text == (
        "later ones are passed over: iter_0001500; the attempt before went on from step 1,200, which is later"
    )
    (tmp_path / "m" / "iter_0001000" / "mp_rank_01" / "model_optim_rng.pt").unlink()
    *_, fewer = checkpoint(tmp_path / "m", None, 0)
    assert fewer.text.endswith("iter_0000500 has 2 files, this one 1")
    assert levels(list(checkpoint(lightning(tmp_path / "one"), None, 8))) == [("checkpoint", "ok")]


LEDGERS: dict[str, tuple[int | None, list[TaintRecord], str]] = {
    "nothing marked": (1000, [], "ok"),
    "marked later": (1000, [taint(1001, 1100)], "ok"),
    "the first marked step": (1000, [taint(1000, 1100)], "failed"),
    "the last marked step": (1000, [taint(900, 1000)], "failed"),
    "a save that the ledger names": (1000, [taint(900, 990, 1000)], "failed"),
    "trained through": (1000, [taint(800, 900)], "warning"),
    "no step": (None, [], "warning"),
}


@pytest.mark.parametrize("case", LEDGERS)
def test_a_contaminated_checkpoint_is_refused(case: str) -> None:
    """A step inside a marked range fails, one behind such a range is a question, and one before it is clean."""
    step, ledger, level = LEDGERS[case]
    assert ancestry(step, ledger, []).level == level


def checks_of(config: dict[str, Any], before: dict[str, Any] | None, *paths: Path) -> list[Check]:
    """Ask about the data of a configuration."""
    return list(data_state(before, data_fields(config), state_of(paths)))


def test_data_are_held_against_the_attempt_before(tmp_path: Path) -> None:
    """The same seeds, versions and files pass; each that differs is named; data that are gone fail."""
    config: dict[str, Any] = {"seed": 7, "data": {"shuffle": True, "version": "2024-05"}, "lr": 1.0}
    put(tmp_path / "data" / "a.bin", b"1234")
    kept = {"fields": data_fields(config), "states": state_of([tmp_path / "data"])}
    assert levels(checks_of(config, None, tmp_path / "data")) == [("data state", "ok")]
    assert levels(checks_of({**config, "lr": 2.0}, kept, tmp_path / "data")) == [("data state", "ok")]
    put(tmp_path / "data" / "b.bin", b"56")
    (other,) = checks_of({**config, "seed": 8}, kept, tmp_path / "data")
    assert other.level == "warning"
    assert other.text == f"seed: 7 -> 8; {tmp_path / 'data'}: 1 files of 4 bytes -> 2 of 6"
    assert levels(checks_of(config, None, tmp_path / "gone"))[0] == ("data", "failed")


def test_what_is_another_thing_tomorrow_is_told() -> None:
    """A version that moves, and an order without a seed, are warnings; settings without data say nothing."""
    (loose, _) = checks_of({"dataset": {"revision": "main", "shuffle": True}}, None)
    assert loose.data["loose"] == ["dataset.revision", "no seed is set"]
    assert checks_of({"lr": 1.0}, None) == []
    assert levels(checks_of({"dataset": {"revision": "a1b2c3", "seed": 1}}, None)) == [("data state", "ok")]
