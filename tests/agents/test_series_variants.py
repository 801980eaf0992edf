"""Pages of other versions, shared GPUs, containers and doubled servers: the same signals, each counted once."""

import pytest

from streams.agents.finding import Sample
from streams.agents.series.reader import SeriesReader
from tests.agents.test_series import happenings, of, read

XID = 'DCGM_FI_DEV_XID_ERRORS{{UUID="GPU-0",Hostname="n05"{more},err_code="{code}",err_msg="as printed"}} {code}\n'


def test_a_gpu_that_containers_share_is_counted_once() -> None:
    """With one series for each container of a GPU its readings are those of one, not their sum."""
    page = "".join(
        f'DCGM_FI_DEV_GPU_UTIL{{UUID="GPU-0",Hostname="n05",pod="train-{i}"}} 97\n'
        f'DCGM_FI_DEV_FB_USED{{UUID="GPU-0",Hostname="n05",pod="train-{i}"}} 1000\n'
        f'DCGM_FI_DEV_FB_RESERVED{{UUID="GPU-0",Hostname="n05",pod="train-{i}"}} 24\n'
        for i in range(3)
    )
    gpu = of(read(SeriesReader(), page, 1.0), "gpu", "GPU-0")
    assert gpu["gpu_util"] == pytest.approx(0.97)
    assert gpu["hbm_used_bytes"] == 1024 * 2**20


def test_an_xid_of_a_gpu_with_instances_is_told_once() -> None:
    """The exporter prints a GPU's code for each instance; the event is of the GPU, and comes once."""
    reader = SeriesReader()
    pages_of = [
        "".join(XID.format(code=code, more=f',GPU_I_ID="{i}",GPU_I_PROFILE="1g.10gb"') for i in range(7))
        for code in (0, 94, 94)
    ]
    told = [
        [(e.subject, e.data["code"]) for e in happenings(read(reader, page, 1.0 + i))]
        for i, page in enumerate(pages_of)
    ]
    assert told == [[], [("GPU-0", 94)], []]


def test_collectives_of_a_rank_give_their_mean() -> None:
    """Several communicators and operations of a rank are readings of one quantity, not parts of it."""
    page = "".join(
        f'nccl_bus_bandwidth_gbs{{comm_id="{i}",collective="AllReduce",rank="3"}} {gbs}\n'
        f'nccl_collective_exec_time_microseconds{{comm_id="{i}",collective="AllReduce",rank="3"}} {us}\n'
        for i, (gbs, us) in enumerate([(100, 300), (200, 100), (300, 500)])
    )
    job = of(read(SeriesReader(), page, 1.0), "job", "rank 3")
    assert job == pytest.approx({"nccl_bus_bytes_per_second": 200e9, "nccl_latency_seconds": 3e-4})


def test_copies_of_two_servers_count_once() -> None:
    """Two servers that scrape one node and send both give the readings of one."""
    page = "".join(f'node_load1{{instance="n05:9100",prometheus_replica="p-{i}"}} 7\n' for i in range(2))
    assert of(read(SeriesReader(), page, 1.0), "node") == {"load": 7.0}


def test_devices_of_containers_and_speeds_below_nothing_are_no_readings() -> None:
    """A network device that comes and goes with a pod is no adapter, and a link that is down has no speed."""
    page = (
        'node_network_up{device="veth12ab",instance="n05"} 0\nnode_network_up{device="cali9",instance="n05"} 0\n'
        'node_network_up{device="eth0",instance="n05"} 0\n'
        'node_network_speed_bytes{device="eth0",instance="n05"} -125000\n'
        'node_network_up{device="lom1",instance="n05"} 1\n'
    )
    found = read(SeriesReader(), page, 1.0)
    assert of(found, "nic", "eth0") == {"link_up": 0.0}
    assert [each.finding.ids for each in found if isinstance(each.finding, Sample)] == [["eth0", "lom1"]]


def test_an_exporter_in_a_pod_is_not_taken_for_the_node() -> None:
    """Where the host's name is that of the exporter's pod, the label of the node counts; else the host's name."""
    page = 'DCGM_FI_DEV_GPU_TEMP{{UUID="GPU-0",Hostname="{host}",node="n05",instance="10.0.0.5:9400"}} 60\n'
    nodes = [
        read(SeriesReader(), page.format(host=host), 1.0)[0].node for host in ("dcgm-exporter-x7k2p", "n05.cluster")
    ]
    assert nodes == ["n05", "n05.cluster"]


def test_links_of_newer_parts_have_errors_too() -> None:
    """The counters of the fifth NVLink add up to the same signal as those of the older ones."""
    names = ("RX_ERRORS", "LOCAL_LINK_INTEGRITY_ERRORS", "LINK_RECOVERY_FAILED_EVENTS")
    page = "".join(f'DCGM_FI_DEV_NVLINK_COUNT_{name}{{UUID="GPU-0",Hostname="n05"}} 2\n' for name in names)
    assert of(read(SeriesReader(), page, 1.0), "gpu", "GPU-0") == {"nvlink_errors_total": 6.0}
