"""YAML to causes and playbooks, strictly: what is not known is refused, with the file and the field."""

import math
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from playbooks.cause import UNKNOWN, Cause
from playbooks.playbook import Playbook

T = TypeVar("T", Cause, Playbook)

CAUSES = Path(__file__).parent / "causes"
LIBRARY = Path(__file__).parent / "library"


class BadPlaybook(ValueError):
    """A file that cannot be used; the message names the file and the field."""


def load_causes(folder: Path = CAUSES) -> tuple[Cause, ...]:
    """Read every cause of a folder, in order of their names.

    Raises:
        BadPlaybook: a file cannot be used, or is not named after its cause.
    """
    causes = _read_all(folder, Cause)
    for path, cause in causes:
        if cause.cause != path.stem:
            raise BadPlaybook(f"{path.name}: cause: the file of {cause.cause} is called {cause.cause}.yaml")
    if UNKNOWN not in {cause.cause for _, cause in causes}:
        raise BadPlaybook(f"{folder}: {UNKNOWN}.yaml is missing: what leads where nothing explains enough")
    return tuple(cause for _, cause in causes)


def load_playbooks(folder: Path = LIBRARY, causes: tuple[Cause, ...] | None = None) -> tuple[Playbook, ...]:
    """Read every playbook of a folder, in order of their names.

    Args:
        folder: with one file per playbook.
        causes: the catalogue; if given, a playbook may only name causes that stand in it.

    Raises:
        BadPlaybook: a file cannot be used.
    """
    playbooks = _read_all(folder, Playbook)
    known = {cause.cause for cause in causes} if causes is not None else None
    for path, playbook in playbooks:
        if playbook.playbook != path.stem:
            raise BadPlaybook(f"{path.name}: playbook: {playbook.playbook} must stand in {playbook.playbook}.yaml")
        for cause in playbook.when.causes:
            if known is not None and cause not in known:
                raise BadPlaybook(f"{path.name}: when.causes: there is no cause {cause}")
    return tuple(playbook for _, playbook in playbooks)


def _read_all(folder: Path, wanted: type[T]) -> list[tuple[Path, T]]:
    if not folder.is_dir():
        raise BadPlaybook(f"{folder}: no such folder")
    for path in sorted(folder.glob("*.yml")):
        raise BadPlaybook(f"{path.name}: is not read; files here end in .yaml")
    return [(path, _read(path, wanted)) for path in sorted(folder.glob("*.yaml"))]


def _read(path: Path, wanted: type[T]) -> T:
    try:
        plain = yaml.load(path.read_text(encoding="utf-8"), Loader=_Strict)  # noqa: S506  # a safe loader, stricter
        return msgspec.convert(plain, wanted)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark is not None else ""
        raise BadPlaybook(f"{path.name}:{line} not YAML: {getattr(fault, 'problem', fault)}") from None
    except msgspec.ValidationError as fault:
        detail, _, place = str(fault).partition(" - at ")
        field = place.rpartition(" in ")[2].strip("`").removeprefix("$.")
        raise BadPlaybook(f"{path.name}: {field or 'top level'}: {detail}") from None
    except (OSError, ValueError, RecursionError) as fault:
        raise BadPlaybook(f"{path.name}: cannot be read: {fault}") from None


class _Strict(yaml.SafeLoader):
    """YAML without traps: of two fields of one name YAML takes the last, and no limit can be held against NaN."""

    def compose_mapping_node(self, anchor: dict[Any, yaml.Node]) -> yaml.MappingNode:  # Any: PyYAML's own
        """Read a mapping; refuse a second field of the same name."""
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value} stands twice", problem_mark=key.start_mark)
                seen.add(key.value)
        return node

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        """Read a number; refuse what is none."""
        number = float(super().construct_yaml_float(node))
        if not math.isfinite(number):
            raise yaml.MarkedYAMLError(problem=f"{node.value} is no number", problem_mark=node.start_mark)
        return number


_Strict.add_constructor("tag:yaml.org,2002:float", _Strict.construct_yaml_float)
