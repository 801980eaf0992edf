"""The node's mounts: space, latency and errors of network file systems, from the kernel's own statistics."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Sample
from streams.agents.small_file import read_small, text_or_none
from streams.clock import monotonic_seconds

_LOCAL = frozenset({"ext4", "xfs", "btrfs", "zfs", "f2fs"})
_NETWORK = frozenset({"nfs", "nfs4", "lustre", "beegfs", "gpfs", "ceph", "fuse.ceph", "wekafs", "fuse.juicefs", "cifs"})
_KINDS = _LOCAL | _NETWORK
_MOST = 32
"""Mounts looked at; a node with hundreds of containers has as many views of the same disks."""


class Traffic(Struct, frozen=True):
    """What went over a mount since it was made; seconds are summed over requests."""

    reads: float = 0.0
    read_bytes: float = 0.0
    read_seconds: float = 0.0
    writes: float = 0.0
    write_bytes: float = 0.0
    write_seconds: float = 0.0
    retries: float | None = None
    errors: float | None = None


class Mounts:
    """Looks at every mount of a disk or a network file system.

    A network file system whose server is away answers no question about its space. So space is asked of local disks
    alone, unless `network_space` says otherwise; the statistics come from the kernel and always answer.

    Args:
        root: where /proc, /sys and the mounts are.
    """

    def __init__(self, root: Path = Path("/"), *, network_space: bool = False) -> None:
        self._root, self._network_space = root, network_space
        self._table, self._statistics = str(root / "proc/self/mounts"), str(root / "proc/self/mountstats")
        self._before: dict[str, Traffic] = {}
        self._looked = monotonic_seconds()

    def __call__(self) -> Sequence[Sample]:
        """Look once.

        Raises:
            OSError: the table of mounts cannot be read.
        """
        table = mounts(read_small(self._table))
        traffic, now = self._traffic(table), monotonic_seconds()
        rows: dict[str, dict[str, Reading]] = {}
        for place, kind, options in table[:_MOST]:
            readings: dict[str, Reading] = {"read_only": float("ro" in options)}
            if kind in _LOCAL or self._network_space:
                readings |= self._space(place)
            if place in traffic:
                readings |= rates(self._before.get(place), traffic[place], now - self._looked)
            rows[place] = readings
        self._before, self._looked = traffic, now
        if not rows:
            return []
        names = dict.fromkeys(name for row in rows.values() for name in row)
        values = {name: [row.get(name) for row in rows.values()] for name in names}
        return [Sample(of="mount", ids=list(rows), values=values)]

    def _traffic(self, table: list[tuple[str, str, list[str]]]) -> dict[str, Traffic]:
        is_nfs = any(kind.startswith("nfs") for _, kind, _ in table)
        found = dict(nfs(text_or_none(self._statistics) or "")) if is_nfs else {}
        lustre_places = [place for place, kind, _ in table if kind == "lustre"]
        for place in lustre_places[:1]:
            for folder in ("proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite"):
                for file in sorted((self._root / folder).glob("*/stats")):
                    found[place] = lustre(file.read_text())
        return found

    def _space(self, place: str) -> dict[str, Reading]:
        try:
            state = os.statvfs(self._root / place.lstrip("/"))
        except OSError:
            return {}
        size = state.f_blocks * state.f_frsize
        free = float(state.f_bavail * state.f_frsize)
        return {"space_free_bytes": free, "space_used_share": 1.0 - free / size} if size else {}


def mounts(text: str) -> list[tuple[str, str, list[str]]]:
    r"""Give place, type and options of the mounts worth a look, each device once, network file systems first.

    >>> mounts("/dev/sda1 / ext4 rw 0 0\nsrv:/a /data\\040set nfs4 ro,hard 0 0\ntmpfs /tmp tmpfs rw 0 0\n")
    [('/data set', 'nfs4', ['ro', 'hard']), ('/', 'ext4', ['rw'])]
    """
    found: dict[str, tuple[str, str, list[str]]] = {}
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) >= 4 and words[2] in _KINDS:
            found.setdefault(words[0], (_unescaped(words[1]), words[2], words[3].split(",")))
    return sorted(found.values(), key=lambda mount: mount[1] in _LOCAL)


def nfs(text: str) -> Iterator[tuple[str, Traffic]]:
    """Read the statistics of NFS mounts: per operation requests, transmissions, time-outs, bytes and milliseconds."""
    place, numbers = "", dict[str, list[float]]()
    for line in [*text.splitlines(), "device end"]:
        if line.startswith("device "):
            if place and numbers:
                yield place, _nfs_traffic(numbers)
            place, numbers = _place_of_nfs(line), {}
        elif place:
            operation, _, rest = line.strip().partition(":")
            values = [_number(word) for word in rest.split()]
            if operation.isupper() and len(values) >= 8:
                numbers[operation] = values


def _place_of_nfs(line: str) -> str:
    head, _, tail = line.partition(" with fstype ")
    return _unescaped(head.rpartition(" mounted on ")[2]) if tail.startswith("nfs") else ""


def _nfs_traffic(numbers: dict[str, list[float]]) -> Traffic:
    read, write = numbers.get("READ", [0.0] * 9), numbers.get("WRITE", [0.0] * 9)
    return Traffic(
        reads=read[0],
        read_bytes=read[4],
        read_seconds=read[7] / 1e3,
        writes=write[0],
        write_bytes=write[3],
        write_seconds=write[7] / 1e3,
        retries=sum(max(0.0, values[1] - values[0]) for values in numbers.values()),
        errors=sum(values[8] for values in numbers.values() if len(values) > 8),
    )


def lustre(text: str) -> Traffic:
    r"""Read the statistics of a Lustre client: `NAME COUNT samples [UNIT] MIN MAX SUM`.

    >>> lustre("read_bytes 10 samples [bytes] 1 9 5000\nread 10 samples [usecs] 1 9 30000\n").read_seconds
    0.03
    """
    rows: dict[str, tuple[float, float]] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 7 and words[2] == "samples":
            rows[words[0]] = (_number(words[1]), _number(words[6]))
    none = (0.0, 0.0)
    return Traffic(
        reads=rows.get("read", rows.get("read_bytes", none))[0],
        read_bytes=rows.get("read_bytes", none)[1],
        read_seconds=rows.get("read", none)[1] / 1e6,
        writes=rows.get("write", rows.get("write_bytes", none))[0],
        write_bytes=rows.get("write_bytes", none)[1],
        write_seconds=rows.get("write", none)[1] / 1e6,
    )


def rates(before: Traffic | None, now: Traffic, elapsed: float) -> dict[str, Reading]:
    """Give rates and mean times between two looks; the totals of retries and errors as they are.

    >>> rates(Traffic(reads=1, read_seconds=1), Traffic(reads=5, read_seconds=2), 2.0)["storage_latency_seconds"]
    0.25
    """
    readings: dict[str, Reading] = {"storage_retries_total": now.retries, "storage_errors_total": now.errors}
    if before is None or elapsed <= 0 or now.reads < before.reads or now.writes < before.writes:
        return {name: value for name, value in readings.items() if value is not None}
    readings["storage_read_bytes_per_second"] = (now.read_bytes - before.read_bytes) / elapsed
    readings["storage_write_bytes_per_second"] = (now.write_bytes - before.write_bytes) / elapsed
    reads, writes = now.reads - before.reads, now.writes - before.writes
    if reads and now.read_seconds:
        readings["storage_latency_seconds"] = (now.read_seconds - before.read_seconds) / reads
    if writes and now.write_seconds:
        readings["storage_write_latency_seconds"] = (now.write_seconds - before.write_seconds) / writes
    return {name: value for name, value in readings.items() if value is not None}


def _unescaped(place: str) -> str:
    r"""The kernel writes a space in a name as \040."""
    return place.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0
