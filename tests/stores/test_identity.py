"""Identities are unique where they must be, and the same where they must be."""

from typing import Any

import pytest

from schemas.detection import Vitals
from streams.stores.identity import identify


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("another step", {"step": 8}),
        ("another attempt", {"attempt": 2}),
        ("another kind", {"of": "gpu"}),
        ("another job", {"job": "other"}),
    ],
)
def test_vitals_of_different_moments_differ(name: str, other: dict[str, str | int]) -> None:
    """Job, attempt, kind and step each tell vitals apart; the time of a closed step does not."""
    fields: dict[str, Any] = {"job": "wm-64", "attempt": 1, "of": "step", "step": 7, "time": 10.0}  # Any: a table
    one = Vitals(**fields)
    assert identify(one) != identify(Vitals(**{**fields, **other}))
    assert identify(one) == identify(Vitals(**{**fields, "time": 11.0}))


def test_samples_are_told_apart_by_their_time() -> None:
    """Two samples of one step are two records."""
    first, second = (Vitals(job="wm-64", attempt=1, of="gpu", step=7, time=time) for time in (10.0, 11.0))
    assert identify(first) != identify(second)
