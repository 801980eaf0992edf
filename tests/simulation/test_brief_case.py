"""The worked case has the numbers of the brief."""

from collections.abc import Callable

import numpy as np
import pytest

from streams.agents.simulation.brief_case import ONSET
from tests.simulation.lived import Lived, live

TOKENS = 1_048_576


@pytest.fixture(scope="module")
def brief(lived: Callable[[str], Lived]) -> Lived:
    """The whole case without any action."""
    return lived("brief64")


def _rule_step(shares: np.ndarray, first: int, limit: float = 0.15, count: int = 50) -> int:
    """First step at which the share has been over the limit for that many steps."""
    run = 0
    for step, share in enumerate(shares, start=first):
        run = run + 1 if share > limit else 0
        if run == count:
            return step
    raise AssertionError("the rule never holds")


@pytest.mark.parametrize(
    ("step", "tokens_per_second", "share", "loss"),
    [
        pytest.param(17_980, 1.02e6, 0.03, 2.31, id="17,980 healthy"),
        pytest.param(18_120, 0.74e6, 0.18, 2.30, id="18,120"),
        pytest.param(18_200, 0.71e6, 0.22, 2.33, id="18,200"),
        pytest.param(18_300, 0.69e6, 0.25, 2.34, id="18,300"),
    ],
)
def test_the_rows_of_the_brief(brief: Lived, step: int, tokens_per_second: float, share: float, loss: float) -> None:
    """Tokens per second within 3 %, loader share within 2 points, loss within 0.012 of each row."""
    assert TOKENS / brief.step_seconds(step, step)[0] == pytest.approx(tokens_per_second, rel=0.03)
    assert brief.loader_share(step, step)[0] == pytest.approx(share, abs=0.02)
    assert brief.job("loss")[step] == pytest.approx(loss, abs=0.012)


@pytest.mark.parametrize("seed", [1])
def test_when_the_rule_first_holds(seed: int) -> None:
    """Over 15 % for 50 consecutive steps holds first between 18,285 and 18,300, whatever the noise."""
    assert 18_308 <= _rule_step(live("brief64", seed).loader_share(17_560, 18_760), 17_560) <= 18_325


def test_it_comes_in_waves(brief: Lived) -> None:
    """From 18,100 to 18,264 waves of 25 to 40 steps above 15 % are parted by 8 steps below 10 %."""
    above = brief.loader_share(18_100, 18_300) > 0.15
    edges = np.flatnonzero(np.diff(above.astype(int))) + 1
    lengths = np.diff(edges)
    kinds = above[edges[:-1]]
    assert (lengths[~kinds] == 8).all()
    assert ((lengths[kinds] >= 25) & (lengths[kinds] <= 40)).all()
    assert len(lengths[kinds]) == 4
    assert brief.loader_share(18_100, 18_300)[~above].max() < 0.15
    assert above[-36:].all()


def test_retries_come_first(brief: Lived) -> None:
    """The first samples after the onset show retries while the loader share is still healthy."""
    before = brief.sampled("storage_retries_total", "n03", 17_900, ONSET)[-1, 0]
    soon = brief.sampled("storage_retries_total", "n03", ONSET, ONSET + 22)[-1, 0]
    assert soon > before + 50
    assert brief.loader_share(ONSET, ONSET + 10).max() < 0.04


@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        pytest.param(17_700, 6.0, id="planned"),
        pytest.param(18_000, 6.0, id="planned, at the onset"),
        pytest.param(18_300, 41.0, id="storage shared"),
        pytest.param(18_600, 47.0, id="growing"),
    ],
)
def test_the_pauses_of_its_saves(brief: Lived, step: int, seconds: float) -> None:
    """Saves pause about 6 s while healthy, 41 s and growing afterwards, in the critical path."""
    save = next(event for event in brief.events("checkpoint.end") if event.data["step"] == step)
    assert save.data["pause_seconds"] == pytest.approx(seconds, rel=0.06)
    gap = brief.time_of(step + 1) - brief.time_of(step) - brief.step_seconds(step + 1, step + 1)[0]
    assert gap == pytest.approx(seconds, rel=0.08)


def test_everything_else_is_normal(brief: Lived) -> None:
    """Gradient norm, clocks, CPU and own compute do not move, and the loss never spikes."""
    for signal in ("grad_norm", "loss"):
        values = brief.finite(signal, 17_560, 18_760)
        calm = np.median(values[:400])
        assert np.median(values[-400:]) == pytest.approx(calm, rel=0.02)
    assert (np.abs(np.diff(brief.finite("loss", 17_560, 18_760))) < 0.12).all()
    compute = brief.over("compute_seconds", 17_560, 18_760)
    assert np.median(compute[-400:]) == pytest.approx(np.median(compute[:400]), rel=0.01)
    for signal in ("sm_clock_mhz", "cpu_util", "allowed_cpu_util"):
        before = brief.sampled(signal, "n05", 17_600, ONSET)
        assert np.median(brief.sampled(signal, "n05", 18_240, 18_700)) == pytest.approx(np.median(before), rel=0.02)


def test_gpus_idle_in_proportion_to_the_wait_for_data(brief: Lived) -> None:
    """The utilisation of the GPUs falls by the loader's share of the step, and the read rate with the tokens."""
    before = np.median(brief.sampled("gpu_util", "n01", 17_600, 17_990))
    after = np.median(brief.sampled("gpu_util", "n01", 18_310, 18_590))
    assert before - after == pytest.approx(0.97 * (0.255 - 0.03), abs=0.04)
    reads = [
        np.median(brief.sampled("storage_read_bytes_per_second", "n01", first, last))
        for first, last in ((17_600, 17_990), (18_310, 18_590))
    ]
    assert reads[1] / reads[0] == pytest.approx(0.69 / 1.02, abs=0.05)


def test_nobody_in_particular_starves(brief: Lived) -> None:
    """All ranks wait for data, other ones longest from step to step, and the others wait for them."""
    loader = brief.over("loader_seconds", 18_264, 18_590)
    assert loader.min(axis=0).min() > 0.05
    assert len(set(np.argmax(loader, axis=1))) > 30
    waits = [np.median(brief.over("wait_seconds", first, first + 200)) for first in (17_700, 18_300)]
    assert waits[1] > 1.5 * waits[0]
