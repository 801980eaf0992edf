"""The fuzzing itself: it finds what is wrong, can repeat it, and finds nothing in a first short run."""

from random import Random

import pytest

from tests.fuzz.campaign import SHARES, Campaign, rounds, targets
from tests.fuzz.mutate import cuts, mutate


def test_a_short_run_finds_nothing() -> None:
    """Two rounds over all that is read raise nothing, miss nothing and read some lines of each."""
    campaign, left = Campaign(), iter((True, True, False))
    assert rounds(campaign, 0, lambda: next(left)) == 2 * sum(SHARES.values())
    assert campaign.failures == []
    assert campaign.attempts == {name: 2 * share for name, share in SHARES.items()}
    assert all(campaign.lines[name] for name in SHARES)


def test_a_fault_is_told_once_with_the_seed_that_repeats_it() -> None:
    """A reader that trips over some bytes is found, and its seed trips it again."""

    def fragile(chance: Random) -> int:
        if b"9" in mutate(chance, b"loss: 1", [b"step: 2"], most=8):
            raise KeyError("nine")
        return 1

    campaign = Campaign()
    for seed in range(300):
        campaign.attempt("fragile", fragile, seed)
    (failure,) = campaign.failures
    assert "KeyError: 'nine'" in failure.fault
    assert 0 < sum(campaign.failed.values()) < 300
    with pytest.raises(KeyError):
        fragile(Random(f"fragile {failure.seed}"))


def test_the_same_seed_is_the_same_damage() -> None:
    """Damage and cuts come from the seed alone, and cutting loses no byte."""
    one, other = (mutate(Random(5), b"step: 7  loss: 1", [b"a", b"b"]) for _ in range(2))
    assert one == other
    assert b"".join(cuts(Random(5), one * 50)) == one * 50


def test_all_targets_have_their_turn() -> None:
    """Every target has a share."""
    with targets() as known:
        assert known.keys() == SHARES.keys()


@pytest.mark.parametrize(
    ("target", "seed"),
    [
        ("log_files", 1037347), ("logs", 1152388), ("exporters", 1013387), ("events", 1014248), ("logs", 4721),
        ("log_files", 14300), ("log_files", 5018915), ("logs", 5012710), ("logs", 340738), ("logs", 18911),
        ("logs", 200683), ("exporters", 113116), ("exporters", 129064), ("exporters", 810547),
    ],
)  # fmt: skip
def test_what_long_runs_found_stays_mended(target: str, seed: int) -> None:
    """Seeds at which hours of fuzzing failed pass: numbers of files, long numbers and lines, names of none."""
    campaign = Campaign()
    with targets() as known:
        campaign.attempt(target, known[target], seed)
    assert campaign.failures == []
