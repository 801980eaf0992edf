"""What the tests of actions share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.actions.samples import an_incident
from tests.actions.world import World


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Make an installation that knows the brief's incident, with fakes of the test's choice."""
    made: list[World] = []

    def make(**given: object) -> World:
        made.append(World(tmp_path / "trainmaster.db", **given))
        made[-1].say(an_incident())
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(new_world: Callable[..., World]) -> World:
    """An installation with ordinary fakes."""
    return new_world()
