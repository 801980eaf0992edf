"""Writes to a store for ever and says on standard output what it has been promised; to be killed by a test."""

import sys

from schemas.detection import Detection
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal


def main(path: str) -> None:
    """Append an entry, file its detection, say the offset; again."""
    database = Database(path)
    journal, archive = SqliteJournal(database), SqliteArchive(database)
    while True:
        number = journal.last() + 1
        offset = journal.append([("wm-64", b"entry %d" % number)], float(number))
        detection = Detection(
            id=f"det-{offset}",
            job="wm-64",
            attempt=1,
            detector="spike",
            signal="loss",
            layer="loss",
            onset_time=1.0,
            time=1.0,
        )
        archive.put([Sent("detections", "wm-64", detection)], offset)
        sys.stdout.write(f"{offset}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
