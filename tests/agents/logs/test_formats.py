"""Every sample line says what it says, however its bytes are cut; what cannot be read is counted; nothing crashes."""

import gzip
import json
import math
import os
import time
from collections.abc import Callable
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.codec import decode, encode
from schemas.telemetry import Tick
from streams.agents.finding import Finding, Happening, LoggedStep, Sample
from streams.agents.logs.catalogue import FORMATS
from streams.agents.logs.reader import LONGEST, LogReader
from streams.agents.stamp import Stamp
from tests.agents.logs.lines import LINES, behind, in_docker
from tests.agents.logs.table import Says

ARRIVED = 1_780_000_000.0
SLOWEST_SECONDS = 6.0
"""Of processor time for some 300 lines of 16,384 characters; one expression that goes astray takes as long for one."""
SHARED = Path(os.environ.get("TRAINMASTER_SHARED", Path(__file__).parents[4] / "shared")) / "cases"


def read(log: bytes, cut: int = 1 << 20) -> list[Finding]:
    """Read a whole log in pieces."""
    reader = LogReader(UTC)
    findings: list[Finding] = []
    for place in range(0, len(log), cut):
        findings += reader.feed(log[place : place + cut], ARRIVED)
    return [*findings, *reader.finish(ARRIVED)]


def said(findings: list[Finding]) -> Says:
    """Reduce findings to what the table holds."""
    plain: Says = []
    for each in findings:
        if isinstance(each, LoggedStep):
            plain.append((each.step, each.values))
        elif isinstance(each, Happening):
            plain.append((each.event, each.data))
    return plain


def check(found: Says, wanted: Says) -> None:
    """Compare what was read with a row of the table: fields that it does not name may be there too."""
    assert [name for name, _ in found] == [name for name, _ in wanted]
    for (_, fields), (_, expected) in zip(found, wanted, strict=True):
        for name, value in expected.items():
            assert same(fields.get(name), value), f"{name}: {fields.get(name)} is not {value}"


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal as a log rounds them; NaN is NaN."""
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or one == pytest.approx(other)
    return bool(one == other)


@pytest.mark.parametrize("name", LINES)
def test_every_line_says_what_it_says(name: str) -> None:
    """A line of the table becomes its records, whole and cut into single bytes."""
    text, wanted = LINES[name]
    check(said(read(text.encode())), wanted)
    check(said(read(text.encode(), cut=1)), wanted)


STRETCHES = {
    "megatron": " iteration {n}/ 500 | consumed samples: {n} | lm loss: {loss} | global batch size: 8 |",
    "torchtitan": "[titan] 2026-03-11 08:14:09,436 - root - INFO - step: {n}  loss: {loss}  memory: 51.20GiB(53.90%)  "
    "tps: 6,310  tflops: 365.10  mfu: 36.91%",
    "nanogpt": "iter {n}: loss {loss}, time 13.70ms, mfu 26.87%",
    "hugging face": "{{'loss': {loss}, 'grad_norm': 36.65, 'epoch': 0.{n}}}",
}


ODD_LOSSES = ["2.5", "nan", "1.2.3", "'2.5'", "2,5", "inf", "", "1e-3", "-1", "2.5 NVRM: x", "٣", "2٣", "2.", ".5",
              "02", "2", "1e400", "1e-99", "-0.0", "1E5", "12345678901234567890", "0.123456789012345678901234567890",
              "true", "null", "2.5, 'train_runtime': 7.0", "2.5, 'loss': 3.5", "2.5, 'grad_norm': 'x'",
              "2.5}"]  # fmt: skip


@pytest.mark.parametrize("name", STRETCHES)
@pytest.mark.parametrize("odd", ODD_LOSSES)
def test_a_stretch_says_what_its_lines_say(name: str, odd: str) -> None:
    """Lines of one kind that are read at one go say what they say when each arrives alone, odd ones among them too."""
    losses = ["2.25", "2.125", odd, odd, "2.0", "1.5"]
    lines = [(STRETCHES[name].format(n=n, loss=loss) + "\n").encode() for n, loss in enumerate(losses, 7)]
    alone = LogReader(UTC)
    found = [finding for line in lines for finding in alone.feed(line, ARRIVED)]
    whole = LogReader(UTC)
    assert repr(whole.feed(b"".join(lines), ARRIVED)) == repr(found)
    assert (whole.read, whole.unread, whole.passed_over) == (alone.read, alone.unread, alone.passed_over)
    assert len(found) >= 4


PREFIXES = ("[default7]:", "[rank0]:", "retraining/0 [default0]:", "(task, pid=6678) ", "0: ", "trainer-1 | ",
            "2026-03-04T10:00:00.123456789Z stdout F ", "Mar  4 10:00:00 n05 trainer[77]: ")  # fmt: skip
ONE_LINERS = [name for name, (text, _) in LINES.items() if "\n" not in text and "\r" not in text]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_change_nothing(prefix: str) -> None:
    """What a launcher or collector prints before a line is passed over; a rank in it may become the line's."""
    for name in ONE_LINERS:
        text, wanted = LINES[name]
        check(said(read(f"{prefix}{text}\n".encode())), wanted)


COLLECTED: dict[str, Callable[[str], str]] = {
    "docker": in_docker,
    "containerd": partial(behind, "2026-03-04T10:00:00.123456789Z stdout F "),
    "journald": partial(behind, "Mar 04 10:00:00 n05 trainer[77]: "),
}
WRAPPED = "megatron, wrapped in the middle of a number"


@pytest.mark.parametrize("collector", COLLECTED)
def test_collectors_change_nothing(collector: str) -> None:
    """Records of several lines too say what they say when every line has a collector's prefix, or is an object."""
    for name, (text, wanted) in LINES.items():
        if name != WRAPPED and "\r" not in text:
            check(said(read(COLLECTED[collector](text).encode())), wanted)
    ((_, values),) = said(read(COLLECTED[collector](LINES[WRAPPED][0]).encode()))
    assert "step_seconds" not in values, "half a number behind a prefix is none"


def test_times_are_read_where_they_are_printed() -> None:
    """Stamps with and without zone and year become Unix seconds; lines without one leave it to the reader."""
    lines = {
        "[2026-01-12 07:40:11] iteration        9/     100 | consumed samples: 1 | lm loss: 1 |": 1768203611.0,
        "2026-05-01T00:00:00Z stdout F [titan] 2026-05-01 00:00:01,500 - step: 1  loss: 1  memory: 1GiB(1%)  tps: 2":
            1777593601.5,
        "2026-01-12T07:40:11-0400 n05 kernel: NVRM: Xid (PCI:0000:b9:00): 71, x": 1768218011.0,
        "[Mon Jan 12 07:40:11 2026] NVRM: Xid (PCI:0000:b9:00): 71, x": 1768203611.0,
        "Dec  6 10:00:00 n05 kernel: [1.5] NVRM: Xid (PCI:0000:b9:00): 71, x": 1765015200.0,
        "NVRM: Xid (PCI:0000:b9:00): 71, x": None,
    }  # fmt: skip
    for line, wanted in lines.items():
        (finding,) = read(line.encode())
        assert isinstance(finding, LoggedStep | Happening)
        assert finding.time == wanted, line
    (booted,) = LogReader(UTC, booted=1000.0).feed(b"[ 1843.308145] NVRM: Xid (PCI:0000:b9:00): 71, x\n", ARRIVED)
    assert isinstance(booted, Happening)
    assert booted.time == pytest.approx(2843.308145)


def test_steps_between_two_lines_are_counted() -> None:
    """A line every ten steps says so, and that its values are means; the first line, and a restart, say nothing."""
    line = " iteration {step}/ 500 | consumed samples: 1 | elapsed time per iteration (ms): 10.0 | lm loss: 1.0 |\n"
    steps = read("".join(line.format(step=step) for step in (10, 20, 30, 10)).encode())
    assert [(each.every, each.mean) for each in steps if isinstance(each, LoggedStep)] == [
        (1, False), (10, True), (10, True), (1, False),
    ]  # fmt: skip


def test_what_looks_known_and_cannot_be_read_is_told() -> None:
    """A line with a format's needle that no format reads is counted, with the line; prose is only passed over."""
    reader = LogReader(UTC)
    assert reader.feed(b"NVRM: Xid (garbage)\nall is well\n" * 5, ARRIVED) == []
    assert reader.unread == {"Kernel": 5}
    assert reader.samples["Kernel"] == ["NVRM: Xid (garbage)"] * 3
    assert reader.passed_over == 5


def test_collectives_of_the_inspector_are_means_by_rank() -> None:
    """Thousands of collectives become one reading per rank and look."""
    one = '{{"header":{{"rank":{r}}},"metadata":{{"dump_timestamp_us":1780000000000000}},"coll_perf":'
    one += '{{"coll":"AllReduce","coll_exec_time_us":{us},"coll_busbw_gbs":{gbs}}}}}\n'
    log = "".join(one.format(r=r, us=us, gbs=gbs) for r, us, gbs in [(0, 100, 200), (1, 500, 40), (0, 300, 100)])
    (sample,) = read(log.encode())
    assert isinstance(sample, Sample)
    assert (sample.of, sample.ranks, sample.time) == ("job", [0, 1], 1.78e9)
    assert sample.values["nccl_latency_seconds"] == pytest.approx([2e-4, 5e-4])
    assert sample.values["nccl_bus_bytes_per_second"] == pytest.approx([150e9, 40e9])


FRAGMENTS = st.sampled_from(sorted({part for text, _ in LINES.values() for part in text.split(" ")}))
TEXTS = st.sampled_from([text for text, _ in LINES.values()])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a log of known lines, pieces of them in any order, cut and glued, and bytes that mean nothing."""
    pieces: list[bytes] = []
    for _ in range(draw(st.integers(1, 8))):
        line = draw(TEXTS).encode()
        begin, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
        mixed = " ".join(draw(st.lists(FRAGMENTS, max_size=12))).encode()
        pieces.append(draw(st.sampled_from([line, line[begin:end], mixed, draw(st.binary(max_size=40))])))
        pieces.append(draw(st.sampled_from([b"\n", b"\r", b"", b" "])))
    return b"".join(pieces)


MEGATRON = (
    b" iteration %d/ 90 | consumed samples: %d | consumed tokens: %s | global batch size: 64 | lm loss: 1.0E+0 |\n"
)


@settings(deadline=None)
@given(damaged(), st.integers(1, 300))
@example(MEGATRON % (1, 64, b"4096") + MEGATRON % (2, 128, b"8192") + MEGATRON % (3, 192, b"nan"), 999)
@example(MEGATRON % (1, 64, b"4096") + MEGATRON % (2, 128, b"8192") + MEGATRON % (3, 192, b"inf"), 999)
@example(b"iteration 99999999999999999999999/ 1 | consumed samples: 1e999 | lm loss: 1e999 |\n", 5)
@example(
    b" iteration 2/ 9 | consumed samples: 64 | consumed tokens: nan | global batch size: 64 | lm loss: 1.0 |\n", 999
)
@example(
    b" iteration 2/ 9 | consumed samples: 64 | consumed tokens: 1e999 | global batch size: 64 | lm loss: 1 |\n", 999
)
@example(
    b"Train Epoch: 1 [1/2 (20%)] Data (t): 0.2 Batch (t): nan, 512.00/s, 64.0/s/gpu LR: 0.0004 Loss: 5.5 (5.2)\n", 999
)
@example(
    b"Train Epoch: 1 [1/2 (20%)] Data (t): 0.2 Batch (t): 1e999, 512.0/s, 64.0/s/gpu LR: 0.0004 Loss: 5.5 (5)\n", 999
)
@example(b"{'loss': 1.0, 'epoch': 1e999}\n", 7)
@example(b"x" * (LONGEST + 7), 999)
@example(
    b"saving checkpoint at iteration 7 to /a\n  successfully saved checkpoint at iteration 7 to /a\n"
    b"time (ms) | save-checkpoint: 47120.11.2\n",
    40,
)
def test_nothing_that_is_printed_can_crash_it(log: bytes, cut: int) -> None:
    """Whatever the bytes and however they are cut, reading ends, and every record can be written and read again."""
    findings = read(log, cut)
    stamp = Stamp("n", "c", 1.0, 1)
    for finding in findings:
        record = decode(encode(stamp.record("j", 1, ARRIVED, finding)))
        assert not isinstance(record, Tick)


@pytest.mark.parametrize("cut", [1 << 20, 1000])
def test_a_line_without_end_is_cut_off(cut: int) -> None:
    """Of a line that is longer than any message the beginning counts, however it arrives, and its rest is no line."""
    beyond, first = b"x" * (6 * LONGEST) + b" RuntimeError: CUDA error\n", b"iter 7: loss 2.2210, time 13.80ms "
    steps = [
        finding for finding in read(first + beyond + beyond + first + b"\n", cut) if isinstance(finding, LoggedStep)
    ]
    assert [step.step for step in steps] == [7, 7]
    assert len(read(first + beyond + beyond + first + b"\n", cut)) == 2


@pytest.mark.parametrize("filling", ["a", "_a", "a ", "aa, ", "1", ": ", "=", "Aa1."])
def test_long_lines_are_read_quickly(filling: str) -> None:
    """No line, whatever it begins with and however long, keeps the reader busy."""
    needles = {needle for make in FORMATS for needle in make().needles}
    begin = time.process_time()
    for needle in sorted(needles):
        line = needle + filling * (LONGEST // len(filling))
        read(f"{line}\n{line} {needle}\n".encode())
    assert time.process_time() - begin < SLOWEST_SECONDS


@pytest.mark.recorded
def test_recorded_logs_are_read_in_full() -> None:
    """Of recorded logs every record is found, and nothing else that has a step."""
    logs = sorted(SHARED.glob("*.log.gz"))
    if not logs:
        pytest.skip(f"NOT TESTED on recorded logs: {SHARED} is missing (set TRAINMASTER_SHARED)")
    for log in logs:
        parsed = gzip.decompress(log.with_name(log.name.replace(".log.gz", ".parsed.jsonl.gz")).read_bytes())
        wanted = [json.loads(line) for line in parsed.splitlines()]
        found = read(gzip.decompress(log.read_bytes()))
        steps = [(each.step, "valid_loss" in each.values) for each in found if isinstance(each, LoggedStep)]
        assert steps == [(r["step"], "valid_loss" in r["job_values"]) for r in wanted if r["kind"] == "steps"], log.name
        losses = {
            each.step: each.values["loss"] for each in found if isinstance(each, LoggedStep) and "loss" in each.values
        }
        assert losses == {r["step"]: r["job_values"]["loss"] for r in wanted if "loss" in r.get("job_values", {})}
        events = sorted(each.event for each in found if isinstance(each, Happening))
        missing = [r["event"] for r in wanted if r["kind"] == "event" and r["event"] not in events]
        assert missing == []
