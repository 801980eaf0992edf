"""CloudEvents 1.0 as JSON: our own words, NVSentinel's health events, and anything else by its type."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from streams.agents.events.arrived import Arrived, NotReadable, seconds
from streams.agents.finding import Happening
from streams.agents.gpu import pci_address

PREFIX = "io.trainmaster.event."
RECOMMENDED = {
    0: "NONE",
    2: "COMPONENT_RESET",
    5: "CONTACT_SUPPORT",
    6: "RUN_FIELDDIAG",
    15: "RESTART_VM",
    24: "RESTART_BM",
    25: "REPLACE_VM",
    26: "RUN_DCGMEUD",
    39: "RESTART_APP",
    99: "UNKNOWN",
}
_PCI = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}")
Json = Any  # what JSON holds


class _Event(Struct):
    """The attributes of an event that are read."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str = ""
    time: str = ""
    data: Json = None


_decoder = msgspec.json.Decoder(_Event | list[_Event])


def cloud_events(body: bytes) -> Iterator[Arrived]:
    """Read one event or a batch.

    Raises:
        NotReadable: it is none.
    """
    try:
        said = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise NotReadable(str(fault)) from None
    for event in said if isinstance(said, list) else [said]:
        if not event.id or not event.source or not event.type or event.specversion != "1.0":
            raise NotReadable("a CloudEvent 1.0 has specversion, id, source and type")
        health = event.data.get("healthEvent") if isinstance(event.data, dict) else None
        yield from _health(event, health) if isinstance(health, dict) else _other(event)


def _other(event: _Event) -> Iterator[Arrived]:
    """Take an event by the last words of its type; its data may say node, job and attempt."""
    data = dict(event.data) if isinstance(event.data, dict) else {} if event.data is None else {"value": event.data}
    node, job, attempt = (data.pop(name, None) for name in ("node", "job", "attempt"))
    word = event.type.removeprefix(PREFIX)
    text = data.pop("text", "")
    happening = Happening(
        event=word[:256],
        subject=event.subject,
        data=data,
        text=text if isinstance(text, str) else "",
        time=seconds(event.time),
    )
    known = isinstance(attempt, int) and not isinstance(attempt, bool) and 0 <= attempt <= 1 << 53
    yield Arrived(
        event.source, event.id, happening, _word(node), _word(job), attempt if known and isinstance(attempt, int) else 0
    )


def _health(event: _Event, health: dict[str, Json]) -> Iterator[Arrived]:
    """Take a health event; the great many that recommend nothing and are not fatal are passed over."""
    said = health.get("recommendedAction", 99)
    action = RECOMMENDED.get(said, "UNKNOWN") if isinstance(said, int) else str(said)
    healthy, fatal = health.get("isHealthy") is True, health.get("isFatal") is True
    if action == "NONE" and not fatal:
        return
    node, codes = _word(health.get("nodeName")), [str(code) for code in _list(health.get("errorCode"))]
    gpu, pci = _entities(health)
    time = seconds(health.get("generatedTimestamp")) or seconds(event.time)
    text, check = _word(health.get("message")), _word(health.get("checkName"))
    data = {
        "code": check,
        "detail": " ".join(codes),
        "healthy": healthy,
        "fatal": fatal,
        "recommended": action,
        "component": _word(health.get("componentClass")),
        "gpu": gpu,
    }
    happening = Happening(event="node.condition", subject=node, data=data, text=text, time=time)
    yield Arrived(event.source, event.id, happening, node)
    for code in codes if "xid" in check.lower() and not healthy else ():
        if code.isdecimal() and len(code) < 6:
            xid = Happening(event="xid", subject=gpu, data={"code": int(code), "pci": pci}, text=text, time=time)
            yield Arrived(event.source, f"{event.id} {code}", xid, node)


def _entities(health: dict[str, Json]) -> tuple[str, str]:
    """Find the GPU by its UUID and by its address."""
    values = [
        _word(each.get("entityValue")) for each in _list(health.get("entitiesImpacted")) if isinstance(each, dict)
    ]
    gpu = next((value for value in values if value.startswith(("GPU-", "MIG-"))), "")
    pci = next((pci_address(value) for value in values if _PCI.match(value)), "")
    return gpu, pci


def _word(value: Json) -> str:
    return value[:2000] if isinstance(value, str) else ""


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
