"""A word that must not be seen: tokens, keys, and addresses that hold them."""

import hmac
import re
from typing import NoReturn

MASK = "****"
_SEPARATORS = re.compile(r"[/?&=#@:]+")
_TELLING = 8
"""A part of an address that is shorter than this opens no door."""


class Secret:
    """Shows itself as `****` wherever it is printed; only `reveal` gives the word.

    >>> secret = Secret("whsec_c2VjcmV0")
    >>> str(secret), repr(secret), f"{secret}", [secret]
    ('****', "Secret('****')", '****', [Secret('****')])
    """

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        if not word:
            raise ValueError("a secret is empty")
        self._word = word

    def reveal(self) -> str:
        """Give the word itself, to be put on the wire and nowhere else."""
        return self._word

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret('{MASK}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._word.encode(), other._word.encode())

    def __hash__(self) -> int:
        return hash(self._word)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


def hide(text: str, *secrets: Secret) -> str:
    """Mask secrets in a text that somebody else wrote, and the longer parts of those that are addresses.

    >>> hide("no route to /services/T0/x9x9x9x9", Secret("https://hooks.example/services/T0/x9x9x9x9"))
    'no route to /****/T0/****'
    """
    for secret in secrets:
        word = secret.reveal()
        parts = [part for part in _SEPARATORS.split(word) if len(part) >= _TELLING]
        for part in (word, *sorted(parts, key=len, reverse=True)):
            text = text.replace(part, MASK)
    return text


def read_secret(wanted: type, given: object) -> Secret:
    """Make a secret of a setting; the `dec_hook` of msgspec.

    Raises:
        ValueError: it is no text, or empty; the message does not repeat it.
    """
    if wanted is not Secret or not isinstance(given, str):
        raise ValueError("a text is expected")
    return Secret(given)
