"""The questions before a run goes on: from which checkpoint, is it whole, is it clean, and are its data the same."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.action import TaintRecord
from schemas.incident import Incident
from streams.readiness.checks import Check, flat
from streams.readiness.saved import PARTS, Saved, look, newest, others

Kept = dict[str, Any]  # Any: fields of a configuration
ORDER = ("seed", "shuffle", "sampler", "packer", "packing", "tokenizer", "vocab")
"""Words in the name of a field that settles which tokens come in which order."""
DATA = (*ORDER, "dataset", "data_path", "data_files", "data_dir", "mixture", "blend", "split")
_LOOSE = {"main", "master", "head", "latest", "nightly", "dev"}
"""Versions that are another thing tomorrow."""
_VERSIONS = ("revision", "version", "tag", "commit")
_MOST_ENTRIES = 20_000
_SHOWN = 4
_ONE_SAVE_SECONDS = 3600.0
"""Between the last writes of two parts of one save at most; the largest ones take minutes."""


def checkpoint(place: Path, before: Kept | None, world_size: int) -> Iterator[Check]:
    """Say from which checkpoint the run goes on, and whether it can go on from there as if nothing had happened.

    Args:
        place: the checkpoint, or the folder of all.
        before: what was kept of the attempt before.
        world_size: ranks of this attempt; 0 where that is not known.
    """
    try:
        path = newest(place)
        saved = look(path)
        neighbours = [] if path == place else others(path.parent)
    except (OSError, ValueError) as fault:
        yield Check("checkpoint", "failed", f"{place}: {getattr(fault, 'strerror', '') or fault}")
        return
    data = {"path": str(path), "step": saved.step, "files": saved.files, "bytes": saved.size, "ranks": saved.ranks}
    if saved.troubles:
        shown = "; ".join(saved.troubles[:_SHOWN]) + (" ..." if len(saved.troubles) > _SHOWN else "")
        yield Check("checkpoint", "failed", f"{path} is not whole: {shown}", {**data, "troubles": list(saved.troubles)})
        return
    at = "" if saved.step is None else f", step {saved.step:,}"
    told = f"goes on from {path}{at}: {saved.files} files, {saved.size / 1e9:.2f} GB"
    if saved.halves is not None:
        told += f" (weights {saved.halves.weights / 1e9:.2f}, optimizer {saved.halves.optimizer / 1e9:.2f})"
        data |= {"weights_bytes": saved.halves.weights, "optimizer_bytes": saved.halves.optimizer}
    yield Check("checkpoint", "ok", told, data)
    missing = [part for part in PARTS if part not in saved.parts]
    if missing:
        text = f"no sign of: {', '.join(missing)}; what is not in it begins anew"
        yield Check("checkpoint holds", "warning", text, {"missing": missing})
    doubts = [*_doubts(saved, neighbours, world_size), *_steps_back(saved, before)]
    if doubts:
        yield Check("checkpoint fits", "warning", "; ".join(doubts))


def _doubts(saved: Saved, neighbours: Sequence[Path], world_size: int) -> Iterator[str]:
    if saved.ranks and world_size and saved.ranks != world_size:
        yield f"{saved.ranks} ranks wrote it and {world_size} go on: random numbers and places in the data are per rank"
    if saved.halves is not None and abs(apart := saved.halves.apart) > _ONE_SAVE_SECONDS:
        order = "before" if apart > 0 else "after"
        yield f"the optimizer was written {abs(apart) / 3600:.1f} h {order} the weights: it may be of another save"
    if saved.path not in neighbours:
        return
    place = neighbours.index(saved.path)
    if later := [path.name for path in neighbours[place + 1 :]]:
        yield f"later ones are passed over: {', '.join(later[-_SHOWN:])}"
    if place and (older := look(neighbours[place - 1])).files > saved.files:
        yield f"{older.path.name} has {older.files} files, this one {saved.files}"


def _steps_back(saved: Saved, before: Kept | None) -> Iterator[str]:
    earlier = (before or {}).get("resumed_step")
    if isinstance(earlier, int) and saved.step is not None and saved.step < earlier:
        yield f"the attempt before went on from step {earlier:,}, which is later"


def ancestry(step: int | None, taints: Sequence[TaintRecord], incidents: Sequence[Incident]) -> Check:
    """Say whether an incident has marked the steps that a checkpoint was trained on.

    A range is undone where the run went back behind it: that is not in the ledger, so a range that lies wholly before
    the checkpoint is a question, and one that holds it is the answer.
    """
    if step is None:
        return Check("ancestry", "warning", "the name of the checkpoint has no step: the ledger cannot be asked")
    within = [one for one in taints if one.from_step <= step <= one.to_step or step in one.checkpoints]
    past = [one for one in taints if one.to_step < step and one not in within]
    if within:
        text = f"step {step:,} is contaminated: {_ranges(within)}"
        return Check("ancestry", "failed", text, {"incidents": sorted({one.incident for one in within})})
    going_on = [one for one in incidents if one.onset_step is not None and one.onset_step <= step]
    told = [f"{one.id} ({one.cause}) since step {one.onset_step:,}" for one in going_on[:_SHOWN]]
    if past or told:
        parts = [f"trained through {_ranges(past)}, unless the run went back behind it"] if past else []
        parts += [f"open: {', '.join(told)}"] if told else []
        found = sorted({one.incident for one in past} | {one.id for one in going_on})
        return Check("ancestry", "warning", f"step {step:,}: {'; '.join(parts)}", {"incidents": found})
    return Check("ancestry", "ok", f"nothing up to step {step:,} is marked as contaminated")


def _ranges(taints: Sequence[TaintRecord]) -> str:
    told = [f"{one.from_step:,} to {one.to_step:,} ({one.reason}, {one.incident})" for one in taints[:_SHOWN]]
    return ", ".join(told) + (" ..." if len(taints) > _SHOWN else "")


def data_fields(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of a configuration that settle the data and their order.

    >>> data_fields({"data": {"seed": 7, "workers": 4, "revision": "v2"}, "model": {"init_seed": 1}, "tokenizer": "a"})
    {'data.seed': 7, 'data.revision': 'v2', 'model.init_seed': 1, 'tokenizer': 'a'}
    """
    return {name: value for name, value in flat(config) if _settles(name.lower())}


def _settles(name: str) -> bool:
    return any(word in name for word in DATA) or ("data" in name and name.endswith(_VERSIONS))


def state_of(paths: Sequence[Path]) -> dict[str, list[int]]:
    """Give number of files, bytes and newest change (Unix nanoseconds) of files and folders of data."""
    return {str(path): _state(path) for path in paths}


def _state(path: Path) -> list[int]:
    files, size, changed = 0, 0, 0
    for file in [path] if path.is_file() else _below(path):
        try:
            state = os.stat(file)
        except OSError:
            continue
        files, size, changed = files + 1, size + state.st_size, max(changed, state.st_mtime_ns)
    return [files, size, changed]


def _below(folder: Path) -> Iterator[str]:
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if count == _MOST_ENTRIES:
                return
            count += 1
            yield os.path.join(place, name)


def data_state(before: Kept | None, fields: Mapping[str, Any], states: Mapping[str, list[int]]) -> Iterator[Check]:
    """Hold the data and their order against the attempt before, and say what of them is not settled.

    Args:
        before: what was kept of the attempt before: `fields` and `states` of then.
        fields: of the configuration, as `data_fields` gives them.
        states: of the data themselves, as `state_of` gives them.
    """
    loose = [name for name, value in fields.items() if _is_loose(name, value)]
    if fields and not any("seed" in name.lower() for name in fields):
        loose.append("no seed is set")
    if loose:
        yield Check("data settled", "warning", f"another thing on another day: {', '.join(loose)}", {"loose": loose})
    empty = [path for path, state in states.items() if not state[0]]
    if empty:
        yield Check("data", "failed", f"nothing is there: {', '.join(empty)}", {"empty": empty})
    if before is None:
        if fields or states:
            yield Check("data state", "ok", "there is no attempt before to compare with")
        return
    told = [*_other_fields(before.get("fields") or {}, fields), *_other_states(before.get("states") or {}, states)]
    text = "; ".join(told) or "data, seeds and order are those of the attempt before"
    yield Check("data state", "warning" if told else "ok", text, {"changed": told})


def _is_loose(name: str, value: object) -> bool:
    is_version = name.lower().rpartition(".")[2].endswith(_VERSIONS)
    return is_version and (value is None or str(value).lower() in _LOOSE)


def _other_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name}: {old.get(name)} -> {new.get(name)}"


def _other_states(old: Mapping[str, list[int]], new: Mapping[str, list[int]]) -> Iterator[str]:
    for path in sorted(old.keys() & new.keys()):
        if list(old[path][:2]) != list(new[path][:2]):
            yield f"{path}: {old[path][0]} files of {old[path][1]:,} bytes -> {new[path][0]} of {new[path][1]:,}"
        elif old[path] != new[path]:
            yield f"{path}: a file was written since"
