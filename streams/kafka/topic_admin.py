"""Topics on the broker against the table: made where they are missing, compared where they exist, never changed.

Partitions are not changed in place: the key of a job would then lead to another partition than before.
"""

import contextlib

from kafka.errors import TopicAlreadyExistsError
from msgspec import Struct

from schemas.codec import Plain
from schemas.topics import TOPICS, Topic
from streams.kafka.administrator import administrator
from streams.kafka.connection import NoKafka, topic_name
from streams.settings import KafkaSettings

HOUR_MS = 3_600_000
MOST_FAULTS = 3


class Standing(Struct, frozen=True):
    """How one topic stands on the broker.

    Attributes:
        name: with its prefix.
        wanted: partitions by the table or the settings.
        found: partitions on the broker; 0 where the topic is missing.
        id: of this making of the topic: a topic that is deleted and made again has another one.
    """

    name: str
    wanted: int
    found: int
    id: str = ""

    @property
    def fault(self) -> str:
        """What is wrong with it, "" where it is fine."""
        if self.found == 0:
            return f"topic {self.name} is missing"
        if self.found != self.wanted:
            return f"topic {self.name} has {self.found} partitions, {self.wanted} are expected"
        return ""


def shared_topics() -> tuple[Topic, ...]:
    """The topics that live on the broker."""
    return tuple(topic for topic in TOPICS if topic.key)


def partitions_of(settings: KafkaSettings, topic: Topic) -> int:
    """How many partitions a topic shall have."""
    return settings.partitions or topic.partitions


def compare(settings: KafkaSettings) -> list[Standing]:
    """Hold the broker's topics against the table.

    Raises:
        NoKafka: the broker cannot be asked.
    """
    with administrator(settings) as client:
        found = {one["name"]: one for one in client.describe_topics(_names(settings)) if one["partitions"]}
    return [_standing(settings, topic, found.get(topic_name(settings, topic.name))) for topic in shared_topics()]


def apply(settings: KafkaSettings) -> list[Standing]:
    """Make the topics that are missing; give how all of them stand afterwards.

    Raises:
        NoKafka: the broker cannot be asked, or refuses to make one.
    """
    missing = {one.name for one in compare(settings) if one.found == 0}
    wanted = {
        topic_name(settings, topic.name): {
            "num_partitions": partitions_of(settings, topic),
            "replication_factor": settings.replication,
            "configs": _configuration(topic),
        }
        for topic in shared_topics()
        if topic_name(settings, topic.name) in missing
    }
    if wanted:
        with administrator(settings) as client, contextlib.suppress(TopicAlreadyExistsError):
            client.create_topics(wanted, wait_for_metadata=True)
    return compare(settings)


def faults_of(standings: list[Standing]) -> str:
    """Say in one line what is wrong with topics; "" where all is well."""
    faults = [one.fault for one in standings if one.fault]
    return "; ".join(faults[:MOST_FAULTS]) + (" ..." if len(faults) > MOST_FAULTS else "")


def require_topics(settings: KafkaSettings) -> dict[str, Standing]:
    """Refuse to go on with topics that are missing or have another number of partitions; give them by their stream.

    Raises:
        NoKafka: names the topics.
    """
    standings = compare(settings)
    faults = faults_of(standings)
    if faults:
        raise NoKafka(f"{faults}; run `trainmaster topics apply`")
    return {topic.name: one for topic, one in zip(shared_topics(), standings, strict=True)}


def _standing(settings: KafkaSettings, topic: Topic, found: Plain | None) -> Standing:
    name, wanted = topic_name(settings, topic.name), partitions_of(settings, topic)
    if found is None:
        return Standing(name, wanted, 0)
    return Standing(name, wanted, len(found["partitions"]), str(found["topic_id"]))


def _configuration(topic: Topic) -> dict[str, str]:
    if topic.compacted:
        return {"cleanup.policy": "compact"}
    retention = topic.retention_hours * HOUR_MS if topic.retention_hours else -1
    return {"cleanup.policy": "delete", "retention.ms": str(retention)}


def _names(settings: KafkaSettings) -> list[str]:
    return [topic_name(settings, topic.name) for topic in shared_topics()]
