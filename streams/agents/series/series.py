"""One reading of a series, and the pages on which exporters print them."""

from collections.abc import Callable, Iterator, Mapping
from typing import SupportsFloat

from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families


class Series(Struct, frozen=True):
    """One reading.

    Attributes:
        labels: as the source spells them.
        time: Unix seconds; None where the source does not say.
    """

    name: str
    labels: Mapping[str, str]
    value: float
    time: float | None = None

    @property
    def key(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What makes it this series and no other."""
        return self.name, frozenset(self.labels.items())


def on_page(text: str, wanted: Callable[[str], bool]) -> Iterator[Series]:
    """Read a page in Prometheus' text format.

    Only the lines of wanted series are parsed: of an exporter's thousands a few dozen matter. Types and help are left
    out, for exporters declare them wrongly; the table of aliases knows what grows.

    Args:
        text: the page.
        wanted: tells by its name whether a series matters.

    Raises:
        ValueError: a line of a wanted series cannot be read.
    """
    lines = [line for line in text.splitlines() if line[:1] not in ("#", "") and wanted(_name(line))]
    for family in text_string_to_metric_families("\n".join(lines) + "\n"):
        for sample in family.samples:
            time = _number(sample.timestamp) if sample.timestamp is not None else None
            yield Series(sample.name, sample.labels, _number(sample.value), time)


def _number(given: SupportsFloat) -> float:
    try:
        return float(given)
    except OverflowError:  # digits without end
        raise ValueError("a number has more digits than any reading") from None


def _name(line: str) -> str:
    brace, blank = line.find("{"), line.find(" ")
    ends = [end for end in (brace, blank) if end >= 0]
    return line[: min(ends)] if ends else line
