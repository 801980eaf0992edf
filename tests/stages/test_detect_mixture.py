"""The data against their recipe, through the detect stage."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from schemas.detection import Detection
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job

RECIPE = {"source_share.web": 0.6, "source_share.code": 0.3, "source_share.video": 0.1}
LATER = {"source_share.web": 0.65, "source_share.code": 0.3, "source_share.video": 0.05}


def trained(fed: Fed[DetectMemory], job: Job, steps: int, shares: Mapping[str, float], seed: int = 1) -> None:
    """Steps whose batches of 512 samples are drawn with these probabilities."""
    chance = np.random.default_rng(seed)
    for _ in range(steps):
        drawn = chance.multinomial(512, list(shares.values())) / 512
        fed.feed(*job.run(1, **dict(zip(shares, drawn.tolist(), strict=True))))


def begun(**started: Any) -> tuple[Fed[DetectMemory], Job]:  # Any: data of the start
    """A job at its start."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(**started))
    return fed, job


def found(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of what is not by the recipe."""
    return list({one.id: one for one in fed.told(Detection) if one.detector == "exposure"}.values())


def test_a_source_that_is_shown_too_rarely() -> None:
    """Half of the planned videos are missing: five of a hundred samples, which no single step shows."""
    fed, job = begun(recipe=RECIPE)
    trained(fed, job, 200, RECIPE)
    trained(fed, job, 200, LATER)
    by_signal = {one.signal: one for one in found(fed)}
    video = by_signal["source_share.video"]
    assert abs((video.onset_step or 0) - 300) <= 20
    assert (video.before, video.layer, video.direction) == (0.1, "data", "down")
    assert "planned 10 %" in video.text


def test_draws_by_the_recipe_are_no_finding() -> None:
    """A thousand steps of draws with the planned probabilities raise nothing."""
    fed, job = begun(recipe=RECIPE)
    trained(fed, job, 1000, RECIPE, seed=5)
    assert found(fed) == []


def test_without_a_recipe_a_drift_is_a_plan() -> None:
    """Nobody said what the mixture should be, so nobody says that it is wrong."""
    fed, job = begun()
    trained(fed, job, 150, RECIPE)
    trained(fed, job, 150, LATER)
    assert found(fed) == []


def test_a_recipe_that_is_changed_is_the_new_one() -> None:
    """What was wrong by the old recipe ends when the new one is announced, and is in order from there on."""
    fed, job = begun(recipe=RECIPE)
    trained(fed, job, 300, LATER)
    fed.feed(job.event("config.changed", recipe=[RECIPE, LATER]))
    trained(fed, job, 300, LATER)
    assert found(fed)
    assert all(one.end_time is not None and (one.end_step or 0) <= 400 for one in found(fed))


def test_a_recipe_that_people_call_outdated_is_none() -> None:
    """Who closes the incident as legitimate knows better than the recipe."""
    fed, job = begun(recipe=RECIPE)
    trained(fed, job, 300, LATER)
    fed.feed(job.event("incident.closed", legitimate=True))
    trained(fed, job, 300, LATER)
    assert all(one.end_time is not None for one in found(fed))


def test_samples_that_nobody_can_read() -> None:
    """Four in a hundred unreadable samples from the first step on: no level has shifted, and it is a finding."""
    fed, job = begun()
    fed.feed(*job.run(200, bad_sample_share=0.04))
    [bad] = found(fed)
    assert (bad.signal, bad.before, bad.direction) == ("bad_sample_share", 0.0, "up")


def test_what_is_no_recipe_is_none() -> None:
    """A launcher's mistakes are left out, and the rest of the recipe counts."""
    fed, job = begun(
        recipe={"source_share.web": "60 %", "loss": 0.5, "source_share.video": 0.1, "source_share.x": True}
    )
    assert fed.memory.attempt is not None
    assert fed.memory.attempt.mixture.recipe == {"source_share.video": 0.1}
    for odd in (None, [], "web", [1, 2, 3]):
        fed, job = begun(recipe=odd)
        fed.feed(*job.run(1))
