"""Lines of containers as Docker keeps them, one JSON object each, written as Kubernetes' runtimes write theirs."""

import msgspec
from msgspec import Struct

BEGIN = '{"log":"'
"""How such a line begins."""


class _Kept(Struct):
    """One object."""

    log: str
    stream: str = "stdout"
    time: str = ""


_decode = msgspec.json.Decoder(_Kept).decode


def unwrapped(text: str) -> str:
    r"""Take the lines out of their objects; what is no such line stays as it is.

    >>> unwrapped('{"log":"loss is \\"nan\\"\\n","stream":"stderr","time":"2026-03-04T10:00:00.5Z"}\nno object\n')
    '2026-03-04T10:00:00.5Z stderr F loss is "nan"\nno object\n'
    """
    return "\n".join(map(_line, text.split("\n")))


def _line(text: str) -> str:
    if not text.startswith(BEGIN):
        return text
    try:
        kept = _decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return f"{kept.time} {kept.stream} F {kept.log.removesuffix(chr(10))}"
