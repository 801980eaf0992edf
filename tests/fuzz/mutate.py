"""Damage to bytes, drawn from a seeded generator: what cut, glued, wrapped and coloured logs look like, and worse."""

import re
from collections.abc import Callable, Sequence
from random import Random

_NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBERS = (
    b"0", b"-1", b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"99999999999999999999999", b"1.2.3", b"", b"1,0,0",
    b"4.000", b"1.82e+4", b"\xd9\xa3", b"9007199254740993", b"0x10", b"1_000", b"18446744073709551616",
)  # fmt: skip
_INSERTS = (
    b"\x1b[32m", b"\x1b[0m", b"\x1b]0;title\x07", b"\x1b[", b"\r", b"\n", b"\r\n", b"\x00", b"\xff", b"\xe2\x96", b"|",
    b"\t", b"  ", b"\xe2\x80\xa8", b"\x85", b"\xed\xa0\x80", b"\\ud800", b"{", b"[", b'"', b"'", b"%",
)  # fmt: skip
Damage = Callable[[Random, bytes, Sequence[bytes]], bytes]


def mutate(chance: Random, sample: bytes, others: Sequence[bytes], most: int = 4) -> bytes:
    """Damage a sample up to so often; sometimes not at all."""
    for _ in range(chance.randint(0, most)):
        sample = chance.choice(_DAMAGES)(chance, sample, others)
    return sample[: 1 << 15]


def cuts(chance: Random, body: bytes) -> list[bytes]:
    """Cut bytes into pieces at random places."""
    pieces, place, longest = [], 0, chance.choice((1, 7, 60, 500, 1 << 20))
    while place < len(body):
        size = chance.randint(1, longest)
        pieces.append(body[place : place + size])
        place += size
    return pieces


def _slice(chance: Random, sample: bytes) -> tuple[int, int]:
    begin = chance.randint(0, len(sample))
    return begin, min(len(sample), begin + chance.choice((1, 3, 20, 200)))


def _cut_out(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _slice(chance, sample)
    return sample[:begin] + sample[end:]


def _repeat(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _slice(chance, sample)
    return sample[:begin] + sample[begin:end] * chance.choice((2, 3, 50, 5_000)) + sample[end:]


def _noise(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _slice(chance, sample)
    return sample[:begin] + chance.randbytes(end - begin) + sample[end:]


def _insert(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    place = chance.randint(0, len(sample))
    return sample[:place] + chance.choice(_INSERTS) + sample[place:]


def _number(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(sample))
    if not found:
        return sample
    one = chance.choice(found)
    return sample[: one.start()] + chance.choice(_NUMBERS) + sample[one.end() :]


def _splice(chance: Random, sample: bytes, others: Sequence[bytes]) -> bytes:
    other = chance.choice(others)
    return sample[: chance.randint(0, len(sample))] + other[chance.randint(0, len(other)) :]


def _glue(chance: Random, sample: bytes, others: Sequence[bytes]) -> bytes:
    return sample + chance.choice((b"", b" ", b"\r", b"\n")) + chance.choice(others)


def _truncate(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    return sample[: chance.randint(0, len(sample))]


def _nest(chance: Random, sample: bytes, _: Sequence[bytes]) -> bytes:
    deep = chance.choice((3, 50, 5_000))
    place = chance.randint(0, len(sample))
    return sample[:place] + b"[" * deep + chance.choice((b"", b"]" * deep)) + sample[place:]


_DAMAGES: tuple[Damage, ...] = (
    _cut_out, _repeat, _noise, _insert, _number, _number, _splice, _glue, _truncate, _nest,
)  # fmt: skip
