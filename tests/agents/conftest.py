"""The stand-in for the NVIDIA library: one per process, for the real binding loads the first and keeps it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.nvml_standin import Standin, build


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, compiled."""
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def standin(nvml_library: Path) -> Iterator[Standin]:
    """The stand-in with eight healthy GPUs; whatever hung in a test comes back at its end."""
    made = Standin(nvml_library)
    yield made
    made.reset(0, loaded=False)
