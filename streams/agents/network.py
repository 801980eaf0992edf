"""The node's links: network interfaces and InfiniBand or RoCE ports, from the counters under /sys."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schemas.telemetry import Reading
from streams.agents.finding import Sample
from streams.clock import monotonic_seconds

Readings = dict[str, Reading]

_NIC_COUNTERS = {
    "nic_errors_total": ("rx_errors", "tx_errors"),
    "nic_drops_total": ("rx_dropped", "tx_dropped"),
}
_PORT_COUNTERS = {
    "link_downs_total": ("counters/link_downed",),
    "rdma_symbol_errors_total": ("counters/symbol_error",),
    "rdma_link_recoveries_total": ("counters/link_error_recovery",),
    "rdma_receive_errors_total": ("counters/port_rcv_errors", "counters/port_rcv_constraint_errors"),
    "rdma_discards_total": ("counters/port_xmit_discards",),
    "rdma_transmit_wait_total": ("counters/port_xmit_wait",),
    "rdma_out_of_sequence_total": ("hw_counters/out_of_sequence", "hw_counters/packet_seq_err"),
    "rdma_out_of_buffer_total": ("hw_counters/out_of_buffer",),
    "rdma_retransmits_total": ("hw_counters/roce_adp_retrans",),
    "rdma_ack_timeouts_total": ("hw_counters/local_ack_timeout_err",),
    "rdma_congestion_notices_total": ("hw_counters/np_cnp_sent",),
    "rdma_congestion_marks_total": ("hw_counters/np_ecn_marked_roce_packets",),
}
_NIC_BYTES = {"network_receive_bytes_per_second": "rx_bytes", "network_transmit_bytes_per_second": "tx_bytes"}
_PORT_WORDS = {
    "network_receive_bytes_per_second": "counters/port_rcv_data",
    "network_transmit_bytes_per_second": "counters/port_xmit_data",
}
_WORD_BYTES = 4
"""Data of a port is counted in words of four bytes."""


class Network:
    """Looks at every physical interface and every port; rates are over the time since the look before.

    Args:
        root: where /sys is.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._sys = root / "sys/class"
        self._bytes: dict[tuple[str, str], tuple[float, float]] = {}

    def __call__(self) -> Sequence[Sample]:
        """Look once; what a link does not have is left out."""
        now = monotonic_seconds()
        rows = {**dict(self._nics(now)), **dict(self._ports(now))}
        if not rows:
            return []
        names = dict.fromkeys(name for row in rows.values() for name in row)
        values = {name: [row.get(name) for row in rows.values()] for name in names}
        return [Sample(of="nic", ids=list(rows), values=values)]

    def _nics(self, now: float) -> Iterator[tuple[str, Readings]]:
        for folder in _folders(self._sys / "net"):
            if not (folder / "device").exists():
                continue  # loopback, bridges, pairs of containers: no link of their own
            readings = _sums(folder / "statistics", _NIC_COUNTERS)
            readings["link_downs_total"] = _number(folder / "carrier_down_count")
            readings["link_up"] = {"up": 1.0, "down": 0.0}.get(_text(folder / "operstate"))
            readings["link_bytes_per_second"] = _times(_positive(_number(folder / "speed")), 1e6 / 8)
            for name, file in _NIC_BYTES.items():
                readings[name] = self._rate(folder.name, name, _number(folder / "statistics" / file), now)
            yield folder.name, _present(readings)

    def _ports(self, now: float) -> Iterator[tuple[str, Readings]]:
        for device in _folders(self._sys / "infiniband"):
            for port in _folders(device / "ports"):
                name = f"{device.name}:{port.name}"
                readings = _sums(port, _PORT_COUNTERS)
                state = _text(port / "state")
                readings["link_up"] = float(state.startswith("4")) if state else None
                readings["link_bytes_per_second"] = gigabits(_text(port / "rate"))
                for signal, file in _PORT_WORDS.items():
                    words = _times(_number(port / file), _WORD_BYTES)
                    readings[signal] = self._rate(name, signal, words, now)
                yield name, _present(readings)

    def _rate(self, link: str, signal: str, total: Reading, now: float) -> Reading:
        """Give the rate since the look before; none where there was none, or the counter began anew."""
        if total is None:
            return None
        before = self._bytes.get((link, signal))
        self._bytes[link, signal] = (now, total)
        if before is None or now <= before[0] or total < before[1]:
            return None
        return (total - before[1]) / (now - before[0])


def gigabits(rate: str) -> Reading:
    """Read the speed of a port as bytes per second.

    >>> gigabits("400 Gb/sec (4X NDR)"), gigabits("")
    (50000000000.0, None)
    """
    first = rate.split(" ")[0] if rate else ""
    try:
        return float(first) * 1e9 / 8
    except ValueError:
        return None


def _sums(folder: Path, wanted: Mapping[str, tuple[str, ...]]) -> Readings:
    readings: Readings = {}
    for name, files in wanted.items():
        found = [value for file in files if (value := _number(folder / file)) is not None]
        readings[name] = sum(found) if found else None
    return readings


def _present(readings: Readings) -> Readings:
    return {name: value for name, value in readings.items() if value is not None}


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # the kernel has no such file here, or the link is down and it will not say
        return ""


def _number(path: Path) -> Reading:
    try:
        return float(_text(path))
    except ValueError:
        return None


def _positive(value: Reading) -> Reading:
    """A link that is down has the speed -1."""
    return value if value is not None and value > 0 else None


def _times(value: Reading, factor: float) -> Reading:
    return None if value is None else value * factor
