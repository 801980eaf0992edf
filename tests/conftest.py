"""What holds for every test: where continuous integration runs, a test of a service may not be skipped."""

import os
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a skipped service test is a failure: what was not run was not shown."""
    report = yield
    if report.skipped and os.environ.get("CI") and item.get_closest_marker("service") is not None:
        report.outcome = "failed"
        report.longrepr = f"a service test was skipped in CI: {report.longrepr}"
    return report
