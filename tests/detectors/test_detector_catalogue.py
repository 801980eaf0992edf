"""The catalogue names every detector there is."""

import importlib
import inspect
import pkgutil

import pytest

import detectors
from detectors.catalogue import DETECTORS


def _written() -> dict[str, type]:
    """Find the detector classes by their three members, module by module."""
    found: dict[str, type] = {}
    for module in pkgutil.iter_modules(detectors.__path__, "detectors."):
        loaded = importlib.import_module(module.name)
        for one in vars(loaded).values():
            mine = inspect.isclass(one) and one.__module__ == module.name and not getattr(one, "_is_protocol", False)
            if mine and all(hasattr(one, member) for member in ("name", "blank", "update")):
                found[module.name.removeprefix("detectors.")] = one
    return found


def test_every_detector_that_is_written_is_in_the_catalogue() -> None:
    """A file with a detector in it has a line in the catalogue, under the name of the file, and no line is without."""
    assert set(_written()) == set(DETECTORS)


@pytest.mark.parametrize("name", DETECTORS)
def test_each_is_built_with_its_defaults(name: str) -> None:
    """An entry builds a new detector of the class in the file of that name, which knows its own name."""
    built = DETECTORS[name]()
    assert type(built) is _written()[name]
    assert built.name == name
    assert DETECTORS[name]() is not built


@pytest.mark.parametrize("name", DETECTORS)
def test_each_says_what_somebody_on_call_needs(name: str) -> None:
    """A detector's docstring has its input with unit, output, cost, errors and an example that is run."""
    text = inspect.getdoc(_written()[name]) or ""
    for part in ("Args:", "Input:", "Output:", "Cost:", "Raises:", ">>>"):
        assert part in text
