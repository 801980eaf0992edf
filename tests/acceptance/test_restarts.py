"""What a restart changes: the pace of the job, and the save it goes on from."""

from typing import Any

import pytest

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

SLOWER = dict.fromkeys(range(8), 1.25)


def upgraded(*, nodes: int = 2, steps: int = 120, announced: dict[str, Any] | None = None, **run: Any) -> Story:
    """A job that is restarted in another configuration after 120 steps.

    Args:
        announced: what `config.changed` says after the start; None = nothing is announced.
        run: how the steps after the restart go.
    """
    job = Job()
    story: Story = [job.started(), *job.run(120), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(220, nodes=nodes)
    story += [after.started(fingerprint="f2", resume_step=219)]
    story += [after.event("config.changed", **announced)] if announced else []
    return [*story, *after.run(steps, **run)]


@pytest.mark.parametrize("announced", [None, {"nccl_version": ["2.20", "2.21"]}])
def test_a_job_that_is_slower_since_an_upgrade_is_told(announced: dict[str, Any] | None) -> None:
    """A step does as much as before and takes a fifth longer for good: nobody is to blame, the change is."""
    [incident] = incidents_of(upgraded(announced=announced, slow=SLOWER))
    assert (incident["cause"], incident["layer"], incident["onset_step"]) == ("slower_since_change", "software", 220)
    assert (incident["nodes"], incident["ranks"]) == ([], [])
    assert {one["action"] for one in incident["actions"]} == {"notify"}


@pytest.mark.parametrize(
    "after",
    [
        pytest.param({"slow": dict.fromkeys(range(8), 0.8)}, id="faster"),
        pytest.param({"slow": SLOWER, "tokens": 1300.0}, id="a step does more"),
        pytest.param({"slow": SLOWER, "batch_size": 64.0}, id="it is not known what a step did before"),
        pytest.param({"nodes": 1, "slow": dict.fromkeys(range(4), 1.25)}, id="fewer machines"),
        pytest.param({"slow": SLOWER, "announced": {"activation_checkpointing": [False, True]}}, id="it costs more"),
        pytest.param({"slow": dict.fromkeys(range(8), 1.03)}, id="hardly slower"),
    ],
)
def test_what_explains_another_pace_is_no_finding(after: dict[str, Any]) -> None:
    """Another amount of work or other machines have another pace, and an improvement is welcome."""
    assert incidents_of(upgraded(**after)) == []


def halved(seconds: float, **run: Any) -> Story:
    """A restart after which a step does half as much, in so many times the seconds."""
    return upgraded(slow=dict.fromkeys(range(8), seconds), tokens=500.0, **run)


def test_a_step_that_does_less_unannounced_and_costs_more_for_it_is_told() -> None:
    """Half of the tokens in two thirds of the time: the numbers say what has changed."""
    [incident] = incidents_of(halved(0.65))
    assert (incident["cause"], incident["onset_step"], incident["nodes"]) == ("slower_since_change", 220, [])
    assert "tokens 1,000 → 500" in incident["evidence"][1]["text"]


def test_a_smaller_step_that_is_as_fast_or_announced_is_no_finding() -> None:
    """It costs what it does, or somebody wanted it."""
    assert incidents_of(halved(0.45)) == []
    assert incidents_of(halved(0.65, announced={"gradient_accumulation": [16, 8]})) == []


def test_a_job_that_warms_up_is_no_finding() -> None:
    """The first thirty steps are slow, as caches are cold; then it is as fast as it was."""
    job = Job()
    story: Story = [job.started(), *job.run(120), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(220)
    story += [after.started(fingerprint="f2"), *after.run(30, slow=SLOWER), *after.run(90)]
    assert incidents_of(story) == []


PLACES = {"node_order": ["by rack", "by name"]}


def placed_anew(announced: dict[str, Any] | None = None, fingerprint: str = "f1", **run: Any) -> Story:
    """A job that is restarted on the same machines in another order, `announced` before it starts."""
    job = Job()
    story: Story = [job.started(), *job.run(120), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(220)
    after.nodes = after.nodes[::-1]
    story += [job.event("config.changed", **announced)] if announced else []
    return [*story, after.started(fingerprint=fingerprint, resume_step=219), *after.run(120, **run)]


def test_ranks_that_wait_longer_in_other_places_are_told() -> None:
    """No software has changed: where the ranks run has, and what they take longer for is each other."""
    [incident] = incidents_of(placed_anew(PLACES, waiting=0.3))
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("slower_since_placement", "network", [])
    assert "other places" in incident["evidence"][0]["text"]


def test_where_more_than_the_places_has_changed_it_is_the_configuration() -> None:
    """It is not known which of the two it was."""
    for story in (placed_anew(PLACES, "f2", waiting=0.3), placed_anew({**PLACES, "nccl": [1, 2]}, waiting=0.3)):
        assert [one["cause"] for one in incidents_of(story)] == ["slower_since_change"]


def test_a_slower_job_of_the_same_configuration_is_not_said_to_have_another() -> None:
    """Nothing was announced: the waiting speaks for itself."""
    assert "slower_since_change" not in {one["cause"] for one in incidents_of(placed_anew(waiting=0.3))}


def saved(job: Job, mode: str = "sync") -> Story:
    """A save of the last step is complete."""
    return [job.event(f"checkpoint.{what}", step=job.step - 1, mode=mode) for what in ("begin", "end")]


def resumed_at(step: int, reason: str = "requeued", between: str = "", mode: str = "sync", **started: Any) -> Story:
    """A job with complete saves at steps 139 and 199 that ends at 209 and goes on somewhere."""
    job = Job()
    story: Story = [job.started(), *job.run(40), *saved(job), *job.run(60), *saved(job, mode), *job.run(10)]
    story += [job.event("attempt.ended", reason=reason)]
    story += [job.event(between, data_mix=["v1", "v2"])] if between else []
    after = job.restarted(step)
    return [*story, after.started(resume_step=step - 1, **started), *after.run(110)]


def test_an_older_save_than_the_last_complete_one_is_told() -> None:
    """Sixty steps are trained again, and nobody wanted it."""
    [incident] = incidents_of(resumed_at(140))
    assert (incident["cause"], incident["layer"], incident["onset_step"]) == ("old_save_loaded", "checkpoint", 140)
    [told] = [one for one in incident["evidence"] if one.get("detector") == "old_save"]
    assert "60 steps of it are trained again" in told["text"]
    assert (incident["nodes"], incident["state"], incident["end_step"]) == ([], "resolved", 210)


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(resumed_at(200), id="the last save"),
        pytest.param(resumed_at(140, between="config.changed"), id="a change is announced"),
        pytest.param(resumed_at(140, reason="stopped"), id="somebody stopped it"),
        pytest.param(resumed_at(140, fingerprint="f2"), id="another configuration"),
        pytest.param(resumed_at(140, mode="memory"), id="the last save was in the memory of machines"),
    ],
)
def test_who_goes_back_by_right_is_not_told(story: Story) -> None:
    """Announced, asked for, or the best there was."""
    assert [one["cause"] for one in incidents_of(story) if one["cause"] == "old_save_loaded"] == []


def test_going_back_before_the_trouble_is_by_right() -> None:
    """The loss has left its course after the save at step 139: the save at 199 is not wanted."""
    job = Job()
    story: Story = [job.started(), *job.run(60), *saved(job), *job.run(20), *job.run(30, loss=2.9), *saved(job)]
    story += [*job.run(5, loss=2.9), job.event("attempt.ended", reason="failed")]
    after = job.restarted(160)
    story += [after.started(resume_step=159), *after.run(90)]
    assert "old_save_loaded" not in {one["cause"] for one in incidents_of(story)}
