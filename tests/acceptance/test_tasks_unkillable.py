"""Processes that cannot be stopped after their job has ended keep a node, and nobody else is to blame."""

from msgspec import structs

from schemas.telemetry import Event
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def line(job: Job, node: str, text: str) -> Event:
    """A line of a node's log, some time after the last one."""
    job.time += 60.0
    return structs.replace(job.event("log.line", node=node, level="ERROR"), text=text)


def test_a_node_that_cannot_stop_its_processes_is_named() -> None:
    """The scheduler's daemon gives up on the step, the kernel says that the process is blocked."""
    job = Job()
    story: Story = [job.started(), *job.run(60), job.event("attempt.ended", reason="stopped", exit_code=0)]
    story.append(line(job, "n2", "error: *** STEP 7.0 STEPD TERMINATED ON n2 DUE TO JOB NOT ENDING WITH SIGNALS ***"))
    story.append(line(job, "n2", "INFO: task python3:20411 blocked for more than 122 seconds."))
    [found] = incidents_of(story)
    assert (found["cause"], found["severity"], found["nodes"]) == ("tasks_unkillable", "warning", ["n2"])
    assert {one["action"] for one in found["actions"]} == {"notify"}


def test_a_process_that_is_blocked_for_a_while_is_no_incident() -> None:
    """The kernel's line alone says that something waits, and the job trains on."""
    job = Job()
    story: Story = [job.started(), *job.run(60)]
    story += [line(job, "n2", "INFO: task python3:20411 blocked for more than 122 seconds."), *job.run(60)]
    assert incidents_of(story) == []
