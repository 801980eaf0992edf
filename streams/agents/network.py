"""The node's links: network interfaces and InfiniBand or RoCE ports, from the counters under /sys."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schemas.telemetry import Reading
from streams.agents.finding import Sample
from streams.agents.small_file import text_or_none
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
        self._nics_at, self._ports_at = str(root / "sys/class/net"), str(root / "sys/class/infiniband")
        self._listed: list[str] = []
        self._physical: list[str] = []
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
        for nic in self._links():
            folder = f"{self._nics_at}/{nic}"
            readings = _sums(f"{folder}/statistics", _NIC_COUNTERS)
            readings["link_downs_total"] = _number(f"{folder}/carrier_down_count")
            readings["link_up"] = {"up": 1.0, "down": 0.0}.get(_text(f"{folder}/operstate"))
            readings["link_bytes_per_second"] = _times(_positive(_number(f"{folder}/speed")), 1e6 / 8)
            for name, file in _NIC_BYTES.items():
                readings[name] = self._rate(nic, name, _number(f"{folder}/statistics/{file}"), now)
            yield nic, _present(readings)

    def _links(self) -> list[str]:
        """Name the interfaces that are no loopback, bridge or pair of containers: those have no link of their own."""
        listed = _names(self._nics_at)
        if listed != self._listed:
            self._physical = [nic for nic in listed if os.path.exists(f"{self._nics_at}/{nic}/device")]
            self._listed = listed
        return self._physical

    def _ports(self, now: float) -> Iterator[tuple[str, Readings]]:
        for device in _names(self._ports_at):
            ports = f"{self._ports_at}/{device}/ports"
            for port in _names(ports):
                name = f"{device}:{port}"
                readings = _sums(f"{ports}/{port}", _PORT_COUNTERS)
                state = _text(f"{ports}/{port}/state")
                readings["link_up"] = float(state.startswith("4")) if state else None
                readings["link_bytes_per_second"] = gigabits(_text(f"{ports}/{port}/rate"))
                for signal, file in _PORT_WORDS.items():
                    words = _times(_number(f"{ports}/{port}/{file}"), _WORD_BYTES)
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


def _sums(folder: str, wanted: Mapping[str, tuple[str, ...]]) -> Readings:
    readings: Readings = {}
    for name, files in wanted.items():
        found = [value for file in files if (value := _number(f"{folder}/{file}")) is not None]
        readings[name] = sum(found) if found else None
    return readings


def _present(readings: Readings) -> Readings:
    return {name: value for name, value in readings.items() if value is not None}


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _text(path: str) -> str:
    return (text_or_none(path) or "").strip()  # the kernel has no such file here, or the link is down


def _number(path: str) -> Reading:
    try:
        return float(_text(path))
    except ValueError:
        return None


def _positive(value: Reading) -> Reading:
    """A link that is down has the speed -1."""
    return value if value is not None and value > 0 else None


def _times(value: Reading, factor: float) -> Reading:
    return None if value is None else value * factor
