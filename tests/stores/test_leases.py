"""What every home of leases does."""

from functools import partial

from streams.stores.store import Lease, Leases
from tests.stores.at_once import at_once


def _taken(lease: Lease | None) -> Lease:
    assert lease is not None
    return lease


def test_a_target_is_held_by_one(leases: Leases) -> None:
    """While somebody holds a target nobody else gets it; another target is free."""
    assert leases.acquire("job:a", "one", 100.0, 30.0) is not None
    assert leases.acquire("job:a", "two", 129.9, 30.0) is None
    assert leases.acquire("job:b", "two", 129.9, 30.0) is not None


def test_the_holder_may_take_it_again(leases: Leases) -> None:
    """The same holder prolongs its lease and gets a higher token."""
    first = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    again = _taken(leases.acquire("job:a", "one", 110.0, 30.0))
    assert again.token > first.token
    assert leases.acquire("job:a", "two", 135.0, 30.0) is None


def test_an_expired_lease_goes_to_the_next(leases: Leases) -> None:
    """At its end a lease can be taken by another, with a higher token, and the first has lost it."""
    first = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    second = _taken(leases.acquire("job:a", "two", 130.0, 30.0))
    assert second.token > first.token
    assert not leases.begin("work", first)
    assert leases.begin("work", second)


def test_tokens_never_repeat(leases: Leases) -> None:
    """Through releases and new holders the token of a target only grows."""
    tokens = []
    for number in range(5):
        lease = _taken(leases.acquire("job:a", f"holder {number}", 100.0, 30.0))
        tokens.append(lease.token)
        leases.release(lease)
    assert tokens == sorted(set(tokens))


def test_releasing_a_lost_lease_changes_nothing(leases: Leases) -> None:
    """Who lost a target cannot give it away from under the present holder."""
    lost = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    leases.acquire("job:a", "two", 140.0, 30.0)
    leases.release(lost)
    assert leases.acquire("job:a", "three", 141.0, 30.0) is None


def test_work_begins_only_under_a_lease(leases: Leases) -> None:
    """Without the lease, or after giving it back, work does not begin."""
    lease = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    assert not leases.begin("work", Lease("job:a", "stranger", lease.token))
    leases.release(lease)
    assert not leases.begin("work", lease)


def test_unfinished_work_may_begin_again(leases: Leases) -> None:
    """Work that was begun and never finished, by a crash for example, begins again under a new lease."""
    lease = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    assert leases.begin("work", lease)
    assert leases.finished("work") is None
    later = _taken(leases.acquire("job:a", "two", 200.0, 30.0))
    assert leases.begin("work", later)


def test_finished_work_never_begins_again(leases: Leases) -> None:
    """After `finish` the answer is False for ever, and the first outcome stays."""
    lease = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    assert leases.begin("work", lease)
    leases.finish("work", "done")
    leases.finish("work", "failed")
    later = _taken(leases.acquire("job:a", "one", 101.0, 30.0))
    assert not leases.begin("work", later)
    assert leases.finished("work") == "done"


def test_work_may_be_finished_that_never_began(leases: Leases) -> None:
    """A key can be noted as finished at once; it then never begins."""
    leases.finish("work", "expired")
    lease = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    assert leases.finished("work") == "expired"
    assert not leases.begin("work", lease)


def test_an_outcome_under_a_lost_lease_is_not_noted(leases: Leases) -> None:
    """Who lost the target while it worked has no say in how the work ended; its holder has."""
    slept = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    assert leases.begin("work", slept)
    holder = _taken(leases.acquire("job:a", "two", 130.0, 30.0))
    assert leases.finish_under("work", "failed", slept) is None
    assert leases.begin("work", holder)
    assert leases.finish_under("work", "failed", slept) is None
    assert leases.finish_under("work", "done", holder) == "done"
    assert leases.finish_under("work", "failed", slept) == "done"
    assert leases.finished("work") == "done"


def test_an_outcome_may_be_noted_under_a_lease_that_nobody_took(leases: Leases) -> None:
    """A lease that ran out, or was given back, stays good for the last word until somebody else takes the target."""
    lease = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    leases.release(lease)
    assert leases.finish_under("work", "done", lease) == "done"
    assert leases.finish_under("more work", "done", Lease("job:b", "one", 1)) is None


def test_work_is_refused_only_while_nobody_has_begun_it(leases: Leases) -> None:
    """Who waits for a target in vain says so, but never over the head of somebody who is at that very work."""
    assert leases.finish_unbegun("idle", "refused") == "refused"
    assert leases.finish_unbegun("idle", "failed") == "refused"
    lease = _taken(leases.acquire("job:a", "one", 100.0, 30.0))
    assert not leases.begin("idle", lease)
    assert leases.begin("work", lease)
    assert leases.finish_unbegun("work", "refused") is None
    assert leases.finish_under("work", "done", lease) == "done"
    assert leases.finish_unbegun("work", "refused") == "done"


def _ask(leases: Leases, target: str, who: int) -> Lease | None:
    return leases.acquire(target, f"holder {who}", 100.0, 30.0)


def _answer(leases: Leases, key: str, who: int) -> str:
    return leases.finish(key, f"answer {who}")


def test_of_many_at_once_one_gets_the_target(leases: Leases) -> None:
    """Eight that ask for a target at the same moment: one has it, again and again."""
    for number in range(10):
        got = at_once(8, partial(_ask, leases, f"job:{number}"))
        assert len([lease for lease in got if lease is not None]) == 1


def test_of_many_outcomes_at_once_one_stands(leases: Leases) -> None:
    """Eight that answer at the same moment are all told the same answer, which is one of theirs."""
    for number in range(10):
        stands = at_once(8, partial(_answer, leases, f"work {number}"))
        assert set(stands) == {leases.finished(f"work {number}")}
        assert stands[0] in {f"answer {who}" for who in range(8)}


def test_the_kill_switch_remembers_who_turned_it_on(leases: Leases) -> None:
    """It is off at first, names the first who turned it on, and is off again after `go`."""
    assert leases.stopped_by() is None
    leases.stop("ann", 100.0)
    leases.stop("bob", 101.0)
    assert leases.stopped_by() == "ann"
    leases.go()
    assert leases.stopped_by() is None
