"""What holds for every test: no example is timed, and in continuous integration no test of a service is skipped."""

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

# A machine may be busy with other things; how long an example takes says nothing about whether it is right.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a service that is not there is a failure: what was not run was not shown.

    Incidents that others recorded are no part of the project; without them their tests skip everywhere.
    """
    report = yield
    service, recorded = (item.get_closest_marker(name) is not None for name in ("service", "recorded"))
    if report.skipped and os.environ.get("CI") and service and not (recorded and "recorded" in str(report.longrepr)):
        report.outcome = "failed"
        report.longrepr = f"a service test was skipped in CI: {report.longrepr}"
    return report
