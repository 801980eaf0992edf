"""What an error line says of the storage: it refused the request, or it failed, or the line is not about storage."""

import re

REFUSED = re.compile(
    r"\bEDQUOT\b|\bENOSPC\b|quota|no space left|Errno (28|122)\b|"
    r"expired ?token|token (has|is) expired|access ?denied|signature ?does ?not ?match|"
    r"invalid ?access ?key|no ?such ?bucket|authentication ?failed|credential",
    re.IGNORECASE,
)
FAILED = re.compile(
    r"\bE(IO|ROFS|STALE|SHUTDOWN|NOTCONN|HOSTDOWN|REMOTEIO)\b|Errno (5|30|107|108|112|116|121)\b|input/output error|"
    r"read-only file ?system|stale (nfs )?file handle|transport endpoint",
    re.IGNORECASE,
)
RETRIED = re.compile(r"\b(429|500|502|503|504)\b|slow ?down|too many requests|retry=|\bretry(ing)?\b", re.IGNORECASE)
STATUS = re.compile(r"^(400|401|403)\b")


def storage_kind(text: str) -> str:
    """Say in one word what the storage did; "" where the line speaks of something else.

    >>> storage_kind("OSError: [Errno 122] Disk quota exceeded"), storage_kind("403 AccessDenied")
    ('refused', 'refused')
    >>> storage_kind("OSError: [Errno 5] Input/output error"), storage_kind("KeyError: 'tokens'")
    ('failed', '')
    """
    if REFUSED.search(text) or STATUS.search(text):
        return "refused"
    return "failed" if FAILED.search(text) else ""


def is_worth_retrying(text: str) -> bool:
    """Tell whether a request that failed like that is usually made again and then served.

    >>> is_worth_retrying("503 SlowDown retry=2"), is_worth_retrying("403 AccessDenied")
    (True, False)
    """
    return bool(RETRIED.search(text)) and not storage_kind(text)
