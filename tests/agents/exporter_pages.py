"""Pages as dcgm-exporter and node_exporter print them, of a GPU and a node whose readings the other agents know."""

LABELS_NOW = (
    'gpu="{i}",UUID="GPU-{i}",pci_bus_id="00000000:3{i}:00.0",device="nvidia{i}",modelName="NVIDIA H100 80GB HBM3",'
    'Hostname="n05",DCGM_FI_DRIVER_VERSION="570.86",pod="train-0",namespace="ml",container="trainer"'
)
LABELS_BEFORE = (
    'gpu="{i}",uuid="GPU-{i}",device="nvidia{i}",model_name="NVIDIA H100 80GB HBM3",hostname="n05",pod_name="train-0",'
    'pod_namespace="ml",container_name="trainer"'
)
DCGM = {
    "DCGM_FI_DEV_GPU_UTIL": "97",
    "DCGM_FI_PROF_SM_ACTIVE": "0.910000",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "0.550000",
    "DCGM_FI_DEV_FB_USED": "101376",
    "DCGM_FI_DEV_FB_FREE": "41984",
    "DCGM_FI_DEV_FB_RESERVED": "1024",
    "DCGM_FI_DEV_SM_CLOCK": "1755",
    "DCGM_FI_DEV_MAX_SM_CLOCK": "1980",
    "DCGM_FI_DEV_GPU_TEMP": "61",
    "DCGM_FI_DEV_MEMORY_TEMP": "88",
    "DCGM_FI_DEV_POWER_USAGE": "640.000000",
    "DCGM_FI_DEV_ENFORCED_POWER_LIMIT": "700.000000",
    "DCGM_FI_DEV_XID_ERRORS": "0",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "7",
    "DCGM_FI_DEV_PCIE_LINK_GEN": "5",
    "DCGM_FI_DEV_PCIE_LINK_WIDTH": "16",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": "0",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "0",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "0",
    "DCGM_FI_DEV_ROW_REMAP_PENDING": "0",
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": "0",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": "0",
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": "0",
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": "0",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "0",
    "DCGM_FI_DEV_POWER_VIOLATION": "2000000000",
    "DCGM_FI_DEV_THERMAL_VIOLATION": "0",
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": "0",
    "DCGM_FI_DEV_ENC_UTIL": "0",
}


def dcgm(labels: str = LABELS_NOW, gpus: int = 2, **other: str) -> str:
    """Print a page of dcgm-exporter; readings that are named are other ones, "" leaves them out."""
    lines = []
    for name, value in {**DCGM, **other}.items():
        lines += [f"# HELP {name} as the exporter has it", f"# TYPE {name} gauge"]
        lines += [f"{name}{{{labels.format(i=i)}}} {value}" for i in range(gpus) if value]
    return "\n".join(lines) + "\n"


def node(seconds: float, boot: float = 1.7e9) -> str:
    """Print a page of node_exporter after so many seconds of a node's life."""
    cpu = "".join(
        f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}} {seconds * share}\n'
        for cpu in range(2)
        for mode, share in (("idle", 0.5), ("user", 0.3), ("system", 0.1), ("iowait", 0.1))
    )
    return f"""# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 3.5
{cpu}node_memory_MemAvailable_bytes 1.5e+11
node_memory_SwapTotal_bytes 8e+09
node_memory_SwapFree_bytes 6e+09
node_vmstat_oom_kill 2
node_netstat_Tcp_RetransSegs 40
node_pressure_io_waiting_seconds_total {seconds * 0.25}
node_disk_io_time_seconds_total{{device="nvme0n1"}} {seconds * 0.4}
node_disk_read_bytes_total{{device="nvme0n1"}} {seconds * 1000}
node_disk_read_time_seconds_total{{device="nvme0n1"}} {seconds * 0.2}
node_disk_write_time_seconds_total{{device="nvme0n1"}} 0
node_disk_reads_completed_total{{device="nvme0n1"}} {seconds * 100}
node_disk_writes_completed_total{{device="nvme0n1"}} 0
node_network_receive_errs_total{{device="eth0"}} 3
node_network_transmit_errs_total{{device="eth0"}} 1
node_network_receive_errs_total{{device="lo"}} 9
node_network_speed_bytes{{device="eth0"}} 1.25e+10
node_network_up{{device="eth0"}} 1
node_infiniband_link_downed_total{{device="mlx5_0",port="1"}} 1
node_infiniband_state_id{{device="mlx5_0",port="1"}} 4
node_infiniband_rate_bytes_per_second{{device="mlx5_0",port="1"}} 5e+10
node_infiniband_port_data_received_bytes_total{{device="mlx5_0",port="1"}} {seconds * 4000}
node_filesystem_avail_bytes{{device="/dev/sda1",fstype="ext4",mountpoint="/"}} 2.5e+10
node_filesystem_size_bytes{{device="/dev/sda1",fstype="ext4",mountpoint="/"}} 1e+11
node_filesystem_readonly{{device="/dev/sda1",fstype="ext4",mountpoint="/"}} 0
node_filesystem_avail_bytes{{device="tmpfs",fstype="tmpfs",mountpoint="/run"}} 1
node_timex_sync_status 1
node_timex_offset_seconds 0.002
node_boot_time_seconds {boot}
go_goroutines 8
"""
