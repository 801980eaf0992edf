"""Getting records to a real server that is away, slow, busy or particular: nothing is lost, nothing grows."""

import asyncio
import json
import logging
from pathlib import Path

import pytest

from schemas.telemetry import Event, SampleFrame, StepFrame
from streams.agents.delivery import Limits, Loss
from tests.agents.recording import RecordingServer, delivering, run, until

QUICK = Limits(every=0.01, first_pause=0.02, longest_pause=0.1, farewell=1.0)


def event(number: int, job: str = "j") -> Event:
    """Make an event with a number."""
    return Event(job=job, attempt=2, node="n01", boot="b", seq=number, time=float(number), event="log.line")


def sample(number: int, job: str = "j") -> SampleFrame:
    """Make a sample with a number."""
    return SampleFrame(job=job, attempt=2, node="n01", boot="b", seq=number, time=float(number), of="node", ids=["n01"])


def steps(number: int, job: str = "j") -> StepFrame:
    """Make a step frame with a number."""
    return StepFrame(job=job, attempt=2, node="n01", boot="b", seq=number, time=float(number), step=number)


def numbers(server: RecordingServer) -> list[int]:
    """Give the numbers of all records as they arrived, repetitions included."""
    return [json.loads(line)["seq"] for line in server.lines]


def test_records_arrive_in_order_and_settle(tmp_path: Path) -> None:
    """A server that is there gets everything in order, and what it said yes to is settled."""

    async def story() -> None:
        async with RecordingServer(token="secret") as server:
            async with delivering(server.url, tmp_path, QUICK, token="secret") as delivery:
                for number in range(100):
                    delivery.offer(event(number))
                assert delivery.settled < delivery.last_ticket == 100
                await until(lambda: delivery.settled == 100, "all have arrived")
            assert numbers(server) == list(range(100))

    run(story)


def test_a_body_holds_one_job(tmp_path: Path) -> None:
    """Records of several jobs go in several requests, each job's in order."""

    async def story() -> None:
        async with RecordingServer() as server:
            async with delivering(server.url, tmp_path, QUICK) as delivery:
                for number in range(60):
                    delivery.offer(event(number, job=f"job-{number % 3}"))
            for body in server.bodies:
                assert len({json.loads(line)["job"] for line in body}) == 1
            for third in range(3):
                mine = [number for number in numbers(server) if number % 3 == third]
                assert mine == list(range(third, 60, 3))

    run(story)


def test_an_outage_loses_nothing(tmp_path: Path) -> None:
    """Events offered before, during and after an outage all arrive, in order but for repetitions."""

    async def story() -> None:
        async with RecordingServer() as server:
            port = server.port
        async with delivering(f"http://127.0.0.1:{port}", tmp_path, QUICK) as delivery:
            for number in range(50):
                delivery.offer(event(number))
            await until(lambda: delivery.away, "the outage is noticed")
            await until(lambda: delivery.settled == 50, "the records are on disk")
            assert list(tmp_path.glob("*.events"))
            for number in range(50, 100):
                delivery.offer(event(number))
            async with RecordingServer(port=port) as again:
                for number in range(100, 150):
                    delivery.offer(event(number))
                await until(lambda: set(numbers(again)) == set(range(150)), "everything has arrived")
                await until(lambda: not list(tmp_path.glob("*.events")), "the spool is empty")
                assert list(dict.fromkeys(numbers(again))) == list(range(150))
        assert not delivery.take_losses()

    run(story)


@pytest.mark.parametrize("status", [500, 503, 429, 401, 404, 307])
def test_a_server_that_says_later_is_asked_later(status: int, tmp_path: Path) -> None:
    """Whatever is no final answer keeps the records; when the server takes them they arrive."""

    async def story() -> None:
        async with RecordingServer() as server:
            server.status = status
            async with delivering(server.url, tmp_path, QUICK) as delivery:
                delivery.offer(event(1))
                await until(lambda: server.posts >= 3, "it is tried again")
                server.status = 200
                await until(lambda: numbers(server) == [1], "it arrives")

    run(story)


def test_a_friendly_page_is_not_taken_for_a_yes(tmp_path: Path) -> None:
    """A proxy that answers 200 with a page of its own has not taken the records."""

    async def story() -> None:
        async with RecordingServer() as server:
            server.page = "<html>please log in</html>"
            async with delivering(server.url, tmp_path, QUICK) as delivery:
                delivery.offer(event(1))
                await until(lambda: server.posts >= 2, "it is tried again")
                server.page = None
                await until(lambda: numbers(server) == [1], "it arrives")

    run(story)


def test_the_servers_wish_to_wait_is_kept(tmp_path: Path) -> None:
    """A `Retry-After` holds off the next request, up to the longest pause."""

    async def story() -> None:
        async with RecordingServer() as server:
            server.status, server.headers = 429, {"Retry-After": "100"}
            patient = Limits(every=0.01, first_pause=0.01, longest_pause=0.5)
            async with delivering(server.url, tmp_path, patient) as delivery:
                delivery.offer(event(1))
                await until(lambda: delivery.away, "the first answer")
                begin = asyncio.get_running_loop().time()
                await until(lambda: server.posts == 2, "the second request")
                assert asyncio.get_running_loop().time() - begin > 0.4
                server.status = 200

    run(story)


def test_a_slow_server_is_given_up_and_asked_again(tmp_path: Path) -> None:
    """A server that does not answer in time is away; a repeated record has the same number as before."""

    async def story() -> None:
        async with RecordingServer() as server:
            server.delay = 2.0
            hasty = Limits(every=0.01, first_pause=0.02, longest_pause=0.05)
            async with delivering(server.url, tmp_path, hasty, timeout=0.5) as delivery:
                delivery.offer(event(7))
                await until(lambda: delivery.away, "the slowness is noticed")
                server.delay = 0.0
                await until(lambda: not delivery.away, "it answers in time")
            assert set(numbers(server)) == {7}
            assert len(server.records) == 1

    run(story)


def test_one_refused_record_costs_only_itself(tmp_path: Path) -> None:
    """A record the server will never take is found by halving, given up and counted; its neighbours arrive."""

    async def story() -> None:
        async with RecordingServer() as server:
            server.refuse = b'"seq":13,'
            async with delivering(server.url, tmp_path, QUICK) as delivery:
                for number in range(40):
                    delivery.offer(event(number))
                await until(lambda: delivery.settled == 40, "all are settled")
                assert delivery.take_losses() == {Loss("j", 2, "events"): 1}
                assert not delivery.take_losses()
            assert numbers(server) == [number for number in range(40) if number != 13]

    run(story)


def test_memory_and_disk_are_bounded_and_events_outlive_samples(tmp_path: Path) -> None:
    """In a long outage samples are given up first and counted; every event arrives in the end."""

    async def story() -> None:
        async with RecordingServer() as server:
            port = server.port
        tight = Limits(
            memory_bytes=20_000,
            spool_bytes=60_000,
            request_bytes=10_000,
            every=0.01,
            first_pause=0.02,
            longest_pause=0.1,
        )
        async with delivering(f"http://127.0.0.1:{port}", tmp_path, tight) as delivery:
            largest = 0
            for number in range(2000):
                delivery.offer(event(number) if number % 10 == 0 else sample(number))
                if number % 50 == 0:
                    await asyncio.sleep(0)
                    largest = max(largest, sum(file.stat().st_size for file in tmp_path.iterdir()))
            await until(lambda: delivery.settled == 2000, "all are on disk or given up")
            assert largest < 100_000
            losses = delivery.take_losses()
            async with RecordingServer(port=port) as again:
                await until(lambda: not list(tmp_path.glob("0*")), "the spool is empty")
                arrived = set(numbers(again))
        assert losses.keys() == {Loss("j", 2, "samples")}
        assert set(range(0, 2000, 10)) <= arrived
        assert len(arrived) + losses[Loss("j", 2, "samples")] == 2000

    run(story)


def test_a_killed_agents_spool_is_sent_by_the_next(tmp_path: Path) -> None:
    """What was on disk when an agent ended is sent by the one that follows, with its old numbers."""

    async def story() -> None:
        async with RecordingServer() as server:
            port = server.port
        async with delivering(f"http://127.0.0.1:{port}", tmp_path, QUICK) as delivery:
            for number in range(20):
                delivery.offer(steps(number))
        async with RecordingServer(port=port) as again:
            async with delivering(again.url, tmp_path, QUICK) as delivery:
                delivery.offer(steps(20))
                await until(lambda: len(numbers(again)) == 21, "old and new have arrived")
            assert numbers(again) == list(range(21))

    run(story)


def test_a_record_that_cannot_be_read_there_is_told_here(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A record that the server files as unreadable counts as arrived, and the log says so."""

    async def story() -> None:
        async with RecordingServer() as server, delivering(server.url, tmp_path, QUICK) as delivery:
            delivery.offer(Event(job="j", attempt=1, node="n", seq=0, time=1.0, event="x" * 300))
            await until(lambda: delivery.settled == 1, "it is settled")

    with caplog.at_level(logging.WARNING):
        run(story)
    assert "could not read 1 records" in caplog.text


def test_the_token_is_never_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the log nor a text of the object holds the token, also when it is refused."""

    async def story() -> None:
        async with (
            RecordingServer(token="right") as server,
            delivering(server.url, tmp_path, QUICK, token="wrong-secret") as delivery,
        ):
            delivery.offer(event(1))
            await until(lambda: delivery.away, "it is refused")
            assert "wrong-secret" not in repr(delivery)

    with caplog.at_level(logging.DEBUG):
        run(story)
    assert "status 401" in caplog.text
    assert "wrong-secret" not in caplog.text
