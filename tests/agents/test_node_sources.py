"""What the node says of pressure, links, mounts and its clock; the kernel's files are laid out as it writes them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from schemas.telemetry import Reading
from streams.agents.finding import Sample, Source
from streams.agents.mounts import Mounts
from streams.agents.network import Network
from streams.agents.node_clock import NodeClock
from streams.agents.pressure import Pressure


def lay(root: Path, files: Mapping[str, str]) -> None:
    """Write files of the kernel."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def row(source: Source, entity: str) -> dict[str, Reading]:
    """Look once and give what is known of one thing."""
    (sample,) = source()
    assert isinstance(sample, Sample)
    place = sample.ids.index(entity) if entity else 0
    return {name: values[place] for name, values in sample.values.items() if values[place] is not None}


PSI = "some avg10=1.00 avg60=2.00 avg300=3.00 total={some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"


def test_pressure_is_the_share_of_the_time_between_two_looks(tmp_path: Path) -> None:
    """Stalled microseconds become a share; a resource that the kernel does not count is absent."""
    lay(tmp_path, {"proc/pressure/io": PSI.format(some=1_000_000, full=0)})
    source = Pressure(tmp_path)
    lay(tmp_path, {"proc/pressure/io": PSI.format(some=1_000_000_000, full=1)})
    readings = row(source, "")
    assert readings["pressure_io"] == 1.0
    assert 0 < (readings["pressure_io_full"] or 0) < 0.1
    assert "pressure_cpu" not in readings


def test_a_kernel_without_pressure_gives_nothing(tmp_path: Path) -> None:
    """Where there is no such counter there is no sample, rather than zeros."""
    assert Pressure(tmp_path)() == []


NIC = {
    "sys/class/net/lo/statistics/rx_errors": "0\n",
    "sys/class/net/eth0/device/vendor": "0x15b3\n",
    "sys/class/net/eth0/operstate": "up\n",
    "sys/class/net/eth0/speed": "100000\n",
    "sys/class/net/eth0/carrier_down_count": "2\n",
    "sys/class/net/eth0/statistics/rx_errors": "3\n",
    "sys/class/net/eth0/statistics/tx_errors": "1\n",
    "sys/class/net/eth0/statistics/rx_bytes": "1000\n",
}
PORT = "sys/class/infiniband/mlx5_0/ports/1"
IB = {
    f"{PORT}/state": "4: ACTIVE\n",
    f"{PORT}/rate": "400 Gb/sec (4X NDR)\n",
    f"{PORT}/counters/link_downed": "1\n",
    f"{PORT}/counters/symbol_error": "9\n",
    f"{PORT}/counters/port_rcv_data": "1000\n",
    f"{PORT}/hw_counters/out_of_sequence": "4\n",
    f"{PORT}/hw_counters/packet_seq_err": "5\n",
    f"{PORT}/hw_counters/np_cnp_sent": "77\n",
}


def test_links_say_errors_speed_and_bytes(tmp_path: Path) -> None:
    """Interfaces and ports are one sample; a port's words of four bytes become bytes, speeds bytes per second."""
    lay(tmp_path, {**NIC, **IB})
    source = Network(tmp_path)
    nic, port = row(source, "eth0"), row(source, "mlx5_0:1")
    wanted = {"nic_errors_total": 4.0, "link_downs_total": 2.0, "link_up": 1.0, "link_bytes_per_second": 12.5e9}
    assert {name: nic[name] for name in wanted} == wanted
    assert port["link_bytes_per_second"] == 50e9
    assert (port["rdma_symbol_errors_total"], port["rdma_out_of_sequence_total"]) == (9.0, 9.0)
    assert port["rdma_congestion_notices_total"] == 77.0
    lay(tmp_path, {f"{PORT}/counters/port_rcv_data": "2000\n", f"{PORT}/state": "1: DOWN\n"})
    port = row(source, "mlx5_0:1")
    assert port["link_up"] == 0.0
    assert (port["network_receive_bytes_per_second"] or 0) > 0
    (sample,) = source()
    assert sample.ids == ["eth0", "mlx5_0:1"]


def test_a_counter_that_began_anew_is_no_rate(tmp_path: Path) -> None:
    """After a reload of the driver the bytes begin at 0: that look has no rate, and never a negative one."""
    lay(tmp_path, NIC)
    source = Network(tmp_path)
    source()
    lay(tmp_path, {"sys/class/net/eth0/statistics/rx_bytes": "5\n"})
    assert "network_receive_bytes_per_second" not in row(source, "eth0")


MOUNTSTATS = """device rootfs mounted on / with fstype rootfs
device server:/export mounted on /data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.1
\tbytes:\t10 20 0 0 10 20 1 1
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 2 0 0 10 10 0 10 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: {reads} {sent} 0 1000 {bytes} 5 {ms} {ms} {errors}
\t       WRITE: 0 0 0 0 0 0 0 0 0
"""
TABLE = "/dev/sda1 / ext4 rw,relatime 0 0\nserver:/export /data nfs4 rw,hard 0 0\ntmpfs /run tmpfs rw 0 0\n"


def test_a_network_file_system_says_latency_retries_and_errors(tmp_path: Path) -> None:
    """Time, retransmissions and errors of NFS requests come from the kernel; space is asked of local disks alone."""
    stats = MOUNTSTATS.format
    files = {"proc/self/mounts": TABLE, "proc/self/mountstats": stats(reads=10, sent=10, bytes=0, ms=100, errors=0)}
    lay(tmp_path, files)
    source = Mounts(tmp_path)
    first = row(source, "/data")
    assert first == {"read_only": 0.0, "storage_retries_total": 0.0, "storage_errors_total": 0.0}
    lay(tmp_path, {"proc/self/mountstats": stats(reads=20, sent=23, bytes=5000, ms=600, errors=1)})
    second = row(source, "/data")
    assert second["storage_latency_seconds"] == pytest.approx(0.05)
    assert (second["storage_retries_total"], second["storage_errors_total"]) == (3.0, 1.0)
    assert (second["storage_read_bytes_per_second"] or 0) > 0
    assert "space_free_bytes" not in second
    assert (row(source, "/")["space_free_bytes"] or 0) > 0


def test_a_lustre_client_says_latency(tmp_path: Path) -> None:
    """The client's sums of microseconds become the mean time of a read."""
    table = "10.0.0.1@o2ib:/scratch /scratch lustre rw,flock 0 0\n"
    stats = "read_bytes {n} samples [bytes] 1 9 {b}\nread {n} samples [usecs] 1 9 {us}\n"
    file = "proc/fs/lustre/llite/scratch-ffff/stats"
    lay(tmp_path, {"proc/self/mounts": table, file: stats.format(n=1, b=1, us=10)})
    source = Mounts(tmp_path)
    source()
    lay(tmp_path, {file: stats.format(n=3, b=9, us=40_010)})
    assert row(source, "/scratch")["storage_latency_seconds"] == pytest.approx(0.02)


def test_this_node_answers() -> None:
    """On a real kernel every source gives finite readings, and twice without harm."""
    sources: tuple[Source, ...] = (Pressure(), Network(), Mounts(), NodeClock())
    for source in sources:
        source()
        for sample in source():
            assert isinstance(sample, Sample)
            readings = [value for values in sample.values.values() for value in values if value is not None]
            assert all(0 <= value < 1e18 for value in readings if value >= 0)
            assert {len(values) for values in sample.values.values()} <= {max(1, len(sample.ids))}


def test_an_unsynchronised_clock_has_no_offset() -> None:
    """The offset is given exactly when the kernel says that somebody disciplines the clock."""
    readings = row(NodeClock(), "")
    assert ("clock_offset_seconds" in readings) == (readings["clock_synchronised"] == 1.0)
