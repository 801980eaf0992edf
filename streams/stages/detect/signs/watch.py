"""Let every sign look at what happens, and turn what they see into detections."""

import math
from collections.abc import Iterable, Iterator

from msgspec import structs

from schemas.detection import Detection, Direction
from schemas.ids import derived_id
from schemas.signals import signal_named
from schemas.signs import BY_NAME
from schemas.telemetry import Event
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.episodes import ended
from streams.stages.detect.samples import Moment
from streams.stages.detect.signs.catalogue import CATALOGUE
from streams.stages.detect.signs.memory import Signs, Told
from streams.stages.detect.signs.sign import AnySign, Scene, Seen, Sign


def _hear(method: str) -> tuple[AnySign, ...]:
    """The signs that override a method: the others are not asked."""
    return tuple(one for one in CATALOGUE if getattr(type(one), method) is not getattr(Sign, method))


_EVENT, _STEP, _MOMENT, _TIME = (_hear(name) for name in ("event", "step", "moment", "time"))


def event(signs: Signs, scene: Scene, happened: Event) -> Iterator[Detection]:
    """Show an event to the signs."""
    for sign in _EVENT:
        yield from _follow(signs, scene, sign.event(getattr(signs, sign.name), scene, happened), happened.time)


def step(signs: Signs, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Detection]:
    """Show a closed step to the signs, and end what the job has trained on after."""
    for place, told in list(signs.told.items()):
        told.trained += told.passes > 0
        if told.passes and told.trained >= told.passes:
            del signs.told[place]
            yield ended(told.detection, closed.step, closed.time)
    for sign in _STEP:
        yield from _follow(signs, scene, sign.step(getattr(signs, sign.name), scene, closed, phase), closed.time)


def moment(signs: Signs, scene: Scene, given: Moment) -> Iterator[Detection]:
    """Show a moment of samples to the signs."""
    for sign in _MOMENT:
        yield from _follow(signs, scene, sign.moment(getattr(signs, sign.name), scene, given), given.time)


def due(signs: Signs) -> float:
    """Give the time at which the signs have to look at the clock: once per second of the stream.

    After a failure they look with every record: what comes late of the last steps still counts.
    """
    return signs.looked + 1.0 if signs.crash.due is None else -math.inf


def time(signs: Signs, scene: Scene) -> Iterator[Detection]:
    """Let the signs look at the clock, when it is due."""
    if scene.clock < due(signs):
        return
    signs.looked = int(scene.clock)
    for sign in _TIME:
        yield from _follow(signs, scene, sign.time(getattr(signs, sign.name), scene), scene.clock)


def _follow(signs: Signs, scene: Scene, seen: Iterable[Seen], now: float) -> Iterator[Detection]:
    for one in seen:
        place = f"{one.sign}|{one.subject}|{one.again}"
        told = signs.told.get(place)
        if one.over:
            if told is not None:
                del signs.told[place]
                yield ended(told.detection, one.end_step if one.end_step is not None else scene.step, now)
            continue
        if told is None:
            signs.times[place] = signs.times.get(place, 0) + 1
            detection = _raised(scene, one, now, signs.times[place])
        else:
            detection = _revised(told.detection, one)
            if detection is told.detection:
                told.trained = 0
                continue
        signs.told[place] = Told(detection, one.passes)
        yield detection


def _raised(scene: Scene, seen: Seen, now: float, times: int) -> Detection:
    """Make the detection; its id holds no time, which may depend on the order in which records came in."""
    signal = BY_NAME[seen.sign].signal
    number = scene.attempt.number
    return Detection(
        id=derived_id(scene.job, number, seen.sign, seen.subject, seen.again, times),
        job=scene.job,
        attempt=number,
        cluster=scene.cluster,
        detector=seen.sign,
        signal=signal,
        layer=signal_named(signal).layer,
        subject=seen.subject,
        direction=_direction(seen),
        onset_step=seen.onset_step,
        onset_time=seen.onset_time,
        step=scene.step,
        time=max(now, seen.onset_time),
        before=_finite(seen.before),
        after=_finite(seen.after),
        ranks=seen.ranks,
        nodes=seen.nodes,
        gpus=seen.gpus,
        part=seen.part,
        numbers=_known(seen.numbers),
        text=seen.text,
    )


def _revised(active: Detection, seen: Seen) -> Detection:
    """The same finding with what is new about it; itself where nothing is."""
    news = structs.replace(
        active,
        part=seen.part,
        ranks=seen.ranks,
        nodes=seen.nodes,
        gpus=seen.gpus,
        before=_finite(seen.before),
        after=_finite(seen.after),
        numbers=_known(seen.numbers),
        text=seen.text,
    )
    return active if news == active else structs.replace(news, revision=active.revision + 1)


def _finite(value: float | None) -> float | None:
    """JSON has no word for what is not finite."""
    return value if value is not None and math.isfinite(value) else None


def _known(numbers: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def _direction(seen: Seen) -> Direction:
    if seen.before is None or seen.after is None or seen.before == seen.after:
        return "none"
    return "up" if seen.after > seen.before else "down"
