"""Numbers as people read them."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.signals import SIGNALS
from schemas.telemetry import Reading
from schemas.wording import amount, change, count, step_words


@pytest.mark.parametrize(
    ("signal", "value", "words"),
    [
        ("tokens_per_second", 1_020_000.0, "1.02M tokens/s"),
        ("tokens_per_second", 690_000.0, "690k tokens/s"),
        ("tokens_per_second", 999_700.0, "1M tokens/s"),
        ("loss", 2.3149, "2.31"),
        ("loss", 999.7, "1k"),
        ("loss", -0.00123, "-0.00123"),
        ("loss", 0.0, "0"),
        ("loss", 2.5e17, "2.5e+17"),
        ("loader_share", 0.1834, "18.3 %"),
        ("loader_share", 0.0, "0 %"),
        ("checkpoint_seconds", 41.0, "41 s"),
        ("checkpoint_seconds", 0.0, "0 s"),
        ("checkpoint_seconds", 0.9999, "1 s"),
        ("checkpoint_seconds", 0.0009999, "1 ms"),
        ("checkpoint_seconds", 0.0415, "41.5 ms"),
        ("checkpoint_seconds", 0.0000415, "41.5 µs"),
        ("interval_seconds", 299.6, "300 s"),
        ("interval_seconds", 300.0, "5 min 0 s"),
        ("interval_seconds", 3599.9, "59 min 59 s"),
        ("interval_seconds", 3600.0, "1 h 0 min"),
        ("interval_seconds", 93_784.0, "26 h 3 min"),
        ("clock_offset_seconds", -5.0, "-5 s"),
        ("clock_offset_seconds", -400.0, "-6 min 40 s"),
        ("memory_available_bytes", 8.66e11, "866 GB"),
        ("memory_available_bytes", 9.996e11, "1 TB"),
        ("memory_available_bytes", 12.0, "12 B"),
        ("storage_read_bytes_per_second", 1.5e6, "1.5 MB/s"),
        ("storage_read_bytes_per_second", 2048.0, "2.05 kB/s"),
        ("sm_clock_mhz", 1755.0, "1,755 MHz"),
        ("temperature_c", 84.25, "84.2 °C"),
        ("power_watts", 698.0, "698 W"),
        ("something_new", 3.14159, "3.14"),
        ("loss", math.nan, "NaN"),
        ("loss", math.inf, "infinite"),
        ("tokens_per_second", -math.inf, "minus infinite"),
        ("loss", None, "absent"),
    ],
)
def test_amounts(signal: str, value: Reading, words: str) -> None:
    """A value is written in three digits with a unit a person would choose."""
    assert amount(signal, value) == words


@given(st.sampled_from([signal.name for signal in SIGNALS]), st.floats(-1e12, 1e12))
def test_no_amount_is_longer_than_a_person_reads(signal: str, value: float) -> None:
    """Whatever the value, its words are short, and powers of ten are left to what is below a millionth or enormous."""
    words = amount(signal, value)
    assert 1 <= len(words) <= 28
    assert "e+" not in words or abs(value) >= 1e4


@given(st.floats(1e-3, 1e13))
def test_three_digits_are_right(value: float) -> None:
    """The number that a person reads is the value to within half a percent."""
    found = re.fullmatch(r"([0-9.]+)([kMGT]?)", amount("loss", value))
    assert found
    scale = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found[2]]
    assert float(found[1]) * scale == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("signal", "before", "after", "words"),
    [
        ("tokens_per_second", 1.02e6, 0.69e6, "1.02M tokens/s → 690k tokens/s (−32 %)"),
        ("loader_share", 0.03, 0.25, "3 % → 25 % (+733 %)"),
        ("loader_share", 0.03, 0.9, "3 % → 90 % (×30)"),
        ("storage_retries_total", 0.0, 12.0, "0 → 12"),
        ("loss", 2.31, math.nan, "2.31 → NaN"),
        ("loss", None, 2.31, "absent → 2.31"),
        ("loss", -2.0, -1.0, "−2 → −1 (+50 %)"),
        ("loss", 2.0, -30.0, "2 → −30"),
        ("loss", 2.0, 2.0, "2 → 2 (+0 %)"),
        ("loss", 1e-300, 5.0, "1e−300 → 5"),
    ],
)
def test_changes(signal: str, before: Reading, after: Reading, words: str) -> None:
    """A change is written with its share where a share has a meaning."""
    assert change(signal, before, after) == words


@given(st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_any_change_has_words(before: float, after: float) -> None:
    """No pair of numbers is without words, and none fills a screen."""
    assert 5 <= len(change("loss", before, after)) <= 60


def test_counts_of_things() -> None:
    """One thing has no plural, several have one."""
    assert [count(n, "rank") for n in (0, 1, 2)] == ["0 ranks", "1 rank", "2 ranks"]
    assert count(3, "hypothesis") == "3 hypotheses"


def test_steps() -> None:
    """A step is written with thousands, and none is said to be none."""
    assert (step_words(0), step_words(18_046), step_words(None)) == ("step 0", "step 18,046", "no step")
