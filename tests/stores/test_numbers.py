"""What every home of numbers does, and what those that several processes share do besides."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from streams.settings import RedisSettings
from streams.stores.redis_client import connect
from streams.stores.redis_numbers import FEED, RedisNumbers
from streams.stores.store import Numbers
from tests.stores.at_once import at_once


def test_a_counter_begins_with_one_and_counts_by_itself(numbers: Numbers) -> None:
    """Numbers follow one another, and one counter knows nothing of another."""
    assert [numbers.following("act") for _ in range(3)] == [1, 2, 3]
    assert numbers.following("operator") == 1
    assert numbers.following("act") == 4


def test_nobody_gets_a_number_twice(numbers: Numbers) -> None:
    """Of many that ask at the same moment each has a number of its own, and none is left out."""
    got = at_once(6, lambda _: [numbers.following("act") for _ in range(25)])
    assert sorted(number for some in got for number in some) == list(range(1, 151))


@pytest.fixture
def shared(redis_url: str, tmp_path: Path) -> Iterator[tuple[RedisNumbers, RedisNumbers]]:
    """The numbers of one installation, as two processes see them."""
    clients = [connect(RedisSettings(url=SecretStr(redis_url))) for _ in range(2)]
    yield RedisNumbers(clients[0], str(tmp_path)), RedisNumbers(clients[1], str(tmp_path))
    for client in clients:
        client.close()


@pytest.mark.service
def test_two_processes_agree_on_places(shared: tuple[RedisNumbers, RedisNumbers]) -> None:
    """Whoever asks first, in whichever order: a record has one place, and places leave no hole."""
    one, other = shared
    assert one.places(["a", "b"]) == [1, 2]
    assert other.places(["c", "b", "a"]) == [3, 2, 1]
    assert one.places(["c", "d"]) == [3, 4]
    assert one.places([]) == []


@pytest.mark.service
def test_places_asked_for_at_once_are_the_same(shared: tuple[RedisNumbers, RedisNumbers]) -> None:
    """Six copies that see the same records in different orders at the same moment number them alike."""
    identities = [f"record {number}" for number in range(60)]

    def ask(who: int) -> dict[str, int]:
        mine = identities[10 * who :] + identities[: 10 * who]
        return dict(zip(mine, shared[who % 2].places(mine), strict=True))

    told = at_once(6, ask)
    assert all(one == told[0] for one in told)
    assert sorted(told[0].values()) == list(range(1, 61))


@pytest.mark.service
def test_a_counter_is_only_raised(shared: tuple[RedisNumbers, RedisNumbers]) -> None:
    """A copy that knows more than a server without memory lifts the counter; nobody lowers it."""
    one, other = shared
    assert one.at_least(FEED, 0) == 0
    assert one.at_least(FEED, 40) == 40
    assert other.at_least(FEED, 7) == 40
    assert other.places(["new"]) == [41]
