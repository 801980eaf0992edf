"""The ready callbacks, driven in the order in which each trainer calls them, with the real hook and its real files."""

import ast
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import streams.agents.callbacks.hugging_face as hugging_face
import streams.agents.callbacks.lightning as lightning
import streams.agents.callbacks.plain as plain
from schemas.action import Control, Setting
from streams.agents.control_file import write_control
from streams.agents.rank_file import Line, find, parse
from streams.agents.trainer import Hook
from tests.agents.rank_lines import flush_all

WAIT = 0.02


def lines(folder: Path) -> list[Line]:
    """Read what the hook wrote, without the first line of the file."""
    flush_all()
    found = [parse(raw) for file in find(folder) for raw in file.path.read_bytes().splitlines()]
    return [line for line in found if line is not None and not line.hook]


def steps(folder: Path) -> dict[int, Line]:
    """Give the steps by number."""
    return {line.s: line for line in lines(folder) if line.s >= 0 and not line.ack}


def words(folder: Path) -> list[str]:
    """Give the events in order."""
    return [line.e for line in lines(folder) if line.e]


def slow(count: int) -> Iterator[int]:
    """Give batches that have to be waited for."""
    for number in range(count):
        time.sleep(WAIT)
        yield number


def test_a_plain_loop_is_measured(tmp_path: Path) -> None:
    """Each batch is a step with the time spent waiting for it; the end of the data is no step."""
    hook = Hook(str(tmp_path), "j")
    for step, batch in plain.steps(hook, slow(3), first=10):
        step.log(loss=float(batch))
    found = steps(tmp_path)
    assert list(found) == [10, 11, 12]
    assert all((found[number].v["loader_seconds"] or 0) >= WAIT * 0.9 for number in found)
    assert [found[number].j["loss"] for number in found] == [0.0, 1.0, 2.0]


def test_a_plain_loop_that_is_left_tells_of_no_half_step(tmp_path: Path) -> None:
    """An error in the body goes through, and the step it was in is not told."""
    hook = Hook(str(tmp_path), "j")

    def train() -> None:
        for _, batch in plain.steps(hook, iter([0, 1])):
            if batch:
                raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        train()
    assert list(steps(tmp_path)) == [0]


class HuggingFaceRun:
    """Calls a callback as the Hugging Face trainer does: every `log` steps it logs, every `save` it saves."""

    def __init__(self, callback: Any, log: int, save: int, evaluate: int = 0) -> None:
        self.callback, self.every = callback, {"log": log, "save": save, "evaluate": evaluate}
        self.saved: list[int] = []

    def train(self, count: int) -> None:
        """Train so many steps."""
        args = SimpleNamespace(to_dict=lambda: {"learning_rate": 1e-3})
        state = SimpleNamespace(global_step=0, max_steps=count)
        control = SimpleNamespace(should_log=False, should_save=False, should_evaluate=False)
        call = self.callback
        call.on_train_begin(args, state, control)
        for _ in slow(count):
            call.on_step_begin(args, state, control)
            state.global_step += 1
            for what, every in self.every.items():
                setattr(control, f"should_{what}", bool(every) and state.global_step % every == 0)
            call.on_step_end(args, state, control)
            if control.should_log:
                call.on_log(args, state, control, logs={"loss": 1.0 / state.global_step, "learning_rate": 1e-3})
            if control.should_evaluate:
                call.on_evaluate(args, state, control, metrics={"eval_loss": 2.5})
            if control.should_save:
                time.sleep(WAIT)
                self.saved.append(state.global_step)
                call.on_save(args, state, control)
        call.on_train_end(args, state, control)


def test_the_hugging_face_trainer_is_measured(tmp_path: Path) -> None:
    """Every step has its waiting time, logged steps their loss, saves and evaluations are events, start and end too."""
    run = HuggingFaceRun(hugging_face.TrainmasterCallback(Hook(str(tmp_path), "j")), log=2, save=3, evaluate=4)
    run.train(6)
    found = steps(tmp_path)
    assert list(found) == [1, 2, 3, 4, 5, 6]
    assert all((line.v["loader_seconds"] or 0) >= WAIT * 0.9 for line in found.values())
    assert [number for number, line in found.items() if "loss" in line.j] == [2, 4, 6]
    assert found[5].j["valid_loss"] == 2.5
    assert run.saved == [3, 6]
    said = words(tmp_path)
    assert said[0] == "attempt.started"
    assert said[-1] == "attempt.ended"
    assert said.count("checkpoint.end") == 2
    assert said.count("phase.begin") == said.count("phase.end") == 1
    (end, _) = (line for line in lines(tmp_path) if line.e == "checkpoint.end")
    assert end.d["seconds"] >= WAIT * 0.9


def test_saves_of_the_hugging_face_trainer_follow_the_control_file(tmp_path: Path) -> None:
    """A save is put off until the step that the control file names, and made there."""
    settings = {"checkpoint.defer_until_step": Setting(value=5, request="r1")}
    write_control(tmp_path, Control(job="j", attempt=1, version=1, settings=settings))
    run = HuggingFaceRun(hugging_face.TrainmasterCallback(Hook(str(tmp_path), "j")), log=0, save=2)
    run.train(7)
    assert run.saved == [5, 6]


def test_a_save_that_is_wanted_now_is_made(tmp_path: Path) -> None:
    """`checkpoint.now` makes the Hugging Face trainer save at the next step, though none is due."""
    write_control(
        tmp_path, Control(job="j", attempt=1, version=1, settings={"checkpoint.now": Setting(value=True, request="r1")})
    )
    run = HuggingFaceRun(hugging_face.TrainmasterCallback(Hook(str(tmp_path), "j")), log=0, save=0)
    run.train(3)
    assert run.saved == [1]


class LightningTrainer:
    """Calls a callback as Lightning does; saves where it is told to."""

    def __init__(self, callback: lightning.TrainmasterCallback) -> None:
        self.callback, self.global_step, self.estimated_stepping_batches, self.interrupted = callback, 0, 4, False
        self.saved: list[str] = []

    def save_checkpoint(self, path: str) -> None:
        """Save as Lightning does: the callbacks hear of it before it is written."""
        self.callback.on_save_checkpoint(self, None, {})
        self.saved.append(path)
        time.sleep(WAIT)

    def fit(self, save_at: int) -> None:
        """Train four steps with an evaluation after the second."""
        module = SimpleNamespace(hparams={"lr": 1e-3})
        self.callback.on_train_start(self, module)
        for number, batch in enumerate(slow(4)):
            self.callback.on_train_batch_start(self, module, batch, number)
            self.global_step += 1
            self.callback.on_train_batch_end(self, module, {"loss": 1.0 / self.global_step}, batch, number)
            if number == save_at:
                self.save_checkpoint("due")
            if number == 1:
                self.callback.on_validation_start(self, module)
                self.callback.on_validation_end(self, module)
        self.callback.on_train_end(self, module)


def test_lightning_is_measured(tmp_path: Path) -> None:
    """Every batch is a step, the loss is read every so many, a save lasts until the next batch."""
    trainer = LightningTrainer(lightning.TrainmasterCallback(Hook(str(tmp_path), "j"), every=2))
    trainer.fit(save_at=2)
    found = steps(tmp_path)
    assert list(found) == [0, 1, 2, 3]
    assert [number for number, line in found.items() if "loss" in line.j] == [0, 2]
    assert all((line.v["loader_seconds"] or 0) >= WAIT * 0.5 for number, line in found.items() if number < 3)
    said = words(tmp_path)
    assert (said[0], said[-1]) == ("attempt.started", "attempt.ended")
    assert said.count("checkpoint.end") == 1
    assert said.count("phase.begin") == said.count("phase.end") == 1


def test_lightning_saves_at_once_where_it_is_asked_to(tmp_path: Path) -> None:
    """`checkpoint.now` makes Lightning save to the folder that was named; a due save asks whether it may."""
    settings = {
        "checkpoint.now": Setting(value=True, request="r1"),
        "checkpoint.defer_until_step": Setting(value=9, request="r2"),
    }
    write_control(tmp_path, Control(job="j", attempt=1, version=1, settings=settings))
    callback = lightning.TrainmasterCallback(Hook(str(tmp_path), "j"), every=0, save_to="/saves")
    trainer = LightningTrainer(callback)
    trainer.fit(save_at=-1)
    assert trainer.saved == ["/saves/step-0.ckpt"]
    assert not callback.may_save(6)
    assert callback.may_save(9)


@pytest.mark.parametrize("module", [plain, hugging_face, lightning])
def test_callbacks_suit_an_old_interpreter_and_import_nothing_of_ours(module: Any) -> None:
    """They are copied beside the hook: Python 3.8, the trainer's own library, and nothing of this project."""
    tree = ast.parse(Path(module.__file__).read_text(), feature_version=(3, 8))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= {
        "__future__",
        "typing",
        "transformers",
        "lightning",
        "pytorch_lightning",
    }
