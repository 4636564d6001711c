"""A slow link: no quicker than theory, one rate for all, nothing lost or changed."""

import http.client
import math
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress

import pytest
from forked_servers import forking

from hyperslab.network import Link, serving

forked = pytest.fixture(scope="module", autouse=True)(forking)
DATA = bytes(range(251)) * 2000


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "a.nc").write_bytes(DATA)
    with serving(folder) as server:
        yield server


def connected(port):
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30))


def get(client, start, size):
    client.request("GET", "/a.nc", headers={"Range": f"bytes={start}-{start + size - 1}"})
    assert client.getresponse().read() == DATA[start : start + size]


def took_s(client):
    began_s = time.monotonic()
    get(client, 0, 1)
    return time.monotonic() - began_s


def test_a_request_takes_no_less_than_its_round_trips(server):
    link = Link(math.inf, 0.1)
    with link.to(server.port) as port, connected(port) as client, connected(port) as late:
        assert took_s(client) > 0.98 * link.seconds(1, 1, 1)
        assert took_s(client) > 0.98 * link.seconds(1, 0, 1)
        # What was opened long ago has its handshake behind it; at most the request's own is left.
        late.connect()
        time.sleep(0.15)
        assert took_s(late) > 0.98 * link.seconds(1, 0, 1)


def test_all_connections_share_the_rate(server):
    link, size, count = Link(1e6, 0.01), 60_000, 6
    with link.to(server.port) as port, ExitStack() as stack, ThreadPoolExecutor(count) as threads:
        clients = [stack.enter_context(connected(port)) for _ in range(count)]
        for client in clients:
            get(client, 0, 1)
        began_s = time.monotonic()
        list(threads.map(get, clients, [1] * count, [size] * count))
        # It may queue 40 ms ahead, but what arrives, arrives at the rate.
        assert time.monotonic() - began_s > 0.98 * link.seconds(1, 0, size * count)


def test_the_other_direction_has_its_own_rate():
    link = Link(1e6, 0.0)
    with (
        socket.create_server(("127.0.0.1", 0)) as sink,
        link.to(sink.getsockname()[1]) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
        sink.accept()[0] as far,
    ):
        began_s = time.monotonic()
        threading.Thread(target=client.sendall, args=[DATA[:200_000]]).start()
        assert far.recv(200_000, socket.MSG_WAITALL) == DATA[:200_000]
        assert time.monotonic() - began_s > 0.98 * link.seconds(0, 0, 200_000)
        client.shutdown(socket.SHUT_WR)  # half-closed: the way back stays open
        assert far.recv(1) == b""
        far.sendall(b"thanks")
        assert client.recv(6) == b"thanks"
        far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        far.close()  # what breaks at one end breaks at the other
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""


def test_a_link_that_cannot_be_is_refused():
    for rate, delay in ((0, 0.1), (-1, 0.1), (math.nan, 0), (1, -1), (1, math.inf)):
        with pytest.raises(ValueError, match=r"bytes_per_s|round_trip_s"):
            Link(rate, delay)
