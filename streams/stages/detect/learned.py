"""What has been learned of the signals of all entities: told where it is new, frozen, forgotten."""

from collections.abc import Iterator

import numpy as np

from schemas.signals import signal_named
from schemas.telemetry import Reading
from streams.stages.detect import watched
from streams.stages.detect.derive import by_rule
from streams.stages.detect.memory import Entities, EntitySignal, Samples


def newly_normal(entities: Entities) -> dict[str, Reading]:
    """The healthy levels over all entities that were learned, have changed or were forgotten since they were told."""
    news: dict[str, Reading] = {}
    for name, known in entities.signals.items():
        if known.level is None:
            continue
        is_counter = signal_named(name).kind == "counter"
        levels, _ = watched.entity_level_shift(name, is_counter).baseline(known.level)
        level = by_rule(signal_named(name).over, levels) if np.isfinite(levels).any() else None
        if known.dropped or (level is not None and level != known.normal):
            known.normal = news[rate_name(name) if is_counter else name] = level
            known.dropped = False
    return news


def forget(samples: Samples) -> None:
    """Learn anew what is normal: the configuration has changed."""
    for name, known in _signals(samples):
        if known.level is not None:
            watched.entity_level_shift(name, signal_named(name).kind == "counter").relearn(known.level)
            known.dropped = known.dropped or known.normal is not None


def end_episodes(samples: Samples) -> None:
    """The attempt has ended: what is still wrong in the next one is found once more."""
    for name, known in _signals(samples):
        if known.level is not None:
            known.level.direction[:] = 0
        known.flag = known.supply = None
        if known.counter is not None:
            watched.counter_rate(name).close(known.counter)


def freeze(samples: Samples, frozen: bool) -> None:
    """Stop, or take up again, the learning of what is normal."""
    for _, known in _signals(samples):
        if known.level is not None:
            known.level.frozen[:] = frozen


def _signals(samples: Samples) -> Iterator[tuple[str, EntitySignal]]:
    for entities in samples.kinds.values():
        yield from entities.signals.items()


def rate_name(name: str) -> str:
    """Name the rate of a counter.

    >>> rate_name("storage_retries_total")
    'storage_retries_per_second'
    """
    return f"{name.removesuffix('_total')}_per_second"
