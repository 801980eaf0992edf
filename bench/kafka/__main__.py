"""Run the benchmarks on Kafka: `python -m bench.kafka [NAME ...]`."""

import sys

from bench.kafka import throughput
from bench.table import machine, show

ALL = {"throughput": throughput.run}

if __name__ == "__main__":
    print(machine())
    for name in sys.argv[1:] or ALL:
        show(ALL[name]())
