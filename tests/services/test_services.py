"""The services themselves: what other tests rely on."""

import pytest
import redis
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.services.kafka import KafkaBroker
from tests.services.redis import RedisServer

pytestmark = pytest.mark.service


def test_a_broker_keeps_its_data_over_a_restart(own_kafka: KafkaBroker) -> None:
    """What was acknowledged before the broker stopped can be read after it has started again."""
    from kafka import KafkaAdminClient

    admin = KafkaAdminClient(bootstrap_servers=own_kafka.bootstrap)
    admin.create_topics({"kept": {"num_partitions": 1, "replication_factor": 1}})
    admin.close()
    producer = KafkaProducer(bootstrap_servers=own_kafka.bootstrap, enable_idempotence=False, acks="all")
    producer.send("kept", b"value").get(10)
    producer.close()
    own_kafka.restart()
    consumer = KafkaConsumer(
        bootstrap_servers=own_kafka.bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=10_000
    )
    consumer.assign([TopicPartition("kept", 0)])
    assert next(consumer).value == b"value"
    consumer.close()


def test_a_redis_keeps_what_it_acknowledged_over_a_kill(own_redis: RedisServer) -> None:
    """A durable server that is killed has everything it said yes to."""
    client = redis.Redis.from_url(own_redis.url)
    client.set("kept", "value")
    client.close()
    own_redis.process.kill()
    own_redis.start()
    client = redis.Redis.from_url(own_redis.url)
    assert client.get("kept") == b"value"
    client.close()
