"""The house: arrows go one way, no circle, no module that knows everything."""

import graphlib
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("schemas", "detectors", "playbooks", "streams")
MAY_IMPORT = {
    "schemas": set(),
    "detectors": {"schemas"},
    "playbooks": {"schemas"},
    "streams": {"schemas", "detectors", "playbooks"},
}
MOST_LINES = 300
ONE_FILE_TO_COPY = {"trainer.py": 430}
"""The trainer's hook is copied into training environments as one file, its writing thread included."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import between modules of ours."""
    return grimp.build_graph(*ROOMS, include_external_packages=False, cache_dir=None)


def test_arrows_go_one_way(graph: grimp.ImportGraph) -> None:
    """A room imports only the rooms below it."""
    for module in graph.modules:
        room = module.partition(".")[0]
        for imported in graph.find_modules_directly_imported_by(module):
            other = imported.partition(".")[0]
            assert other == room or other in MAY_IMPORT[room], f"{module} imports {imported}"


def test_there_is_no_import_circle(graph: grimp.ImportGraph) -> None:
    """Modules can be put in an order in which each imports only earlier ones."""
    arrows = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert list(graphlib.TopologicalSorter(arrows).static_order())


@pytest.mark.parametrize("room", [*ROOMS, "bench"])
def test_no_module_grows_too_long(room: str) -> None:
    """A file over 300 lines holds more than one idea."""
    long = {path.name: len(path.read_text().splitlines()) for path in (ROOT / room).rglob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > ONE_FILE_TO_COPY.get(name, MOST_LINES)} == {}


def test_the_top_level_is_as_agreed() -> None:
    """Beside the rooms there is only what a newcomer expects to find."""
    wanted = {
        *ROOMS,
        *("tests", "docs", "bench", "deploy", "pyproject.toml", "docker-compose.yml", "Dockerfile", "Makefile"),
        *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    }
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and "egg-info" not in path.name}
    assert found - wanted - {"__pycache__"} == set()


def test_the_trainers_hook_needs_the_standard_library_alone(graph: grimp.ImportGraph) -> None:
    """The hook is copied into training environments, so it imports nothing of ours."""
    assert graph.find_modules_directly_imported_by("streams.agents.trainer") == set()


def test_pins_that_have_bitten_are_exact() -> None:
    """What changed behaviour under us before is pinned to one version, and the lock agrees."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock = (ROOT / "deploy" / "run.lock").read_text()
    pins = [one for one in project["project"]["dependencies"] if "==" in one]
    assert {pin.partition("==")[0] for pin in pins} >= {"aiokafka", "faust-streaming", "kafka-python", "mode-streaming"}
    assert [pin for pin in pins if f"{pin} \\" not in lock] == []
