"""Runs of scenarios, each made once and shared by the tests that look at it."""

from collections.abc import Callable

import pytest

from tests.simulation.lived import Lived, live


@pytest.fixture(scope="session")
def lived() -> Callable[[str], Lived]:
    """Give a scenario's run with seed 5, made on first use."""
    runs: dict[str, Lived] = {}

    def give(name: str) -> Lived:
        if name not in runs:
            runs[name] = live(name, 5)
        return runs[name]

    return give
