"""Exporters' pages give the same signals in the same units as our own agents; what they say by mistake is left out."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, Sample
from streams.agents.gpu import Gpus
from streams.agents.host import Host
from streams.agents.network import Network
from streams.agents.scrape import Scrape
from streams.agents.series.aliases import ALIASES
from streams.agents.series.reader import NodeFinding, SeriesReader, is_wanted
from streams.agents.series.rounds import PATIENCE_SECONDS, Rounds
from streams.agents.series.series import Series, on_page
from tests.agents import exporter_pages as pages
from tests.agents.nvml_standin import Standin
from tests.agents.test_gpu import look_twice, row


def read(reader: SeriesReader, page: str, now: float) -> list[NodeFinding]:
    """Read a page."""
    return reader.read(on_page(page, is_wanted), now)


def of(found: Sequence[NodeFinding], kind: str, name: str = "") -> dict[str, Reading]:
    """Give the readings of one thing."""
    for each in found:
        sample = each.finding
        if isinstance(sample, Sample) and sample.of == kind and (name in sample.ids or not sample.ids):
            place = sample.ids.index(name) if sample.ids else 0
            return {signal: values[place] for signal, values in sample.values.items() if values[place] is not None}
    raise AssertionError(f"no {kind} {name}")


def happenings(found: Sequence[NodeFinding]) -> list[Happening]:
    """Give what happened."""
    return [each.finding for each in found if isinstance(each.finding, Happening)]


@pytest.mark.parametrize("labels", [pages.LABELS_NOW, pages.LABELS_BEFORE])
def test_dcgm_exporter_says_what_nvml_says(labels: str, standin: Standin) -> None:
    """The page of a GPU, with new and old labels, has the signals and units of the GPU agent."""
    ours = row(look_twice(Gpus()), "GPU-1")
    found = read(SeriesReader(), pages.dcgm(labels), 100.0)
    assert {each.node for each in found} == {"n05"}
    theirs = of(found, "gpu", "GPU-1")
    not_ours = {"xid_last"}
    not_theirs = {"temperature_margin_c", "nvlink_lanes_up", "clocks_held_hw_thermal_seconds_total"}
    assert set(theirs) - not_ours == set(ours) - not_theirs
    for name in set(ours) & set(theirs):
        assert theirs[name] == pytest.approx(ours[name]), name


def test_node_exporter_says_what_the_node_agent_says(tmp_path: Path) -> None:
    """Two looks at a node's page give shares, rates and space under the names of our own sources."""
    reader = SeriesReader()
    read(reader, pages.node(1000), 100.0)
    found = read(reader, pages.node(1010), 110.0)
    node = of(found, "node")
    assert node == pytest.approx(
        {
            "load": 3.5,
            "cpus": 2.0,
            "cpu_util": 0.4,
            "iowait": 0.1,
            "memory_available_bytes": 1.5e11,
            "swap_used_bytes": 2e9,
            "oom_kills_total": 2.0,
            "retransmits_total": 40.0,
            "pressure_io": 0.25,
            "disk_util": 0.4,
            "disk_read_bytes_per_second": 1000.0,
            "disk_latency_seconds": 0.002,
            "clock_synchronised": 1.0,
            "clock_offset_seconds": 0.002,
        }
    )
    (host,) = Host()()
    known = {
        *host.values,
        "cpu_util",
        "iowait",
        "pressure_io",
        "clock_synchronised",
        "clock_offset_seconds",
        "disk_latency_seconds",
    }
    assert set(node) <= known
    assert of(found, "mount", "/") == {"space_free_bytes": 2.5e10, "space_used_share": 0.75, "read_only": 0.0}
    assert of(found, "nic", "eth0") == {"nic_errors_total": 4.0, "link_bytes_per_second": 1.25e10, "link_up": 1.0}
    assert of(found, "nic", "mlx5_0:1") == {
        "link_downs_total": 1.0,
        "link_up": 1.0,
        "link_bytes_per_second": 5e10,
        "network_receive_bytes_per_second": 4000.0,
    }
    (here,) = Network(tmp_path)() or (Sample(of="nic"),)
    assert isinstance(here, Sample)


def test_the_table_names_known_signals_alone() -> None:
    """Every alias leads to a signal of the table of signals."""
    from schemas.signals import signal_named

    assert [alias.signal for alias in ALIASES if signal_named(alias.signal).part == "unknown"] == []


def test_a_sticky_code_is_told_when_it_changes() -> None:
    """The last Xid sticks in its gauge: an event comes at the change alone, and none for what was there at first."""
    reader = SeriesReader()
    stuck = pages.dcgm(DCGM_FI_DEV_XID_ERRORS="45")
    assert happenings(read(reader, stuck, 0.0)) == []
    assert happenings(read(reader, stuck, 15.0)) == []
    new = happenings(read(reader, pages.dcgm(DCGM_FI_DEV_XID_ERRORS="79", gpus=1), 30.0))
    assert [(each.subject, each.data) for each in new] == [("GPU-0", {"code": 79})]


def test_blanks_and_fields_that_another_profiler_holds_are_no_readings() -> None:
    """Very large sentinels are absent; profiling fields of 0 on a busy GPU too; absent series are not 0."""
    blank = pages.dcgm(
        DCGM_FI_DEV_MEMORY_TEMP="140737488355328", DCGM_FI_PROF_SM_ACTIVE="0.0", DCGM_FI_DEV_ECC_DBE_VOL_TOTAL=""
    )
    readings = of(read(SeriesReader(), blank, 0.0), "gpu", "GPU-0")
    assert not {"memory_temperature_c", "sm_active", "tensor_active", "ecc_dbe_volatile_total"} & set(readings)
    assert readings["gpu_util"] == 0.97


def test_why_clocks_are_low_is_read_in_both_spellings() -> None:
    """A mask of reasons, and counts of events in a window, become the flags of the GPU agent."""
    mask = of(read(SeriesReader(), pages.dcgm(DCGM_FI_DEV_CLOCK_THROTTLE_REASONS="64"), 0.0), "gpu", "GPU-0")
    assert [name for name, value in mask.items() if name.startswith("throttle_") and value] == ["throttle_hw_thermal"]
    event = 'DCGM_EXP_CLOCK_EVENTS_COUNT{UUID="GPU-0",Hostname="n05",clock_event="hw_power_brake"} 3\n'
    assert of(read(SeriesReader(), event, 0.0), "gpu", "GPU-0") == {"throttle_hw_power_brake": 1.0}


def test_a_counter_that_began_anew_is_no_rate_and_a_reboot_is_told() -> None:
    """After a restart the first look has no rates, rather than negative ones; the new boot time is an event."""
    reader = SeriesReader()
    read(reader, pages.node(1000), 100.0)
    found = read(reader, pages.node(5, boot=1.8e9), 110.0)
    assert "cpu_util" not in of(found, "node")
    assert "network_receive_bytes_per_second" not in of(found, "nic", "mlx5_0:1")
    (boot,) = happenings(found)
    assert (boot.event, boot.time) == ("node.boot", 1.8e9)


def test_mig_instances_stand_apart() -> None:
    """Series of a MIG instance are not those of its GPU."""
    page = 'DCGM_FI_DEV_FB_USED{UUID="GPU-0",GPU_I_ID="2",GPU_I_PROFILE="1g.10gb",Hostname="n05"} 10\n'
    assert of(read(SeriesReader(), page, 0.0), "gpu", "GPU-0/2")["hbm_used_bytes"] == 10 * 2**20


def test_the_parts_of_a_scrape_are_read_together() -> None:
    """Series of one time may come in several deliveries; they are read when the last had time to arrive."""
    rounds = Rounds()
    rounds.add([Series("a", {}, 1.0, 50.0)], 51.0)
    rounds.add([Series("b", {}, 2.0, 50.0), Series("c", {}, 3.0, 65.0)], 53.0)
    assert rounds.due(51.0 + PATIENCE_SECONDS - 0.1) == []
    assert [[one.name for one in group] for group in rounds.due(51.0 + PATIENCE_SECONDS)] == [["a", "b"]]
    assert [[one.name for one in group] for group in rounds.due(53.0 + PATIENCE_SECONDS)] == [["c"]]


@pytest.fixture
def exporter() -> Iterator[HTTPServer]:
    """An exporter on loopback; its page is `page`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Give the page."""
            self.send_response(200)
            self.end_headers()
            self.wfile.write(getattr(self.server, "page", "").encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_exporter_is_scraped_as_it_is(exporter: HTTPServer) -> None:
    """The agent reads a real page over HTTP; an exporter that is away, or no exporter, is a gap with its address."""
    url = f"http://127.0.0.1:{exporter.server_port}/metrics"
    exporter.page = pages.dcgm() + pages.node(10)  # type: ignore[attr-defined]
    source = Scrape(url, every=0.0)
    findings: Sequence[Finding] = source()
    assert {each.of for each in findings if isinstance(each, Sample)} == {"gpu", "node", "nic", "mount"}
    exporter.page = "node_load1 nonsense\n"  # type: ignore[attr-defined]
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        source()
    with pytest.raises(OSError, match=r"127\.0\.0\.1:1"):
        Scrape("http://127.0.0.1:1/metrics", every=0.0)()


ODD_ANSWERS = {
    "no HTTP": b"hello\n",
    "nothing": b"",
    "an endless header": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
    "chunks that are none": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a page that was cut off": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nnode_load1 3\n",
    "another scheme": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
    "no right": b"HTTP/1.1 401 Unauthorized\r\n\r\n",
}


@pytest.mark.parametrize("case", ODD_ANSWERS)
def test_whatever_answers_at_an_exporters_port_is_a_gap(case: str) -> None:
    """An answer that is none of HTTP, or not whole, is told as a gap with the address and ends nothing."""
    with answering(ODD_ANSWERS[case]) as port, pytest.raises(OSError, match=rf"Remote|127\.0\.0\.1:{port}"):
        Scrape(f"http://127.0.0.1:{port}/metrics", every=0.0)()


def test_half_a_line_at_the_end_of_a_page_is_no_number() -> None:
    """A page without an end mark of its own that stops within a number loses that line and no other."""
    page = b"HTTP/1.0 200 OK\r\n\r\nnode_load1 3\nnode_memory_MemAvailable_bytes 12"
    with answering(page) as port:
        (found,) = Scrape(f"http://127.0.0.1:{port}/metrics", every=0.0)()
    assert isinstance(found, Sample)
    assert found.values["load"] == [3.0]
    assert "memory_available_bytes" not in found.values


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """Give the port of somebody who says the same to whoever comes, and goes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as caller:
                caller.recv(1 << 16)
                caller.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5.0)


def test_between_two_questions_there_is_nothing(exporter: HTTPServer) -> None:
    """An exporter is asked at its own pace, however often the agent looks."""
    exporter.page = pages.node(10)  # type: ignore[attr-defined]
    source = Scrape(f"http://127.0.0.1:{exporter.server_port}/metrics", every=3600.0)
    assert source()
    assert source() == []


def test_readings_that_nothing_can_hold_are_left_out() -> None:
    """An endless number is no Xid, and a file system without a place is no mount."""
    reader = SeriesReader()
    for value in (0.0, float("inf")):
        gpu = Series("DCGM_FI_DEV_XID_ERRORS", {"UUID": "GPU-1", "Hostname": "n05"}, value)
        mount = Series("node_filesystem_avail_bytes", {"mountpoint": "", "fstype": "nfs4"}, 1.0)
        found = reader.read([gpu, mount], 100.0)
        assert happenings(found) == []
        assert all(isinstance(each.finding, Sample) and each.finding.of == "gpu" for each in found)
