"""The command line of the real training: `python -m streams.demo_real.training --help`."""

import argparse
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

BATCH_ROWS = 256


def main(arguments: Sequence[str] | None = None) -> None:
    """Train until all steps are done, or SIGTERM or SIGINT comes."""
    parser = argparse.ArgumentParser(prog="python -m streams.demo_real.training", description=__doc__)
    parser.add_argument("--data", required=True, help="address of the object store")
    parser.add_argument("--cache", type=Path, required=True, help="folder of the copies on this node")
    parser.add_argument("--hook", type=Path, required=True, help="folder the hook writes to")
    parser.add_argument("--job", required=True, help="name of the run")
    parser.add_argument("--attempt", type=int, default=1, help="start number of the run")
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder of the checkpoints")
    parser.add_argument("--steps", type=int, default=0, help="how many; 0 goes on until it is told to stop")
    parser.add_argument("--every", type=int, default=100, help="steps from one checkpoint to the next")
    parser.add_argument("--batch-rows", type=int, default=BATCH_ROWS, help="rows of a batch")
    parser.add_argument("--hidden", type=int, default=1152, help="width of the hidden layers")
    parser.add_argument("--rate", type=float, default=0.01, help="learning rate")
    options = parser.parse_args(arguments)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    # numpy reads these when it is loaded, so nothing that needs it may be imported before.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    from streams.demo_real.loop import Plan, Training

    Training(Plan(**vars(options)), stop).run()


if __name__ == "__main__":
    main()
