"""One benchmark as a command: `python -m bench.NAME [--data DIR]`."""

import argparse
from collections.abc import Callable
from pathlib import Path

from bench.table import Table, machine, show


def main_on(*runs: Callable[[Path], Table]) -> None:
    """Run benchmarks on recorded data; print their tables and write their JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="folder with recorded data")
    options = parser.parse_args()
    print(machine())
    for run in runs:
        show(run(options.data))


def main_alone(*runs: Callable[[], Table]) -> None:
    """Run benchmarks that need no data; an argument `--data` is taken and left aside."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, help="not needed")
    parser.parse_args()
    print(machine())
    for run in runs:
        show(run())
