"""Ids are made from what they name."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.ids import derived_id

parts = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.integers())


@given(st.lists(parts, min_size=1, max_size=5))
def test_the_same_parts_give_the_same_id(given_parts: list[str | int | None]) -> None:
    """An id is sixteen hexadecimal digits and depends on nothing but its parts."""
    once = derived_id(*given_parts)
    assert once == derived_id(*given_parts)
    assert len(once) == 16
    assert int(once, 16) >= 0


@given(st.lists(parts, min_size=1, max_size=4), st.lists(parts, min_size=1, max_size=4))
def test_other_parts_give_another_id(one: list[str | int | None], other: list[str | int | None]) -> None:
    """Two lists of parts have one id only if they are written alike."""
    alike = [None if part is None else str(part) for part in one] == [
        None if part is None else str(part) for part in other
    ]
    assert (derived_id(*one) == derived_id(*other)) == alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("a", "b"), ("ab",), id="where the parts are cut"),
        pytest.param(("a", "b"), ("b", "a"), id="their order"),
        pytest.param(("a", None), ("a", ""), id="absent and empty"),
        pytest.param(("a", None), ("a",), id="absent and not given"),
        pytest.param(("job", 1, 18_046), ("job", 11, 8_046), id="where numbers are cut"),
    ],
)
def test_what_makes_a_difference(one: tuple[str | int | None, ...], other: tuple[str | int | None, ...]) -> None:
    """Cuts, order and absence are part of the name."""
    assert derived_id(*one) != derived_id(*other)


def test_another_process_gives_the_same_id() -> None:
    """The seed of Python's own hashing has no part in it."""
    program = "from schemas.ids import derived_id; print(derived_id('wm-64', 1, 'level_shift', 'job', 18046, None))"
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert said == [derived_id("wm-64", 1, "level_shift", "job", 18_046, None)] * 2
