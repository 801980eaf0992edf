"""OpenTelemetry metrics over HTTP: protobuf or JSON, gauges and sums, with the resource's attributes as labels."""

from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from streams.agents.series.series import Series
from streams.feed.remote_write import NotReadable


def series_of(body: bytes, as_json: bool) -> Iterator[Series]:
    """Read the series of a request; histograms and summaries are passed over.

    Raises:
        NotReadable: it is no such request.
    """
    request = ExportMetricsServiceRequest()
    try:
        if as_json:
            json_format.Parse(body, request, ignore_unknown_fields=True)
        else:
            request.ParseFromString(body)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError) as fault:
        raise NotReadable(f"no OTLP metrics: {fault}") from None
    for resource in request.resource_metrics:
        common = _labels(resource.resource.attributes)
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                yield from _points(metric, common)


def reply(as_json: bool) -> bytes:
    """Give the answer that says all was taken."""
    return b"{}" if as_json else bytes(ExportMetricsServiceResponse().SerializeToString())


def _points(metric: Any, common: dict[str, str]) -> Iterator[Series]:  # noqa: ANN401 - protobuf's classes
    kind = metric.WhichOneof("data")
    if kind not in ("gauge", "sum"):
        return
    for point in getattr(metric, kind).data_points:
        value = point.as_double if point.WhichOneof("value") == "as_double" else float(point.as_int)
        time = point.time_unix_nano / 1e9 or None
        yield Series(metric.name, {**common, **_labels(point.attributes)}, value, time)


def _labels(attributes: Any) -> dict[str, str]:  # noqa: ANN401 - protobuf's classes
    return {each.key: str(getattr(each.value, each.value.WhichOneof("value") or "string_value")) for each in attributes}
