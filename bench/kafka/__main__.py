"""Run the benchmarks on Kafka: `python -m bench.kafka [NAME ...]`."""

import sys

from bench.kafka import latency, recovery, throughput
from bench.table import machine, show

ALL = {"throughput": throughput.run, "latency": latency.run, "recovery": recovery.run}

if __name__ == "__main__":
    print(machine())
    for name in sys.argv[1:] or ALL:
        show(ALL[name]())
