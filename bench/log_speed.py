"""How fast logs are read, in megabytes a second on one core: one format each, and what no format knows."""

import time
from datetime import UTC

from bench.table import Table
from streams.agents.logs.reader import LogReader

TOTAL_BYTES = 50_000_000
_CHUNK = 1 << 20
LINES = {
    "Megatron-LM": " iteration {n:8d}/  500000 | consumed samples: {n:12d} | consumed tokens: {m:13d} | elapsed time per "
    "iteration (s): 105.{n} | learning rate: 5.968E-05 | global batch size:  2048 | lm loss: 2.{n}E+00 | grad norm: "
    "0.{n} | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 | samples per second: "
    "19.447 | TFLOPs: 148.90 |",
    "torchtitan": "[rank0]:[titan] 2026-03-11 08:14:09,436 - root - INFO - step: {n}  loss:  6.{n}  grad_norm:  0.{n}  "
    "memory: 51.20GiB(53.90%)  tps: 6,{n}  tflops: 365.10  mfu: 36.91%",
    "nanoGPT": "iter {n}: loss 2.{n}, time 13.{n}ms, mfu 26.97%",
    "Hugging Face": "{{'loss': 2.{n}, 'grad_norm': 0.{n}, 'learning_rate': 4.58e-05, 'epoch': 0.{n}}}",
    "nobody's": "2026-03-11 08:14:09,436 INFO my_project.data.loader worker {n} opened shard-{m}.tar of the bucket after "
    "0.31 s and will read 1024 samples of it",
    "a usual mixture": "\n".join(
        [
            "[2026-03-11 08:14:09,436] [INFO] [config.py:1008:print] activation checkpointing of block {n}: partition {m}",
            "2026-03-11 08:14:09,436 INFO my_project.data.loader worker {n} opened shard-{m}.tar after 0.31 s",
            " iteration {n:8d}/  500000 | consumed samples: {n:12d} | elapsed time per iteration (ms): 2214{n}.3 | learning "
            "rate: 9.847E-05 | global batch size:  1024 | lm loss: 2.{n}E+00 | loss scale: 32768.0 | grad norm: 0.{n} | "
            "num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 |",
            "n01:3468:3905 [4] NCCL INFO Channel {n}/0 : 1[1] -> 2[2] via P2P/IPC/read {m}",
        ]
    ),
}


def megabytes_a_second(line: str) -> tuple[float, int]:
    """Read 50 MB made of one line with other numbers; give the speed and the number of records."""
    count = TOTAL_BYTES // (len(line) + 1)
    log = "".join(line.format(n=n, m=n * 2048) + "\n" for n in range(count)).encode()
    reader, records = LogReader(UTC), 0
    begin = time.process_time()
    for place in range(0, len(log), _CHUNK):
        records += len(reader.feed(log[place : place + _CHUNK], 1.7e9))
    return len(log) / (time.process_time() - begin) / 1e6, records


def run() -> Table:
    """Measure all."""
    rows = tuple((name, *megabytes_a_second(line)) for name, line in LINES.items())
    what = "reading 50 MB of log on one core; processor time"
    return Table("log_speed", what, ("log", "MB/s", "records"), rows)
