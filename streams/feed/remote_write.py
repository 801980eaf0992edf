"""Prometheus remote_write, both versions: the messages it sends, and the series in them."""

from collections.abc import Iterator, Sequence
from typing import Any

import cramjam
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from streams.agents.series.series import Series

MOST_BYTES = 64 << 20
"""Of a message once unpacked: a few kilobytes can hold gigabytes."""
VERSION_2 = "io.prometheus.write.v2.Request"

_Type = descriptor_pb2.FieldDescriptorProto
_STRING, _DOUBLE, _INT, _UINT = _Type.TYPE_STRING, _Type.TYPE_DOUBLE, _Type.TYPE_INT64, _Type.TYPE_UINT32
_ONE, _MANY = _Type.LABEL_OPTIONAL, _Type.LABEL_REPEATED
_Field = tuple[str, int, Any, int]  # Any: a number of the enumeration, or the name of a message
_MESSAGES: dict[str, list[_Field]] = {
    "v1.Label": [("name", 1, _STRING, _ONE), ("value", 2, _STRING, _ONE)],
    "v1.Sample": [("value", 1, _DOUBLE, _ONE), ("timestamp", 2, _INT, _ONE)],
    "v1.TimeSeries": [("labels", 1, "v1.Label", _MANY), ("samples", 2, "v1.Sample", _MANY)],
    "v1.WriteRequest": [("timeseries", 1, "v1.TimeSeries", _MANY)],
    "v2.Sample": [("value", 1, _DOUBLE, _ONE), ("timestamp", 2, _INT, _ONE)],
    "v2.TimeSeries": [("labels_refs", 1, _UINT, _MANY), ("samples", 2, "v2.Sample", _MANY)],
    "v2.Request": [("symbols", 4, _STRING, _MANY), ("timeseries", 5, "v2.TimeSeries", _MANY)],
}


class NotReadable(ValueError):
    """The body is no such message; the sender shall not send it again."""


def _build(package: str) -> dict[str, Any]:  # Any: classes that protobuf makes
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for full, fields in _MESSAGES.items():
        message = file.message_type.add(name=full.replace(".", "_"))
        for name, number, kind, label in fields:
            field = message.field.add(name=name, number=number, label=label)
            if isinstance(kind, str):
                field.type, field.type_name = _Type.TYPE_MESSAGE, f".{package}.{kind.replace('.', '_')}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        full: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{full.replace('.', '_')}"))
        for full in _MESSAGES
    }


MESSAGES = _build("trainmaster.remote_write")


def unpack(body: bytes) -> bytes:
    """Unpack a body in snappy's block format.

    Raises:
        NotReadable: it is none, or it says that it holds more than is allowed.
    """
    if _announced(body) > MOST_BYTES:
        raise NotReadable(f"more than {MOST_BYTES >> 20} MiB unpacked")
    try:
        return bytes(cramjam.snappy.decompress_raw(body))
    except cramjam.DecompressionError as fault:
        raise NotReadable(f"no snappy block: {fault}") from None


def _announced(body: bytes) -> int:
    """Read how many bytes the block says it holds: seven bits a byte, lowest first."""
    size = 0
    for place, byte in enumerate(body[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return size
    raise NotReadable("no snappy block: it does not say its size")


def series_of(message: bytes, version_2: bool) -> Iterator[Series]:
    """Read the series of a message.

    Raises:
        NotReadable: it is no such message.
    """
    try:
        if version_2:
            yield from _series_2(MESSAGES["v2.Request"].FromString(message))
        else:
            yield from _series_1(MESSAGES["v1.WriteRequest"].FromString(message))
    except (DecodeError, IndexError) as fault:
        raise NotReadable(f"no such message: {fault}") from None


def _series_1(request: Any) -> Iterator[Series]:  # noqa: ANN401 - a class that protobuf makes
    for each in request.timeseries:
        labels = {label.name: label.value for label in each.labels}
        yield from _samples(labels, each.samples)


def _series_2(request: Any) -> Iterator[Series]:  # noqa: ANN401 - a class that protobuf makes
    symbols: Sequence[str] = list(request.symbols)
    for each in request.timeseries:
        refs = list(each.labels_refs)
        labels = {symbols[name]: symbols[value] for name, value in zip(refs[::2], refs[1::2], strict=False)}
        yield from _samples(labels, each.samples)


def _samples(labels: dict[str, str], samples: Any) -> Iterator[Series]:  # noqa: ANN401 - as above
    name = labels.pop("__name__", "")
    for sample in samples:
        yield Series(name, labels, sample.value, sample.timestamp / 1e3)
