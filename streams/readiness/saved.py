"""A checkpoint as it lies on disk: which step, whether it is whole, and what it holds; nothing of it is loaded.

Known by their files: Megatron-LM, NeMo, DeepSpeed, PyTorch's distributed checkpoints (torchtitan), the Hugging Face
trainer, Lightning, and single files of torch.save.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from streams.readiness.halves import Halves, halves

_POINTERS = ("latest_checkpointed_iteration.txt", "latest")
_STEP = re.compile(r"(?:step|iter|iteration|checkpoint|ckpt)[-_=]*0*(\d{1,15})", re.IGNORECASE)
_UNFINISHED = re.compile(r"\.tmp\b|\.tmp-|\.partial$|\.incomplete$|[-.]unfinished$", re.IGNORECASE)
_ZIPPED = (".pt", ".pth", ".bin", ".ckpt")
_RANK = re.compile(r"(?:^__(\d+)_\d+\.distcp$|(?:^|_)zero_pp_rank_(\d+)_|^rng_state_(\d+)\.pth$)")
_WORDS = {
    "optimizer": ("optim",),
    "schedule": ("scheduler", "lr_sched"),
    "random numbers": ("rng", "random_states", "random_state"),
    "place in the data": (
        "dataloader",
        "data_loader",
        "sampler",
        "consumed_",
        "data_state",
        "samples_seen",
        "tokens_seen",
    ),
}
"""What a run needs to go on as if nothing had happened -> words in names of files and of what they hold."""
PARTS = tuple(_WORDS)
_MOST_FILES, _MOST_OPENED = 20_000, 16
_MOST_NAMES_BYTES = 64 << 20


class Saved(Struct, frozen=True):
    """What was found.

    Attributes:
        path: the file or folder of one checkpoint.
        step: read off its name; None where the name has none.
        troubles: why it cannot be whole.
        parts: of PARTS, what it holds.
        ranks: how many wrote it, where its files say so.
        files: how many it has.
        size: bytes.
        halves: weights and optimizer, where its files tell them apart.
    """

    path: Path
    step: int | None
    troubles: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()
    ranks: int | None = None
    files: int = 0
    size: int = 0
    halves: Halves | None = None


def newest(place: Path) -> Path:
    """Say which checkpoint a trainer would take: the one itself, the one a pointer names, or that of the highest step.

    Raises:
        ValueError: there is none.
    """
    if place.is_file():
        return place
    for name in _POINTERS:
        if (place / name).is_file():
            return place / _pointed((place / name).read_text(errors="replace").strip())
    saved = others(place)
    if saved:
        return saved[-1]
    if _STEP.search(place.name) or any(place.glob("*")):
        return place
    raise ValueError(f"there is no checkpoint in {place}")


def others(folder: Path) -> list[Path]:
    """List what is named like a checkpoint, lowest step first."""
    found = [(step, path) for path in folder.iterdir() if (step := step_of(path)) is not None and _is_saved(path)]
    return [path for _, path in sorted(found)]


def step_of(path: Path) -> int | None:
    """Read a step off a name.

    >>> [step_of(Path(name)) for name in ("iter_0001000", "checkpoint-500", "global_step7", "step=9-seen=3.ckpt")]
    [1000, 500, 7, 9]
    """
    found = _STEP.search(path.name)
    return int(found[1]) if found else None


def look(path: Path) -> Saved:
    """Look at one checkpoint.

    Raises:
        OSError: it cannot be read.
    """
    if not path.exists():
        return Saved(path, step_of(path), ("it is not there",))
    files = _files(path)
    states = {file: file.stat() for file in files}
    sizes = {file: state.st_size for file, state in states.items()}
    names = [file.name for file in files]
    ranks = {int(next(filter(None, found.groups()))) for name in names if (found := _RANK.search(name))}
    return Saved(
        path=path,
        step=step_of(path),
        troubles=tuple(_troubles(path, sizes)),
        parts=frozenset(_parts(files)),
        ranks=max(ranks) + 1 if ranks else None,
        files=len(files),
        size=sum(sizes.values()),
        halves=halves(path, states) if path.is_dir() else None,
    )


def _pointed(text: str) -> str:
    return f"iter_{int(text):07d}" if text.isdecimal() else text


def _is_saved(path: Path) -> bool:
    return path.is_dir() or path.suffix in _ZIPPED


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = []
    for file in path.rglob("*"):
        if file.is_file():
            found.append(file)
            if len(found) == _MOST_FILES:
                break
    return sorted(found)


def _troubles(path: Path, sizes: dict[Path, int]) -> Iterator[str]:
    if not sizes:
        yield "it is empty"
    if _UNFINISHED.search(path.name):
        yield "its name says that it is not finished"
    for file, size in sizes.items():
        if why := _unfinished(file, size):
            yield f"{file.name} {why}"
        if file.name.endswith(".index.json"):
            yield from _missing_shards(file)
    shards = [file for file in sizes if file.suffix == ".distcp"]
    if shards and not any(file.name == ".metadata" for file in sizes):
        yield ".metadata is missing, which is written last"


def _unfinished(file: Path, size: int) -> str:
    """Say why a file cannot be whole; "" where nothing speaks against it."""
    if _UNFINISHED.search(file.name):
        return "was left by a save that did not end"
    if file.suffix in (*_ZIPPED, ".safetensors") and size == 0:
        return "is empty"
    if file.suffix == ".safetensors":
        return "" if _tensors_end(file) == size else "is not as long as its header says"
    if file.suffix in _ZIPPED:
        with file.open("rb") as stream:
            zipped = stream.read(4) == b"PK\x03\x04"
        return "is cut off" if zipped and not zipfile.is_zipfile(file) else ""
    return ""


def _tensors_end(file: Path) -> int:
    """Give the length that the header of a safetensors file announces; -1 where there is no header."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > _MOST_NAMES_BYTES:
            return -1
        try:
            header = json.loads(stream.read(length))
            ends = [int(one["data_offsets"][1]) for name, one in header.items() if name != "__metadata__"]
        except (ValueError, AttributeError, LookupError, TypeError, OverflowError, RecursionError):
            return -1
    return 8 + length + max(ends, default=0)


def _missing_shards(index: Path) -> Iterator[str]:
    try:
        wanted = {str(name) for name in json.loads(index.read_bytes())["weight_map"].values()}
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        yield f"{index.name} cannot be read"
        return
    for name in sorted(wanted):
        if not (index.parent / name).is_file():
            yield f"{name} is missing"


def _parts(files: Sequence[Path]) -> Iterator[str]:
    names = " ".join(file.name.lower() for file in files)
    inside = b" ".join(_names_inside(files)).lower()
    for part, words in _WORDS.items():
        if any(word in names or word.encode() in inside for word in words):
            yield part


def _names_inside(files: Sequence[Path]) -> Iterator[bytes]:
    """Give the bytes in which a file names what it holds: nothing is unpickled, the names stand there as they are."""
    opened = 0
    for file in files:
        if file.name in (".metadata", "trainer_state.json") and file.stat().st_size <= _MOST_NAMES_BYTES:
            yield file.read_bytes()
        elif file.suffix in _ZIPPED and opened < _MOST_OPENED and zipfile.is_zipfile(file):
            opened += 1
            try:
                with zipfile.ZipFile(file) as archive:
                    for one in archive.infolist():
                        if one.filename.endswith("data.pkl") and one.file_size <= _MOST_NAMES_BYTES:
                            yield archive.read(one)
            except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError):
                continue  # a damaged file names nothing; that it is whole was asked before
