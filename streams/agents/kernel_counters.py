"""The kernel's counters of processors, disks, memory and network, from the texts under /proc."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Reading

_SECTOR_BYTES = 512


class Processor(Struct, frozen=True, gc=False):
    """Seconds of one processor since the start of the node."""

    busy: float
    waiting: float
    total: float

    def __sub__(self, older: "Processor") -> "Processor":
        return Processor(self.busy - older.busy, self.waiting - older.waiting, self.total - older.total)


class Disk(Struct, frozen=True, gc=False):
    """What one disk did since the start of the node; `request_seconds` is summed over its requests."""

    busy_seconds: float
    read_bytes: float
    requests: float
    request_seconds: float

    def __sub__(self, older: "Disk") -> "Disk":
        return Disk(
            self.busy_seconds - older.busy_seconds,
            self.read_bytes - older.read_bytes,
            self.requests - older.requests,
            self.request_seconds - older.request_seconds,
        )


def processors(stat: str, ticks: float) -> list[Processor]:
    r"""Read /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests' time is part of users' time.

    Args:
        stat: the text.
        ticks: of a second.

    >>> processors("cpu 9 0 0 9 0 0 0 0 0 0\ncpu0 300 0 100 500 50 0 0 50 20 0\nintr 5\n", 100.0)
    [Processor(busy=4.5, waiting=0.5, total=10.0)]
    """
    found = []
    for line in stat.splitlines():
        if not line.startswith("cpu"):
            break
        name, *printed = line.split()
        if name == "cpu" or len(printed) < 5:
            continue
        times = [int(word) for word in printed[:8]]
        total, idle, waiting = sum(times), times[3], times[4]
        found.append(Processor((total - idle - waiting) / ticks, waiting / ticks, total / ticks))
    return found


def disks(diskstats: str) -> Iterator[tuple[str, Disk]]:
    r"""Read /proc/diskstats: per device and partition requests, sectors and milliseconds of reads, then of writes.

    >>> dict(disks("   8  0 sda 10 0 200 30 5 0 80 20 0 40 50\n"))["sda"]
    Disk(busy_seconds=0.04, read_bytes=102400.0, requests=15.0, request_seconds=0.05)
    """
    for line in diskstats.splitlines():
        words = line.split()
        if len(words) >= 13:
            reads, _, sectors, reading, writes, _, _, writing, _, busy = (float(word) for word in words[3:13])
            yield words[2], Disk(busy / 1e3, sectors * _SECTOR_BYTES, reads + writes, (reading + writing) / 1e3)


def memory(meminfo: str) -> dict[str, Reading]:
    r"""Read /proc/meminfo.

    >>> memory("MemAvailable: 4 kB\nCached: 2 kB\nSReclaimable: 1 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\n")
    {'memory_available_bytes': 4096.0, 'page_cache_bytes': 3072.0, 'swap_used_bytes': 3072.0}
    """
    sizes = {}
    for line in meminfo.splitlines():
        name, _, rest = line.partition(":")
        sizes[name] = rest
    size = {
        name: float(words[0]) * 1024
        for name in ("MemAvailable", "Cached", "SReclaimable", "SwapTotal", "SwapFree")
        if (words := sizes.get(name, "").split())
    }
    swap = size["SwapTotal"] - size["SwapFree"] if "SwapTotal" in size and "SwapFree" in size else None
    return {
        "memory_available_bytes": size.get("MemAvailable"),
        "page_cache_bytes": size["Cached"] + size.get("SReclaimable", 0.0) if "Cached" in size else None,
        "swap_used_bytes": swap,
    }


def interface_errors(dev: str) -> Reading:
    r"""Read /proc/net/dev: errors of all interfaces, received and sent ones.

    >>> interface_errors("Inter-| Receive\n face |bytes\n eth0: 1 2 3 0 0 0 0 0 1 2 4 0 0 0 0 0\n")
    7.0
    """
    rows = [line.rpartition(":")[2].split() for line in dev.splitlines() if ":" in line]
    return float(sum(int(row[2]) + int(row[10]) for row in rows if len(row) >= 16))


def retransmits(snmp: str) -> Reading:
    r"""Read /proc/net/snmp: a line of names and one of numbers.

    >>> retransmits("Tcp: InSegs RetransSegs\nTcp: 5 7\n"), retransmits("")
    (7.0, None)
    """
    rows = [line.split() for line in snmp.splitlines() if line.startswith("Tcp:")]
    return float(dict(zip(rows[0], rows[1], strict=True))["RetransSegs"]) if len(rows) == 2 else None


def line_of(vmstat: str, name: str) -> Reading:
    r"""Read one `name value` line; None where there is none.

    >>> line_of("pgfault 9\noom_kill 2\n", "oom_kill"), line_of("pgfault 9\n", "oom_kill")
    (2.0, None)
    """
    begin = vmstat.find(f"\n{name} ")
    if begin < 0:
        return None
    return float(vmstat[begin + len(name) + 2 :].split(None, 1)[0])
