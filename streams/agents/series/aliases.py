"""THE table of aliases: which series of which exporter is which signal, of which thing, with which factor.

Several rows of one signal add up where they stand for parts of it. Series that need more than a factor (shares over
time, latencies, sticky codes) have readers of their own in `derived.py`.
"""

from msgspec import Struct

from schemas.telemetry import Entity


class Alias(Struct, frozen=True):
    """One row.

    Attributes:
        series: name at the source.
        signal: our name, with our unit.
        of: what kind of thing it speaks of.
        factor: from the source's unit to ours.
        rate: whether the source counts and the signal is its growth per second.
        only: label and value that the series must have; "" for none.
    """

    series: str
    signal: str
    of: Entity
    factor: float = 1.0
    rate: bool = False
    only: tuple[str, str] = ("", "")


_MIB = 2.0**20

# fmt: off
_DCGM = (
    Alias("DCGM_FI_DEV_GPU_UTIL", "gpu_util", "gpu", 0.01),
    Alias("DCGM_FI_PROF_SM_ACTIVE", "sm_active", "gpu"),
    Alias("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "tensor_active", "gpu"),
    Alias("DCGM_FI_PROF_DRAM_ACTIVE", "hbm_active", "gpu"),
    Alias("DCGM_FI_DEV_FB_USED", "hbm_used_bytes", "gpu", _MIB),
    Alias("DCGM_FI_DEV_FB_RESERVED", "hbm_used_bytes", "gpu", _MIB),
    Alias("DCGM_FI_DEV_FB_USED", "hbm_total_bytes", "gpu", _MIB),
    Alias("DCGM_FI_DEV_FB_FREE", "hbm_total_bytes", "gpu", _MIB),
    Alias("DCGM_FI_DEV_FB_RESERVED", "hbm_total_bytes", "gpu", _MIB),
    Alias("DCGM_FI_DEV_SM_CLOCK", "sm_clock_mhz", "gpu"),
    Alias("DCGM_FI_DEV_MAX_SM_CLOCK", "sm_clock_limit_mhz", "gpu"),
    Alias("DCGM_FI_DEV_GPU_TEMP", "temperature_c", "gpu"),
    Alias("DCGM_FI_DEV_MEMORY_TEMP", "memory_temperature_c", "gpu"),
    Alias("DCGM_FI_DEV_POWER_USAGE", "power_watts", "gpu"),
    Alias("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "power_limit_watts", "gpu"),
    Alias("DCGM_FI_DEV_XID_ERRORS", "xid_last", "gpu"),
    Alias("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "pcie_replays_total", "gpu"),
    Alias("DCGM_FI_DEV_PCIE_LINK_GEN", "pcie_generation", "gpu"),
    Alias("DCGM_FI_DEV_PCIE_LINK_WIDTH", "pcie_width", "gpu"),
    Alias("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "remapped_rows_correctable", "gpu"),
    Alias("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "remapped_rows_uncorrectable", "gpu"),
    Alias("DCGM_FI_DEV_ROW_REMAP_PENDING", "remapped_rows_pending", "gpu"),
    Alias("DCGM_FI_DEV_ROW_REMAP_FAILURE", "remapped_rows_failure", "gpu"),
    Alias("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "ecc_sbe_volatile_total", "gpu"),
    Alias("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "ecc_dbe_volatile_total", "gpu"),
    Alias("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "ecc_sbe_aggregate_total", "gpu"),
    Alias("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "ecc_dbe_aggregate_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS", "nvlink_errors_total", "gpu"),
    Alias("DCGM_FI_DEV_POWER_VIOLATION", "clocks_held_power_seconds_total", "gpu", 1e-9),
    Alias("DCGM_FI_DEV_THERMAL_VIOLATION", "clocks_held_thermal_seconds_total", "gpu", 1e-9),
    Alias("DCGM_FI_DEV_SYNC_BOOST_VIOLATION", "clocks_held_sync_boost_seconds_total", "gpu", 1e-9),
    Alias("DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", "clocks_held_board_limit_seconds_total", "gpu", 1e-9),
    Alias("DCGM_FI_DEV_RELIABILITY_VIOLATION", "clocks_held_reliability_seconds_total", "gpu", 1e-9),
)
_NODE = (
    Alias("node_load1", "load", "node"),
    Alias("node_memory_MemAvailable_bytes", "memory_available_bytes", "node"),
    Alias("node_memory_SwapTotal_bytes", "swap_used_bytes", "node"),
    Alias("node_memory_SwapFree_bytes", "swap_used_bytes", "node", -1.0),
    Alias("node_vmstat_oom_kill", "oom_kills_total", "node"),
    Alias("node_netstat_Tcp_RetransSegs", "retransmits_total", "node"),
    Alias("node_pressure_cpu_waiting_seconds_total", "pressure_cpu", "node", rate=True),
    Alias("node_pressure_memory_waiting_seconds_total", "pressure_memory", "node", rate=True),
    Alias("node_pressure_memory_stalled_seconds_total", "pressure_memory_full", "node", rate=True),
    Alias("node_pressure_io_waiting_seconds_total", "pressure_io", "node", rate=True),
    Alias("node_pressure_io_stalled_seconds_total", "pressure_io_full", "node", rate=True),
    Alias("node_disk_read_bytes_total", "disk_read_bytes_per_second", "node", rate=True),
    Alias("node_timex_sync_status", "clock_synchronised", "node"),
    Alias("node_timex_offset_seconds", "clock_offset_seconds", "node"),
    Alias("node_network_receive_errs_total", "nic_errors_total", "nic"),
    Alias("node_network_transmit_errs_total", "nic_errors_total", "nic"),
    Alias("node_network_receive_drop_total", "nic_drops_total", "nic"),
    Alias("node_network_transmit_drop_total", "nic_drops_total", "nic"),
    Alias("node_network_receive_bytes_total", "network_receive_bytes_per_second", "nic", rate=True),
    Alias("node_network_transmit_bytes_total", "network_transmit_bytes_per_second", "nic", rate=True),
    Alias("node_network_carrier_down_changes_total", "link_downs_total", "nic"),
    Alias("node_network_up", "link_up", "nic"),
    Alias("node_network_speed_bytes", "link_bytes_per_second", "nic"),
    Alias("node_infiniband_link_downed_total", "link_downs_total", "nic"),
    Alias("node_infiniband_symbol_error_total", "rdma_symbol_errors_total", "nic"),
    Alias("node_infiniband_link_error_recovery_total", "rdma_link_recoveries_total", "nic"),
    Alias("node_infiniband_port_errors_received_total", "rdma_receive_errors_total", "nic"),
    Alias("node_infiniband_port_constraint_errors_received_total", "rdma_receive_errors_total", "nic"),
    Alias("node_infiniband_port_discards_transmitted_total", "rdma_discards_total", "nic"),
    Alias("node_infiniband_port_transmit_wait_total", "rdma_transmit_wait_total", "nic"),
    Alias("node_infiniband_port_data_received_bytes_total", "network_receive_bytes_per_second", "nic", rate=True),
    Alias("node_infiniband_port_data_transmitted_bytes_total", "network_transmit_bytes_per_second", "nic", rate=True),
    Alias("node_infiniband_rate_bytes_per_second", "link_bytes_per_second", "nic"),
    Alias("node_infiniband_out_of_sequence_packets_received_total", "rdma_out_of_sequence_total", "nic"),
    Alias("node_infiniband_packet_sequence_errors_total", "rdma_out_of_sequence_total", "nic"),
    Alias("node_infiniband_out_of_buffer_drops_total", "rdma_out_of_buffer_total", "nic"),
    Alias("node_infiniband_roce_adp_retransmits_total", "rdma_retransmits_total", "nic"),
    Alias("node_infiniband_local_ack_timeout_errors_total", "rdma_ack_timeouts_total", "nic"),
    Alias("node_infiniband_np_cnp_packets_sent_total", "rdma_congestion_notices_total", "nic"),
    Alias("node_infiniband_np_ecn_marked_roce_packets_received_total", "rdma_congestion_marks_total", "nic"),
    Alias("node_filesystem_avail_bytes", "space_free_bytes", "mount"),
    Alias("node_filesystem_readonly", "read_only", "mount"),
)
_NCCL = (
    Alias("nccl_bus_bandwidth_gbs", "nccl_bus_bytes_per_second", "job", 1e9),
    Alias("nccl_collective_exec_time_microseconds", "nccl_latency_seconds", "job", 1e-6),
)
_OPEN_TELEMETRY = (
    Alias("hw.gpu.utilization", "gpu_util", "gpu", only=("hw.gpu.task", "")),
    Alias("hw.gpu.memory.usage", "hbm_used_bytes", "gpu"),
    Alias("hw.gpu.memory.limit", "hbm_total_bytes", "gpu"),
    Alias("hw.temperature", "temperature_c", "gpu", only=("hw.type", "gpu")),
    Alias("hw.power", "power_watts", "gpu", only=("hw.type", "gpu")),
    Alias("system.cpu.load_average.1m", "load", "node"),
)
# fmt: on

ALIASES = (*_DCGM, *_NODE, *_NCCL, *_OPEN_TELEMETRY)

BY_SERIES: dict[str, list[Alias]] = {}
for _alias in ALIASES:
    BY_SERIES.setdefault(_alias.series, []).append(_alias)

GPU_LABELS = ("UUID", "uuid", "gpu_uuid", "hw.id")
JOB_LABELS = ("hpc_job", "training_job", "slurm_job_id", "job_id")
"""Labels of a training run; `job` alone is what Prometheus calls its own list of targets."""
NODE_LABELS = (
    "Hostname",
    "hostname",
    "host.name",
    "k8s.node.name",
    "node",
    "kubernetes_node",
    "nodename",
    "instance",
    "host",
)
COPY_LABELS = ("prometheus_replica", "__replica__")
"""What tells copies of one series apart where two servers scrape the same page and both send it on."""
NO_ADAPTERS = (
    *("veth", "docker", "br-", "virbr", "cali", "cni", "flannel", "lxc", "vxlan", "tun", "tap", "kube"),
    *("dummy", "nodelocaldns", "ovs", "genev", "ifb", "sit", "gre", "cilium", "azv", "eni"),
)
"""How network devices begin that are made of software, and come and go with containers."""
MOUNT_TYPES = frozenset(
    {"ext4", "xfs", "btrfs", "zfs", "nfs", "nfs4", "lustre", "beegfs", "gpfs", "ceph", "fuse.juicefs", "wekafs"}
)
"""Types of file systems whose space matters; the rest are views of memory or of the kernel."""
BLANKS = frozenset(
    float(base + more) for base in (2147483632, 140737488355328, 9223372036854775792) for more in range(4)
)
"""What DCGM writes where it has no reading."""
