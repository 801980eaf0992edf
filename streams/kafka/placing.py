"""Which partition a key belongs to: murmur2, as Kafka's own clients have it."""

from functools import lru_cache

from aiokafka.partitioner import murmur2

POSITIVE = 0x7FFFFFFF


@lru_cache(maxsize=65536)
def partition_of(key: str, partitions: int) -> int:
    """Give the partition of a key.

    >>> partition_of("wm-64", 8) == partition_of("wm-64", 8), partition_of("wm-64", 1)
    (True, 0)
    """
    return int(murmur2(key.encode()) & POSITIVE) % partitions
