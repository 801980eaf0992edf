"""Reading files of the kernel, many times a minute: without a stream object for each."""

import os

_BYTES = 1 << 16


def read_small(path: str) -> str:
    """Give the whole text of a small file.

    Raises:
        OSError: it cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        body = os.read(file, _BYTES)
        while more := (os.read(file, _BYTES) if body else b""):
            body += more
    finally:
        os.close(file)
    return body.decode("utf-8", "replace")


def text_or_none(path: str) -> str | None:
    """Give the text of a small file; None where the kernel has no such file, or will not say."""
    try:
        return read_small(path)
    except OSError:
        return None
