"""The archive of an installation on Kafka: what is put goes to the topics, what is asked is answered by the copy."""

from collections.abc import Sequence

from schemas.action import Control, Request, Result, TaintRecord
from schemas.codec import encode
from schemas.dead import DeadLetter
from schemas.incident import Incident
from schemas.origin import Origin
from schemas.topics import BY_NAME
from streams.kafka.log_producer import LogProducer
from streams.kafka.message import Letter
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.redis_numbers import FEED, RedisNumbers
from streams.stores.store import Filed, IncidentQuery, JobSummary, Point


class KafkaArchive:
    """Reads the copy up to its ceiling; a record that was put is read once it has come back from its topic.

    Args:
        copy: kept by the mirror; its progress is the ceiling.
        producer: of the topics.
        numbers: places of records in the feed.
    """

    def __init__(self, copy: SqliteArchive, producer: LogProducer, numbers: RedisNumbers) -> None:
        self._copy, self._producer, self._numbers = copy, producer, numbers

    def put(self, sent: Sequence[Sent], upto: int) -> None:  # noqa: ARG002 - a topic needs no journal offset
        """Send records and wait until Kafka has them.

        Raises:
            StoreAway: it has not; putting them again is harmless.
        """
        self._producer.deliver(
            [Letter(one.topic, one.key, encode(one.record)) for one in sent if BY_NAME[one.topic].key]
        )

    def progress(self) -> int:
        """Give the ceiling: the highest sequence below which nothing is still to come."""
        return self._copy.progress()

    def feed(self, after: int, limit: int, topics: Sequence[str]) -> list[Filed]:
        """Give records of those topics with a sequence above `after`, in order, up to the ceiling."""
        ceiling = self._copy.progress()
        return [one for one in self._copy.feed(after, limit, topics) if one.sequence <= ceiling]

    def last(self) -> int:
        """Give the highest sequence that may be shown, 0 when empty."""
        return self._copy.progress()

    def horizon(self) -> int:
        """Give the highest sequence that any reader can know of: another server may have copied more than this one.

        Raises:
            StoreAway: Redis does not answer.
        """
        return self._numbers.at_least(FEED, 0)

    def incidents(self, query: IncidentQuery) -> tuple[list[Incident], int]:
        """Give the latest revisions, newest change first, and the cursor of the next page (0: none)."""
        return self._copy.incidents(query)

    def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision of one incident."""
        return self._copy.incident(incident_id)

    def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision of one incident, oldest first."""
        return self._copy.revisions(incident_id)

    def origins(self, topic: str, id_: str) -> dict[int, Origin]:
        """Give where a detection or an incident comes from, by its revision, as far as that is known."""
        return self._copy.origins(topic, id_)

    def requests(self, incident_id: str = "") -> list[Request]:
        """Give all requests, or those of one incident, oldest first."""
        return self._copy.requests(incident_id)

    def request(self, request_id: str) -> Request | None:
        """Give one request."""
        return self._copy.request(request_id)

    def result(self, request_id: str) -> Result | None:
        """Give how a request ended, None while it has not."""
        return self._copy.result(request_id)

    def taints(self, job: str = "") -> list[TaintRecord]:
        """Give the ledger of contaminated steps."""
        return self._copy.taints(job)

    def dead(self, limit: int = 100) -> list[DeadLetter]:
        """Give the newest records that could not be read."""
        return self._copy.dead(limit)

    def control(self, job: str) -> Control | None:
        """Give what a trainer shall do differently."""
        return self._copy.control(job)

    def jobs(self) -> list[JobSummary]:
        """Give the jobs seen, latest first."""
        return self._copy.jobs()

    def series(self, job: str, of: str, begin: float, end: float, points: int) -> list[Point]:
        """Give vitals of a job between two times, thinned to at most `points`."""
        return self._copy.series(job, of, begin, end, points)
