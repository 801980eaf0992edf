"""The catalogue of actions: complete, and strict about parameters."""

import ast
from pathlib import Path

import msgspec
import pytest

import playbooks.actions
from playbooks.actions.catalogue import ACTIONS, params_of
from playbooks.actions.checkpoint_defer import MOST_STEPS

NAMED_IN_THE_CONTRACT = {
    "loader.use_cache",
    "checkpoint.defer",
    "checkpoint.make_async",
    "checkpoint.now",
    "taint.mark",
    "postmortem.open",
    "node.cordon",
    "job.restart",
    "job.stop",
    "notify",
    "webhook",
}


def classes_with(method: str, attribute: str, folder: Path) -> set[str]:
    """Name every class of a folder that has a method and sets an attribute: what its file is there for."""
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            methods = {part.name for part in node.body if isinstance(part, ast.AsyncFunctionDef)}
            attributes = {
                target.id
                for part in node.body
                if isinstance(part, ast.Assign)
                for target in part.targets
                if isinstance(target, ast.Name)
            }
            if method in methods and attribute in attributes:
                found.add(node.name)
    return found


def test_no_action_is_missing() -> None:
    """Every class in the folder that is an action stands in the catalogue."""
    folder = Path(next(iter(playbooks.actions.__path__)))
    written = classes_with("run", "name", folder)
    assert len(written) >= len(NAMED_IN_THE_CONTRACT)
    assert written == {type(action).__name__ for action in ACTIONS.values()}


def test_every_name_of_the_contract_is_there() -> None:
    """The actions that the design names can be named in a playbook."""
    assert set(ACTIONS) >= NAMED_IN_THE_CONTRACT


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_lives_in_a_file_of_its_name(name: str) -> None:
    """Whoever looks for an action finds it by its name."""
    assert type(ACTIONS[name]).__module__ == f"playbooks.actions.{name.replace('.', '_')}"


@pytest.mark.parametrize("name", ACTIONS)
def test_parameters_have_defaults(name: str) -> None:
    """A playbook may leave every parameter out."""
    assert isinstance(params_of(name, {}), ACTIONS[name].params)


@pytest.mark.parametrize("name", ACTIONS)
def test_an_undo_is_an_action(name: str) -> None:
    """What undoes an action stands in the catalogue, and only what is reversible has one."""
    undo = ACTIONS[name].undo
    assert undo == "" or (undo in ACTIONS and ACTIONS[name].reversible)


BAD = {
    "unknown field": ("loader.use_cache", {"paht": "cache"}, "paht"),
    "empty path": ("loader.use_cache", {"path": ""}, "path"),
    "number as text": ("checkpoint.defer", {"steps": "300"}, "steps"),
    "no steps": ("checkpoint.defer", {"steps": 0}, "steps"),
    "too many steps": ("checkpoint.defer", {"steps": MOST_STEPS + 1}, "steps"),
    "a parameter where there is none": ("taint.mark", {"from_step": 1}, "from_step"),
    "a kind that is none": ("notify", {"kind": "closed"}, "kind"),
}


@pytest.mark.parametrize(("name", "given", "field"), BAD.values(), ids=BAD)
def test_bad_parameters_are_refused_by_name(name: str, given: dict[str, object], field: str) -> None:
    """A parameter that cannot be used is named when the playbook is loaded."""
    with pytest.raises(msgspec.ValidationError, match=field):
        params_of(name, given)
