"""The parts of the real demo: dataset, network, object store, its readers and the loader."""

import json
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from streams.demo_real.dataset import Dataset, copy_dataset, make_dataset, read_index, rows_from, shard_name
from streams.demo_real.loader import Loader
from streams.demo_real.network import Network
from streams.demo_real.object_store import Limits, ObjectStore, Throttle
from streams.demo_real.storage_client import ReadFailed, StorageClient

SMALL = Dataset(shards=4, rows=256, features=31)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ObjectStore]:
    """Serve a small dataset, with a copy of it beside."""
    make_dataset(tmp_path / "origin", SMALL)
    copy_dataset(tmp_path / "origin", tmp_path / "cache")
    with ObjectStore(tmp_path / "origin", 0, Throttle(Limits())) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def client(store: ObjectStore, tmp_path: Path) -> Iterator[StorageClient]:
    """Read from that store and that copy."""
    reader = StorageClient(store.url, tmp_path / "cache")
    yield reader
    reader.disconnect()


def order(url: str, body: bytes) -> Limits:
    """Tell a store how slow to be."""
    with urllib.request.urlopen(urllib.request.Request(f"{url}/control", data=body), timeout=10) as answer:
        said = json.loads(answer.read())
    return Limits(**said)


def test_the_dataset_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    """Two makings give the same bytes, another seed gives others, and a row holds a class of the dataset."""
    make_dataset(tmp_path / "a", SMALL)
    make_dataset(tmp_path / "b", SMALL)
    make_dataset(tmp_path / "c", Dataset(shards=4, rows=256, features=31, seed=8))
    first, second, third = ((tmp_path / folder / shard_name(2)).read_bytes() for folder in "abc")
    assert first == second != third
    assert read_index((tmp_path / "a" / "index.json").read_bytes()) == SMALL
    rows = rows_from(first, SMALL)
    assert rows.shape == (256, 32)
    assert set(rows[:, -1]) <= set(range(10))


def test_gradients_are_the_slope_of_the_loss() -> None:
    """A small change of a layer's parameters along their gradient changes the loss by the gradient's square."""
    network = Network(5, 16, 3)
    rows = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    rows[:, -1] = np.arange(50) % 3
    _, gradients = network.gradients(rows)
    for parameter, gradient in zip(network.parameters, gradients, strict=True):
        square = float(np.vdot(gradient, gradient))
        move = (gradient * (0.01 / np.sqrt(square))).astype(np.float32)
        parameter += move
        above, _ = network.gradients(rows)
        parameter -= 2 * move
        below, _ = network.gradients(rows)
        parameter += move
        assert (above - below) / (2 * 0.01) == pytest.approx(np.sqrt(square), rel=0.02)


def test_the_network_learns(tmp_path: Path) -> None:
    """The loss falls well below that of guessing."""
    make_dataset(tmp_path, SMALL)
    network = Network(31, 64, 10, rate=0.05)
    rows = np.vstack([rows_from((tmp_path / shard_name(number)).read_bytes(), SMALL) for number in range(4)])
    losses = [
        network.learn(*network.gradients(rows[begin : begin + 128])).loss
        for _ in range(8)
        for begin in range(0, 1024, 128)
    ]
    assert median(losses[:5]) > 2.0
    assert median(losses[-5:]) < 1.5


def test_both_paths_give_the_same_bytes(client: StorageClient, tmp_path: Path) -> None:
    """The store and the copy on the node hold the same, in any part."""
    whole = (tmp_path / "origin" / shard_name(1)).read_bytes()
    assert client.read_whole(shard_name(1)) == whole
    assert client.read_origin(shard_name(1), 100, 1000) == whole[100:1100]
    assert client.read_cache(shard_name(1), 100, 1000) == whole[100:1100]
    look = client.look()
    assert look["cache_hit_ratio"] == pytest.approx(1 / 3)
    assert look["storage_latency_seconds"] is not None
    assert client.look()["storage_latency_seconds"] is None


def test_the_throttle_holds_readers_to_its_rate(store: ObjectStore, client: StorageClient) -> None:
    """At 200 kB/s a hundred kilobytes take half a second; without a limit they do not."""
    size = SMALL.rows * SMALL.row_bytes

    def seconds() -> float:
        begin = time.monotonic()
        for _ in range(3):
            client.read_whole(shard_name(0))
        return time.monotonic() - begin

    assert order(store.url, b'{"bytes_per_second": 200000}').bytes_per_second == 200000
    assert seconds() >= 3 * size / 200000 * 0.9
    order(store.url, b"{}")
    assert seconds() < 3 * size / 200000 * 0.5


def test_an_unwilling_store_costs_retries(store: ObjectStore, client: StorageClient) -> None:
    """A share of refusals is overcome and counted; a store that refuses all is an error."""
    order(store.url, b'{"error_share": 0.3}')
    for _ in range(30):
        client.read_origin(shard_name(0), 0, 100)
    retries = client.look()["storage_retries_total"]
    assert retries is not None
    assert 3 <= retries <= 40
    order(store.url, b'{"error_share": 1.0}')
    with pytest.raises(ReadFailed) as failed:
        client.read_origin(shard_name(0), 0, 100)
    assert failed.value.code == 503
    assert client.look()["storage_errors_total"] == 1


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"error_share": 2}', b'{"bytes_per_second": 0}', b'{"bytes_per_second": "fast"}']
)
def test_the_store_refuses_limits_that_make_no_sense(body: bytes, store: ObjectStore) -> None:
    """A wrong order is answered with 400 and changes nothing."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        order(store.url, body)
    refused.value.close()
    assert refused.value.code == 400
    assert store.throttle.limits == Limits()


def test_a_reader_that_goes_away_is_no_news(store: ObjectStore, capfd: pytest.CaptureFixture[str]) -> None:
    """A connection that is cut in the middle of an answer leaves no trace on the store's terminal."""
    order(store.url, b'{"bytes_per_second": 200000}')
    with socket.create_connection(("127.0.0.1", store.server_port)) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing cuts
        reader.sendall(f"GET /{shard_name(0)} HTTP/1.1\r\n\r\n".encode())
        assert reader.recv(12) == b"HTTP/1.1 200"
        answering = [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]
    for thread in answering:
        thread.join(30)
    assert not any(thread.is_alive() for thread in answering)
    assert capfd.readouterr().err == ""


def test_the_loader_gives_every_row_once_an_epoch(store: ObjectStore, client: StorageClient) -> None:
    """An epoch has every row once, in another order than the next; the path is asked at each shard."""
    asked: list[str] = []

    def path() -> str:
        asked.append("cache" if len(asked) % 2 else "origin")
        return asked[-1]

    with Loader(client, SMALL, 64, path, lambda _: None) as loader:
        batches = [next(loader) for _ in range(32)]
    epochs = [np.vstack([batch.rows for batch in batches if batch.epoch == epoch]) for epoch in (0, 1)]
    for epoch in epochs:
        assert len(np.unique(epoch, axis=0)) == len(epoch) == SMALL.shards * SMALL.rows
    assert not np.array_equal(epochs[0], epochs[1])
    assert [batch.cursor for batch in batches] == list(range(0, 32 * 64, 64))
    look = client.look()
    assert look["cache_hit_ratio"] == pytest.approx(0.5, abs=0.15)


def test_a_copy_that_lacks_a_shard_ends_the_loader(store: ObjectStore, client: StorageClient, tmp_path: Path) -> None:
    """The training hears of a missing file instead of waiting for ever."""
    for path in (tmp_path / "cache").glob("shard-*"):
        path.unlink()
    with Loader(client, SMALL, 64, lambda: "cache", lambda _: None) as loader, pytest.raises(FileNotFoundError):
        next(loader)
