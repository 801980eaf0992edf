"""JSON Schemas of every topic, made from the records; `schemas/json/` holds them for readers in other languages."""

from typing import Any

import msgspec

from schemas.topics import TOPICS, Topic

Schema = dict[str, Any]  # Any: JSON Schema is plain data of any depth
_WORDS: Schema = {"enum": ["NaN", "Infinity", "-Infinity"]}
_READINGS = ("values", "job_values", "normal", "before", "after", "limit")


def schema_of(topic: Topic) -> Schema:
    """The JSON Schema of one record of a topic: unknown fields are allowed, non-finite readings are words."""
    union = topic.records[0]
    for record in topic.records[1:]:
        union = union | record  # type: ignore[assignment]  # a union of types is no type to the checker
    schema: Schema = msgspec.json.schema(union)
    for definition in schema.get("$defs", {}).values():
        for name, part in definition.get("properties", {}).items():
            if name in _READINGS:
                _allow_words(part)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"trainmaster/{topic.name}.json",
        "title": topic.name,
        "description": topic.meaning,
        **schema,
    }


def files() -> dict[str, bytes]:
    """The name of every schema file, and what has to stand in it."""
    return {
        f"{topic.name}.json": msgspec.json.format(
            msgspec.json.encode(schema_of(topic), order="deterministic"), indent=1
        )
        + b"\n"
        for topic in TOPICS
        if topic.key
    }


def _allow_words(part: Schema) -> None:
    """Wherever a number may stand in a reading, one of the three words may stand too."""
    kinds = part.get("anyOf")
    if kinds and any(kind.get("type") == "number" for kind in kinds):
        kinds.append(_WORDS)
        return
    for key in ("additionalProperties", "items"):
        if isinstance(part.get(key), dict):
            _allow_words(part[key])
