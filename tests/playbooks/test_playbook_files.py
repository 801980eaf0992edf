"""Files of causes and playbooks: a wrong one is refused at the start, and the message names the file and the field."""

from collections.abc import Callable
from pathlib import Path

import pytest

from playbooks.load import CAUSES, LIBRARY, BadPlaybook, load_causes, load_playbooks
from streams.install import checked_playbooks, installed_playbooks
from streams.settings import BadSettings, Settings

CAUSE = "cause: odd\ntitle: something odd\nlayer: gpu\nseverity: error\n"
UNKNOWN = "cause: unknown\ntitle: nobody knows\nlayer: unknown\nseverity: warning\n"
PLAYBOOK = "playbook: odd\nsummary: do something\naction: notify\n"

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Make a folder of files from their contents."""

    def made(**contents: str | bytes) -> Path:
        for name, content in contents.items():
            raw = content if isinstance(content, bytes) else content.encode()
            (tmp_path / f"{name}.yaml").write_bytes(raw)
        return tmp_path

    return made


ANY_FILE = [
    ("empty", "", "odd.yaml: top level: Expected `object`, got `null`"),
    ("a list", "- a\n", "odd.yaml: top level: Expected `object`, got `array`"),
    ("a word", "odd\n", "odd.yaml: top level: Expected `object`, got `str`"),
    ("not YAML", "a: [\n", "odd.yaml: line 2 not YAML"),
    ("a tab", "\ta: b\n", "odd.yaml: line 1 not YAML"),
    ("two documents", "a: b\n---\nc: d\n", "odd.yaml: line 2 not YAML"),
    ("an unknown alias", "a: *b\n", "odd.yaml: line 1 not YAML"),
    ("code", "a: !!python/object/apply:os.getcwd []\n", "odd.yaml: line 1 not YAML"),
    ("not UTF-8", b"a: \xff\n", "odd.yaml: cannot be read"),
    ("a date that is none", "a: 2024-13-45\n", "odd.yaml: cannot be read: month"),
    ("nested without end", "[" * 5000, "odd.yaml: cannot be read"),
]


@pytest.mark.parametrize(
    ("content", "message"), [pytest.param(content, words, id=name) for name, content, words in ANY_FILE]
)
def test_files_that_are_none(folder: Folder, content: str | bytes, message: str) -> None:
    """Whatever a file holds, its name and the reason are told, for causes and for playbooks."""
    with pytest.raises(BadPlaybook) as refused:
        load_playbooks(folder(odd=content))
    assert str(refused.value).startswith(message)
    with pytest.raises(BadPlaybook) as refused:
        load_causes(folder(odd=content, unknown=UNKNOWN))
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(CAUSE + "colour: red\n", "top level: Object contains unknown field `colour`", id="unknown field"),
        pytest.param(CAUSE.replace("title", "titel"), "top level: Object", id="a field misspelt"),
        pytest.param(CAUSE.replace("gpu", "gpus"), "layer: Invalid enum value 'gpus'", id="no such layer"),
        pytest.param(CAUSE.replace("error", "fatal"), "severity: Invalid enum value 'fatal'", id="no such severity"),
        pytest.param(CAUSE + "prior: high\n", "prior: Expected `float`, got `str`", id="a word for a number"),
        pytest.param(CAUSE + "prior: .nan\n", "line 5 not YAML: .nan is no number", id="NaN"),
        pytest.param(CAUSE + "prior: -.inf\n", "line 5 not YAML: -.inf is no number", id="infinity"),
        pytest.param(CAUSE + "title: another\n", "line 5 not YAML: title stands twice", id="a field twice"),
        pytest.param(CAUSE + "cascade: loss\n", "cascade: Expected `array`, got `str`", id="a word for a list"),
        pytest.param(CAUSE + "blames: switch\n", "blames: Invalid enum value 'switch'", id="no such culprit"),
        pytest.param(
            CAUSE + "clues:\n  - {moved: loss, event: xid, weight: 1}\n",
            "clues[0]: one of moved, value, event, detector is expected, found moved, event",
            id="two places in a clue",
        ),
        pytest.param(CAUSE + "clues:\n  - {weight: 1}\n", "clues[0]: one of moved, value", id="no place in a clue"),
        pytest.param(CAUSE + "clues:\n  - {moved: loss}\n", "clues[0]: Object missing", id="no weight"),
        pytest.param(
            CAUSE + "clues:\n  - {moved: loss, weight: 1}\n  - {value: loss, weight: 1}\n",
            "clues[1]: value loss: one of above and below is expected",
            id="a value without a limit",
        ),
        pytest.param(
            CAUSE + "clues:\n  - {value: loss, above: 1, below: 2, weight: 1}\n",
            "clues[0]: value loss: one of above and below is expected",
            id="a value with two limits",
        ),
        pytest.param(
            CAUSE + "clues:\n  - {moved: loss, direction: sideways, weight: 1}\n",
            "clues[0].direction: Invalid enum value 'sideways'",
            id="no such direction",
        ),
        pytest.param(CAUSE + "clues:\n  - {event: xid, codes: 79, weight: 1}\n", "clues[0].codes", id="one code"),
        pytest.param(CAUSE.replace("odd\n", "other\n", 1), "cause: the file of other is called other.yaml", id="name"),
    ],
)
def test_causes_that_are_wrong(folder: Folder, content: str, message: str) -> None:
    """A cause with one fault is refused with the file, the field and what was expected there."""
    with pytest.raises(BadPlaybook) as refused:
        load_causes(folder(odd=content, unknown=UNKNOWN))
    assert str(refused.value).startswith(f"odd.yaml: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(PLAYBOOK + "colour: red\n", "top level: Object contains unknown field `colour`", id="unknown"),
        pytest.param(
            "playbook: odd\nsummary: x\n", "top level: Object missing required field `action`", id="no action"
        ),
        pytest.param(PLAYBOOK + "mode: auto\n", "mode: Invalid enum value 'auto'", id="no such mode"),
        pytest.param(PLAYBOOK + "mode: on\n", "mode: Expected `str`, got `bool`", id="YAML's own idea of on"),
        pytest.param(PLAYBOOK + "mode: act\nmode: ask\n", "line 5 not YAML: mode stands twice", id="two modes"),
        pytest.param(PLAYBOOK + "cooldown: -1\n", "cooldown: Expected `float` >= 0.0", id="a cooldown below zero"),
        pytest.param(PLAYBOOK + "expires: 0\n", "expires: Expected `float` > 0.0", id="expired at once"),
        pytest.param(PLAYBOOK + "expires: .inf\n", "line 4 not YAML: .inf is no number", id="never expired"),
        pytest.param(PLAYBOOK + "most_targets: 0\n", "most_targets: Expected `int` >= 1", id="no target"),
        pytest.param(PLAYBOOK + "budget: {actions: 0}\n", "budget.actions: Expected `int` >= 1", id="no budget"),
        pytest.param(PLAYBOOK + "budget: {action: 1}\n", "budget: Object contains unknown field", id="in the budget"),
        pytest.param(PLAYBOOK + "target: rank\n", "target: Invalid enum value 'rank'", id="no such target"),
        pytest.param(PLAYBOOK + "again: [opened]\n", "again[0]: Invalid enum value 'opened'", id="always opened"),
        pytest.param(PLAYBOOK + "params: {1: 2}\n", "params: Expected `str`, got `int`", id="a parameter without name"),
        pytest.param(PLAYBOOK + "when: {state: [open]}\n", "when: Object contains unknown field `state`", id="in when"),
        pytest.param(PLAYBOOK + "when: {states: [gone]}\n", "when.states[0]: Invalid enum value", id="no such state"),
        pytest.param(PLAYBOOK + "when: {layers: [disk]}\n", "when.layers[0]: Invalid enum value", id="no such layer"),
        pytest.param(PLAYBOOK + "when: {confidence: 80}\n", "when.confidence: Expected `float` <= 1", id="percent"),
        pytest.param(PLAYBOOK + "when: {causes: hang}\n", "when.causes: Expected `array`", id="a word for a list"),
        pytest.param(PLAYBOOK + "when: {causes: [nothing]}\n", "when.causes: there is no cause nothing", id="no cause"),
        pytest.param(
            PLAYBOOK + "when: {all: [{above: 1}]}\n",
            "when.all[0]: one of signal and incident is expected",
            id="a limit on nothing",
        ),
        pytest.param(
            PLAYBOOK + "when: {all: [{signal: loss, incident: steps, above: 1}]}\n",
            "when.all[0]: one of signal and incident is expected",
            id="a limit on two things",
        ),
        pytest.param(
            PLAYBOOK + "when: {all: [{incident: cost, above: 1}]}\n", "when.all[0].incident: Invalid", id="no number"
        ),
        pytest.param(
            PLAYBOOK + "when: {all: [{signal: loss, above: 1, steps: 0}]}\n",
            "when.all[0].steps: Expected `int` >= 1",
            id="for no steps",
        ),
        pytest.param(PLAYBOOK + "verify: {at_least: 90}\n", "verify.at_least: Expected `float` <= 1", id="verify %"),
        pytest.param(PLAYBOOK + "verify: {below: 0}\n", "verify.below: Expected `float` > 0.0", id="no pause at all"),
        pytest.param(PLAYBOOK.replace("odd", "other"), "playbook: other must stand in other.yaml", id="name"),
        pytest.param(PLAYBOOK.replace("notify", "reboot"), "action: there is no action reboot", id="no such action"),
        pytest.param(
            PLAYBOOK + "on_failure: pray\n", "on_failure: there is no action pray", id="no such action on failure"
        ),
        pytest.param(PLAYBOOK + "params: {louder: 1}\n", "params: Object contains unknown field", id="no parameter"),
        pytest.param(
            PLAYBOOK.replace("notify", "checkpoint.defer") + "params: {steps: 5000}\n",
            "params: Expected `int` <= 2000",
            id="a parameter out of range",
        ),
    ],
)
def test_playbooks_that_are_wrong(folder: Folder, content: str, message: str) -> None:
    """A playbook with one fault is refused with the file, the field and what was expected there."""
    with pytest.raises(BadPlaybook) as refused:
        checked_playbooks(folder(odd=content), load_causes())
    assert str(refused.value).startswith(f"odd.yaml: {message}")


def test_the_cause_for_what_nobody_knows_is_needed(folder: Folder) -> None:
    """Without `unknown` there is nothing to say where nothing explains enough."""
    with pytest.raises(BadPlaybook, match=r"unknown\.yaml is missing"):
        load_causes(folder(odd=CAUSE))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A wrong path is told at the start."""
    with pytest.raises(BadPlaybook, match="no such folder"):
        load_playbooks(tmp_path / "nowhere")


def test_a_file_with_another_ending_is_not_overlooked(folder: Folder) -> None:
    """A playbook called .yml would otherwise never act, and nobody would know why."""
    (folder(odd=PLAYBOOK) / "other.yml").write_text(PLAYBOOK)
    with pytest.raises(BadPlaybook, match=r"other\.yml: is not read; files here end in \.yaml"):
        load_playbooks(folder())


def test_a_folder_named_like_a_file(folder: Folder) -> None:
    """What cannot be opened is told by its name."""
    (folder() / "odd.yaml").mkdir()
    with pytest.raises(BadPlaybook, match=r"odd\.yaml: cannot be read"):
        load_playbooks(folder())


def test_files_come_in_order_of_their_names(folder: Folder) -> None:
    """Playbooks are considered in an order that a person can predict."""
    names = ["b-last", "a-first", "a-second"]
    made = folder(**{name: PLAYBOOK.replace("odd", name) for name in names})
    assert [one.playbook for one in load_playbooks(made)] == sorted(names)


def test_a_mode_of_an_installation_is_for_a_playbook_that_is_there() -> None:
    """A mode for a playbook that does not exist is refused: somebody believes something is switched off."""
    settings = Settings(modes={"restart-hung-job": "act"})
    modes = {one.playbook: one.mode for one in installed_playbooks(settings, load_causes())}
    assert modes["restart-hung-job"] == "act"
    with pytest.raises(BadSettings, match=r"modes\.restart-hung: there is no such playbook"):
        installed_playbooks(Settings(modes={"restart-hung": "observe"}), load_causes())


@pytest.mark.parametrize("path", [*sorted(CAUSES.glob("*")), *sorted(LIBRARY.glob("*"))], ids=lambda path: path.stem)
def test_every_file_that_ships_is_loaded(path: Path) -> None:
    """Nothing lies in the folders that nobody reads."""
    causes, library = load_causes(), load_playbooks(causes=load_causes())
    assert path.suffix == ".yaml"
    assert path.stem in {*(cause.cause for cause in causes), *(playbook.playbook for playbook in library)}
