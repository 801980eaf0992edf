"""What an error line complains of: the device, its memory, or something else."""

import re

DEVICE = re.compile(
    r"illegal ?instruction|unspecified launch failure|illegal ?(memory ?)?access|misaligned|uncorrectable|"
    r"hardware|ecc error|device-side|launch ?failure|cudaErrorIllegal|no longer|fallen off",
    re.IGNORECASE,
)
MEMORY = re.compile(r"out of memory|\bOOM\b|cudaErrorMemoryAllocation", re.IGNORECASE)


def error_kind(text: str) -> str:
    """Say it in one word.

    >>> error_kind("CUDA error: an illegal instruction was encountered"), error_kind("CUDA error: out of memory")
    ('device', 'memory')
    >>> error_kind("KeyError: 'tokens'")
    'other'
    """
    if DEVICE.search(text):
        return "device"
    return "memory" if MEMORY.search(text) else "other"
