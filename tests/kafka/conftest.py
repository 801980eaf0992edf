"""An installation on the shared services, with a name of its own for each test."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kafka.installation import Installation

NewInstallation = Callable[..., Installation]


@pytest.fixture
def new_installation(
    kafka_bootstrap: str, redis_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[NewInstallation]:
    """Makes installations; `partitions` and settings as environment variables may be given."""
    made: list[Installation] = []

    def make(partitions: int = 4, **given: str) -> Installation:
        name = re.sub(r"\W+", "-", request.node.name)[-80:]
        made.append(Installation(name, kafka_bootstrap, redis_url, tmp_path / str(len(made)), partitions, **given))
        return made[-1]

    yield make
    for one in made:
        one.close()
