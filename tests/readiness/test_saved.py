"""Checkpoints as frameworks leave them on disk: found, whole or not, and what they hold."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from streams.readiness.halves import Halves
from streams.readiness.saved import PARTS, look, newest, others


def put(file: Path, body: bytes = b"x") -> Path:
    """Write a file and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    return file


def put_torch(file: Path, *names: str) -> Path:
    """Write a file as torch.save does: an archive whose pickle names what it holds."""
    put(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}(" + b"".join(b"X" + name.encode() for name in names) + b"u.")
        archive.writestr("archive/data/0", b"\0" * 1000)
    return file


def put_tensors(file: Path, cut: int = 0) -> Path:
    """Write a safetensors file of one tensor of 64 bytes, less what is cut off."""
    header = json.dumps(
        {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}}
    )
    whole = len(header).to_bytes(8, "little") + header.encode() + b"\0" * 64
    return put(file, whole[: len(whole) - cut])


def megatron(root: Path) -> Path:
    """Megatron-LM: a pointer, and a folder for each iteration."""
    put(root / "latest_checkpointed_iteration.txt", b"1000\n")
    for step in (500, 1000):
        for part in range(2):
            put_torch(root / f"iter_{step:07d}" / f"mp_rank_0{part}" / "model_optim_rng.pt", "opt_param_scheduler",
                      "rng_state", "consumed_train_samples")  # fmt: skip
    return root / "iter_0001000"


def deepspeed(root: Path) -> Path:
    """DeepSpeed: a tag, the model's states, and a share of the optimizer for each rank."""
    put(root / "latest", b"global_step1000")
    folder = root / "global_step1000"
    put_torch(folder / "mp_rank_00_model_states.pt", "module", "lr_scheduler", "data_sampler", "random_states")
    for rank in range(4):
        put_torch(folder / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt", "optimizer_state_dict")
    return folder


def distributed(root: Path) -> Path:
    """PyTorch's distributed checkpoint, as torchtitan writes it: shards, and the names in a file that comes last."""
    folder = root / "step-1000"
    put(folder / ".metadata", b"optimizer.state.w dataloader.dp_rank_0 lr_scheduler.last_epoch rng.cpu")
    for rank in range(4):
        put(folder / f"__{rank}_0.distcp", b"\0" * 10)
    return folder


def hugging_face(root: Path) -> Path:
    """The Hugging Face trainer: a file for each part."""
    folder = root / "checkpoint-1000"
    put_tensors(folder / "model-00001-of-00002.safetensors")
    put_tensors(folder / "model-00002-of-00002.safetensors")
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    put(folder / "model.safetensors.index.json", json.dumps({"weight_map": shards}).encode())
    put(folder / "trainer_state.json", b'{"global_step": 1000, "num_input_tokens_seen": 5}')
    put_torch(folder / "optimizer.pt", "state")
    put_torch(folder / "scheduler.pt", "last_epoch")
    for rank in range(4):
        put_torch(folder / f"rng_state_{rank}.pth", "cuda")
    return folder


def lightning(root: Path) -> Path:
    """Lightning: one file."""
    words = ("optimizer_states", "lr_schedulers", "rng", "sampler")
    return put_torch(root / "epoch=1-step=1000.ckpt", *words)


LAYOUTS = {one.__name__: one for one in (megatron, deepspeed, distributed, hugging_face, lightning)}
RANKS = {"deepspeed": 4, "distributed": 4, "hugging_face": 4}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_newest_checkpoint_is_found_and_whole(name: str, tmp_path: Path) -> None:
    """Of every framework's folder the newest one is taken; it is whole, and holds what a run needs to go on."""
    folder = LAYOUTS[name](tmp_path / "saves")
    saved = look(newest(tmp_path / "saves"))
    assert (saved.path, saved.step, saved.troubles) == (folder, 1000, ())
    assert saved.parts == frozenset(PARTS)
    assert saved.ranks == RANKS.get(name)
    assert look(newest(folder)).path == folder


@pytest.mark.parametrize(("name", "files"), [("hugging_face", (2, 1)), ("deepspeed", (1, 4))])
def test_weights_and_optimizer_are_told_apart(name: str, files: tuple[int, int], tmp_path: Path) -> None:
    """Where each has files of its own, both sizes are known, and how long after each other they were written."""
    folder = LAYOUTS[name](tmp_path / "saves")
    optimizer = [file for file in folder.iterdir() if "optim" in file.name]
    weights = [file for file in folder.iterdir() if "model" in file.name and file.suffix != ".json"]
    assert (len(weights), len(optimizer)) == files
    for file in optimizer:
        os.utime(file, (1_780_000_000, 1_780_000_000))
    for file in weights:
        os.utime(file, (1_780_000_060, 1_780_000_060))
    sizes = [sum(file.stat().st_size for file in each) for each in (weights, optimizer)]
    assert look(folder).halves == Halves(sizes[0], sizes[1], 60.0)


@pytest.mark.parametrize("name", ["megatron", "distributed", "lightning"])
def test_what_lies_in_one_file_is_not_told_apart(name: str, tmp_path: Path) -> None:
    """Where a file holds both, nothing is said of either."""
    assert look(LAYOUTS[name](tmp_path / "saves")).halves is None


CUTS = {
    "an archive that is cut off": ("megatron", "mp_rank_01/model_optim_rng.pt", -30),
    "an archive that is empty": ("deepspeed", "zero_pp_rank_3_mp_rank_00_optim_states.pt", 0),
    "the names are missing": ("distributed", ".metadata", None),
    "a tensor file that is cut off": ("hugging_face", "model-00002-of-00002.safetensors", -1),
    "a tensor file without a header": ("hugging_face", "model-00001-of-00002.safetensors", 5),
    "a shard is missing": ("hugging_face", "model-00001-of-00002.safetensors", None),
    "an index that is cut off": ("hugging_face", "model.safetensors.index.json", 9),
}


@pytest.mark.parametrize("case", CUTS)
def test_what_is_not_whole_is_told(case: str, tmp_path: Path) -> None:
    """A file that is missing, empty or shorter than it says is a trouble with its name."""
    name, file, size = CUTS[case]
    folder = LAYOUTS[name](tmp_path)
    if size is None:
        (folder / file).unlink()
    else:
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole[:size])
    (trouble,) = look(folder).troubles
    assert Path(file).name in trouble


def test_a_save_that_did_not_end_is_told(tmp_path: Path) -> None:
    """Names of unfinished saves, an empty folder and a pointer to nothing are troubles; nothing at all is an error."""
    put_torch(tmp_path / "a" / "step=9.ckpt.tmp")
    assert look(tmp_path / "a").troubles == ("step=9.ckpt.tmp was left by a save that did not end",)
    (tmp_path / "b" / "step-1").mkdir(parents=True)
    assert look(newest(tmp_path / "b")).troubles == ("it is empty",)
    put(tmp_path / "c" / "latest", b"global_step7")
    assert look(newest(tmp_path / "c")).troubles == ("it is not there",)
    (tmp_path / "d").mkdir()
    with pytest.raises(ValueError, match="there is no checkpoint"):
        newest(tmp_path / "d")


def test_checkpoints_are_in_the_order_of_their_steps(tmp_path: Path) -> None:
    """Not in that of their names, and other folders are none."""
    for name in ("checkpoint-900", "checkpoint-1000", "checkpoint-20", "runs", "logs"):
        put(tmp_path / name / "x")
    assert [path.name for path in others(tmp_path)] == ["checkpoint-20", "checkpoint-900", "checkpoint-1000"]


def test_a_damaged_checkpoint_is_told_and_never_stops_the_look(tmp_path: Path) -> None:
    """Packed bytes that cannot be unpacked, an offset without bounds, and an index that names no files."""
    packed = put(tmp_path / "step-1" / "packed.pt")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"optimizer sampler " * 500)
    whole = bytearray(packed.read_bytes())
    begin = 30 + len("archive/data.pkl")
    whole[begin : begin + 8] = b"\xff" * 8
    packed.write_bytes(whole)
    header = b'{"w": {"data_offsets": [0, Infinity]}}'
    put(tmp_path / "step-1" / "w.safetensors", len(header).to_bytes(8, "little") + header)
    put(tmp_path / "step-1" / "w.index.json", b'{"weight_map": {"a": ["b"], "c": 3}}')
    troubles = look(tmp_path / "step-1").troubles
    assert "w.safetensors is not as long as its header says" in troubles
    assert "3 is missing" in troubles
