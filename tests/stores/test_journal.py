"""What every journal does."""

from streams.stores.store import Entry, Journal


def test_what_was_appended_is_read_in_order(journal: Journal) -> None:
    """Entries come back in the order of their offsets, each with its key, bytes and arrival."""
    first = journal.append([("a", b"1"), ("b", b"2")], 10.0)
    last = journal.append([("a", b"3")], 11.0)
    assert journal.read(0, 10) == [
        Entry(first - 1, "a", b"1", 10.0),
        Entry(first, "b", b"2", 10.0),
        Entry(last, "a", b"3", 11.0),
    ]


def test_reading_goes_on_after_an_offset(journal: Journal) -> None:
    """A reader that gives back the offset it has seen gets the next ones, never more than it asked for."""
    journal.append([("a", bytes([number])) for number in range(10)], 1.0)
    seen: list[bytes] = []
    after = 0
    while entries := journal.read(after, 3):
        assert len(entries) <= 3
        seen += [entry.raw for entry in entries]
        after = entries[-1].offset
    assert seen == [bytes([number]) for number in range(10)]


def test_last_of_an_empty_journal_is_zero(journal: Journal) -> None:
    """Before the first entry the last offset is 0, and appending nothing leaves it there."""
    assert journal.last() == 0
    assert journal.append([], 1.0) == 0


def test_trimming_forgets_entries_but_no_offset(journal: Journal) -> None:
    """After a trim the entries are gone, the last offset stands, and the next one is higher."""
    last = journal.append([("a", b"1"), ("a", b"2"), ("a", b"3")], 1.0)
    journal.trim(last - 1)
    assert [entry.raw for entry in journal.read(0, 10)] == [b"3"]
    journal.trim(last)
    assert journal.read(0, 10) == []
    assert journal.last() == last
    assert journal.append([("a", b"4")], 2.0) == last + 1
