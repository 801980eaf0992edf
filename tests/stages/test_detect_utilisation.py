"""How well the GPUs are used, among the values of a step."""

from typing import Any

import pytest

from schemas.detection import Detection, Vitals
from schemas.telemetry import Reading
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def values(fed: Fed[DetectMemory], name: str) -> list[Reading]:
    """A value of the job, step by step."""
    return [one.values[name] for one in fed.told(Vitals) if one.of == "step" and name in one.values]


def lived(job: Job, steps: int, **config: Any) -> Fed[DetectMemory]:  # Any: a configuration
    """A job whose launcher says this of its model."""
    fed = Fed(Detect())
    fed.feed(job.started(config=config), *job.run(steps))
    fed.flush()
    return fed


def test_use_follows_from_the_model_and_the_part() -> None:
    """A thousand tokens a step of 1.09 s on eight GPUs."""
    use = values(lived(Job(), 20, flops_per_token=4e9, peak_flops=1e12), "mfu")
    assert len(use) == 19
    assert all(one == pytest.approx(1000 * 4e9 / (1.09 * 8 * 1e12), rel=0.01) for one in use)


@pytest.mark.parametrize("config", [{}, {"flops_per_token": 4e9}, {"flops_per_token": "many", "peak_flops": True}])
def test_without_a_model_there_is_none(config: dict[str, Any]) -> None:
    """What is not known is not made up."""
    assert values(lived(Job(), 20, **config), "mfu") == []


def test_the_trainers_own_figure_stands() -> None:
    """A trainer knows its model better."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(config={"flops_per_token": 4e9, "peak_flops": 1e12}), *job.run(20, mfu=0.4))
    assert set(values(fed, "mfu")) == {0.4}


def test_pauses_and_steps_done_again_are_no_use() -> None:
    """A save of a second takes its share; steps that were lost and are trained again are worth nothing."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(20))
    job.time += 1.09
    fed.feed(*job.run(20))
    after = job.restarted(130)
    fed.feed(after.started(resume_step=129), *after.run(20))
    fed.flush()
    share = [one for one in values(fed, "effective_share") if one is not None]
    assert share[0] == pytest.approx(1.005 / 1.09, rel=0.01)
    assert share[19] == pytest.approx(share[0] / 2, rel=0.02)
    assert [one == 0.0 for one in share[-19:]] == [True] * 9 + [False] * 10
    assert [one.signal for one in fed.told(Detection) if one.signal in ("mfu", "effective_share")] == []
