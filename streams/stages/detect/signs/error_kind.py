"""What an error line complains of: the device, its memory, the save it was to go on from, or something else."""

import re

DEVICE = re.compile(
    r"illegal ?instruction|unspecified launch failure|illegal ?(memory ?)?access|misaligned|uncorrectable|"
    r"hardware|ecc error|device-side|launch ?failure|cudaErrorIllegal|no longer|fallen off",
    re.IGNORECASE,
)
MEMORY = re.compile(r"out of memory|\bOOM\b|cudaErrorMemoryAllocation", re.IGNORECASE)

SAVE = re.compile(
    r"failed finding central directory|PytorchStreamReader failed|deserializing header|MetadataIncompleteBuffer|"
    r"HeaderTooLarge|InvalidHeaderDeserialization|invalid load key|pickle data was truncated|Ran out of input|"
    r"unexpected EOF, expected \d+ more bytes|storage has wrong byte size|unexpected pos \d+ vs|"
    r"(checkpoint|shard|\.pt\b|\.pth\b|\.distcp|\.safetensors|\.ckpt)[^.]{0,80}(corrupt|truncated|unreadable)|"
    r"(corrupt|truncated|unreadable)\S*[^.]{0,60}(checkpoint|shard|\.distcp|\.safetensors)",
    re.IGNORECASE,
)
"""What the readers of PyTorch, safetensors and pickle say of a file that is not whole."""


def error_kind(text: str, *, loading: bool = False) -> str:
    """Say it in one word.

    Args:
        text: of the error.
        loading: no step was trained yet: what cannot be read is the save that the run was to go on from.

    >>> error_kind("CUDA error: an illegal instruction was encountered"), error_kind("CUDA error: out of memory")
    ('device', 'memory')
    >>> error_kind("KeyError: 'tokens'")
    'other'
    >>> error_kind("EOFError: Ran out of input", loading=True), error_kind("EOFError: Ran out of input")
    ('save', 'other')
    """
    if loading and SAVE.search(text):
        return "save"
    if DEVICE.search(text):
        return "device"
    return "memory" if MEMORY.search(text) else "other"
