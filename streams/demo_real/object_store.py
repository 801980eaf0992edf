"""An object store on loopback: gives out shards, and can be made slow and unwilling, for real, while it runs.

GET  /shard-00000.bin     the file or, with a Range, a part of it
GET  /control             the present limits
POST /control             {"bytes_per_second": 2000000, "error_share": 0.2}; null is no limit
"""

import argparse
import random
import re
import signal
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from streams.agents.whole_file import write_whole
from streams.clock import monotonic_seconds

_PIECE_BYTES = 1 << 14
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")
_MAX_CONTROL_BYTES = 1 << 12


class Limits(Struct, frozen=True, kw_only=True):
    """How slow and how unwilling the store is.

    Attributes:
        bytes_per_second: over all readers; None is as fast as it can.
        error_share: share of requests answered with 503.
    """

    bytes_per_second: Annotated[float, Meta(gt=0)] | None = None
    error_share: Annotated[float, Meta(ge=0, le=1)] = 0.0


class Throttle:
    """Holds all readers together to a rate, and refuses a share of them.

    Args:
        limits: what to begin with.
        seed: the same seed refuses the same requests.
    """

    def __init__(self, limits: Limits, seed: int = 11) -> None:
        self.limits = limits
        self._chance = random.Random(seed)  # noqa: S311 - a share of failures, not a secret
        self._lock = threading.Lock()
        self._free_at = 0.0

    def refuses(self) -> bool:
        """Decide whether a request fails."""
        with self._lock:
            return self._chance.random() < self.limits.error_share

    def seconds_to_wait(self, size: int) -> float:
        """Book bytes; give how long their reader has to wait."""
        rate = self.limits.bytes_per_second
        if rate is None:
            return 0.0
        with self._lock:
            now = monotonic_seconds()
            self._free_at = max(now, self._free_at) + size / rate
            return self._free_at - now


class ObjectStore(ThreadingHTTPServer):
    """The server.

    Args:
        root: folder of the files.
        port: 0 takes any.
    """

    daemon_threads = True

    def __init__(self, root: Path, port: int, throttle: Throttle) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.root, self.throttle = root, throttle
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Let go of a reader that went away in the middle of an answer; say anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a small answer waits 40 ms for the acknowledgement of its head
    server: ObjectStore

    def do_GET(self) -> None:
        if self.path == "/control":
            self._answer(200, msgspec.json.encode(self.server.throttle.limits))
            return
        path = self.server.root / Path(self.path).name
        if not path.is_file():
            self._answer(404, b"")
        elif self.server.throttle.refuses():
            self._answer(503, b"slow down")
        else:
            self._give(path)

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        if self.path != "/control" or size > _MAX_CONTROL_BYTES:
            self.close_connection = True
            self._answer(404, b"")
            return
        try:
            self.server.throttle.limits = msgspec.json.decode(self.rfile.read(size), type=Limits)
        except msgspec.DecodeError as fault:
            self._answer(400, str(fault).encode())
        else:
            self._answer(200, msgspec.json.encode(self.server.throttle.limits))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name the library gives it
        """Say nothing of every request."""

    def _give(self, path: Path) -> None:
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        whole = path.stat().st_size
        begin, end = (int(asked[1]), min(int(asked[2]) + 1, whole)) if asked else (0, whole)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(max(0, end - begin)))
        self.end_headers()
        with path.open("rb") as file:
            file.seek(begin)
            for offset in range(begin, end, _PIECE_BYTES):
                piece = file.read(min(_PIECE_BYTES, end - offset))
                if self.server.stopping.wait(self.server.throttle.seconds_to_wait(len(piece))):
                    self.close_connection = True
                    return
                self.wfile.write(piece)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m streams.demo_real.object_store", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder of the files")
    parser.add_argument("--port", type=int, default=0, help="0 takes any")
    parser.add_argument("--announce", type=Path, help="file to write the address to")
    options = parser.parse_args()
    with ObjectStore(options.root, options.port, Throttle(Limits())) as store:

        def stop(*_: object) -> None:
            store.stopping.set()
            threading.Thread(target=store.shutdown).start()  # it waits for the loop this signal interrupted

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        if options.announce:
            write_whole(options.announce, store.url.encode())
        store.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    main()
