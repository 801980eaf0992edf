"""Ids are derived from what they name, so that the same input gives the same bytes in any runtime and on any replay."""

from hashlib import blake2b

Part = str | int | float | None


def derived_id(*parts: Part) -> str:
    """Hash the parts that identify a thing into 16 hexadecimal digits.

    Args:
        parts: what makes the thing itself, the most general first; None and "" differ.

    >>> derived_id("wm-64", 1, "level_shift", "job", 18046)
    '50409911ed6b7da0'
    >>> derived_id("a", "b") == derived_id("ab")
    False
    """
    text = "\x1f".join("\x00" if part is None else str(part) for part in parts)
    return blake2b(text.encode(), digest_size=8).hexdigest()
