"""When the data stopped being mixed as planned: dated into the block in which it happened."""

import numpy as np
import pytest

from detectors.exposure import Exposure

BLOCK = 20


@pytest.mark.parametrize("change", [200, 205, 210, 215, 219])
@pytest.mark.parametrize("after", [0.35, 0.7])
def test_a_change_within_a_block_is_dated_into_it(change: int, after: float) -> None:
    """The block's mean is off by the share of it that came after; who knows that block alone knows its beginning."""
    dice = np.random.default_rng(change)
    rows = np.where(np.arange(400) < change, 0.5, after) + 0.01 * dice.standard_normal(400)
    exposure = Exposure(recipe=0.5, block=BLOCK)
    memory = exposure.blank(1)
    found = [alarm for index, row in enumerate(rows) for alarm in exposure.update(memory, index, np.array([row]))]
    assert [alarm.over for alarm in found][:1] == [False]
    alone = found[0].index - change < BLOCK
    assert found[0].onset == change - change % BLOCK if alone else abs(found[0].onset - change) <= BLOCK // 4
    assert found[0].before == 0.5
