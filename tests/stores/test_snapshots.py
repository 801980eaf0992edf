"""What every home of snapshots does."""

from streams.stores.store import Snapshot, Snapshots


def test_the_newest_of_a_key_is_kept(snapshots: Snapshots) -> None:
    """A save with a higher offset replaces, one with a smaller offset is ignored, keys are apart."""
    snapshots.save([Snapshot("a", 5, b"five"), Snapshot("b", 7, b"seven")])
    snapshots.save([Snapshot("a", 4, b"four"), Snapshot("b", 8, b"eight")])
    assert snapshots.load("a") == Snapshot("a", 5, b"five")
    assert snapshots.load("b") == Snapshot("b", 8, b"eight")


def test_the_same_offset_may_be_saved_again(snapshots: Snapshots) -> None:
    """At the same offset the later save stands: ticks change a memory without an entry of its own."""
    snapshots.save([Snapshot("a", 5, b"old")])
    snapshots.save([Snapshot("a", 5, b"new")])
    assert snapshots.load("a") == Snapshot("a", 5, b"new")


def test_keys_are_listed(snapshots: Snapshots) -> None:
    """All keys with a snapshot are listed, and a key without one gives None."""
    snapshots.save([Snapshot("b", 1, b""), Snapshot("a", 1, b"")])
    assert snapshots.keys() == ["a", "b"]
    assert snapshots.load("c") is None
