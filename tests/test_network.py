"""Servers on loopback, what their logs count, slow links to them, and stores that others run."""

import contextlib
import http.client
import math
import os
import shutil
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from itertools import combinations, pairwise
from pathlib import Path

import fsspec
import pytest
from forked_servers import forking
from hypothesis import given
from hypothesis import strategies as st
from made_store import KEY, SECRET, store, variables

from hyperslab.io.urls import Remote
from hyperslab.network import Endpoint, HelperError, Link, Request, Wire, serving, touched, upload

forked = pytest.fixture(scope="module", autouse=True)(forking)
DATA = bytes(range(251)) * 4000
PATH = "/in/a%20b%7C%C3%BC.nc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "in").mkdir()
    (folder / "in/a b|ü.nc").write_bytes(DATA)
    return folder


@pytest.fixture(scope="module", params=["aiohttp", "lighttpd"])
def server(folder, request):
    if request.param == "lighttpd" and shutil.which("lighttpd") is None:
        pytest.skip("needs lighttpd")
    with serving(folder, program=request.param) as server:
        yield server


def ask(server, method="GET", path=PATH, connection=None, **headers):
    with contextlib.ExitStack() as opened:
        client = connection or http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        if connection is None:
            opened.callback(client.close)
        client.request(method, path, headers=headers)
        answer = client.getresponse()
        return answer, answer.read()


def test_a_range_is_sent_and_logged(server):
    for words, start, stop in (
        ("0-0", 0, 1),
        (f"{len(DATA) - 1}-", len(DATA) - 1, len(DATA)),
        ("-5", len(DATA) - 5, len(DATA)),
        ("1000-99999999", 1000, len(DATA)),
        ("1-700000", 1, 700001),
    ):
        server.forget()
        answer, body = ask(server, Range=f"bytes={words}")
        assert (answer.status, body) == (206, DATA[start:stop])
        assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{len(DATA)}"
        (logged,) = server.requests()
        assert (logged.method, logged.path, logged.status) == ("GET", "/in/a b|ü.nc", 206)
        assert (logged.start, logged.stop, logged.body_bytes) == (start, stop, stop - start)
        assert logged.nth == 0 and logged.began_s <= logged.ended_s


def test_what_is_no_range_gives_the_whole_and_heads_are_those_of_the_file(server):
    behind, _ = ask(server, Range=f"bytes={len(DATA)}-")
    assert behind.status == 416
    if server.program != "lighttpd":  # it leaves that out, and refuses the next ones too
        assert behind.headers["Content-Range"] == f"bytes */{len(DATA)}"
        for words in ("oops", "9" * 5000 + "-", "0-1,5-6", "9-3"):
            answer, body = ask(server, Range=f"bytes={words}")
            assert (answer.status, body) == (200, DATA)
    assert ask(server)[1] == DATA
    answer, body = ask(server, "HEAD")
    assert (answer.status, body, answer.headers["Content-Length"]) == (200, b"", str(len(DATA)))
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["ETag"] == ask(server, Range="bytes=0-0")[0].headers["ETag"]
    assert answer.headers["Last-Modified"].endswith("GMT")


def test_a_connection_is_kept_and_numbered(server):
    server.forget()
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as client:
        for _ in range(3):
            ask(server, connection=client, Range="bytes=0-9")
    ask(server, Range="bytes=0-9")
    log = server.requests()
    assert [request.nth for request in log] == [0, 1, 2, 0]
    assert Wire.of(log) == Wire(4, 40, 2, 4, 2, 4)


@pytest.mark.skipif(sys.platform != "linux", reason="lists sockets as Linux has them")
def test_only_this_machine_is_served(server):
    listening = f":{server.port:04X} 00000000:0000 0A"
    lines = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    (line,) = [line for line in lines.splitlines() if listening in line]
    assert line.split()[1].startswith("0100007F:")


def test_with_a_delay_requests_at_the_same_time_are_one_stage(folder):
    # Half a second long: a machine that stands still for a while is nothing.
    with serving(folder, delay_s=0.5) as server, ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: ask(server), range(6)))
        ask(server)
        wire = Wire.of(server.requests())
    assert (wire.requests, wire.connections, wire.stages, wire.handshakes) == (7, 7, 2, 2)


def test_what_cannot_be_served_is_said_first(folder, monkeypatch):
    monkeypatch.setenv("PATH", "")
    for options, error, words in (
        ({"kind": "ftp"}, ValueError, "one of http, s3"),
        ({"program": "apache"}, ValueError, "one of aiohttp, lighttpd"),
        ({"program": "lighttpd", "delay_s": 1}, ValueError, "take aiohttp"),
        ({"program": "lighttpd"}, FileNotFoundError, "lighttpd is not installed"),
        ({"folder": "none"}, FileNotFoundError, "name the folder"),
    ):
        with pytest.raises(error, match=words), serving(**{"folder": folder, **options}):
            pass


def test_what_is_no_file_of_the_folder_is_not_there(tmp_path):
    served, data = tmp_path / "served", tmp_path / "data"
    (served / "in").mkdir(parents=True)
    data.mkdir()
    (tmp_path / "secret").write_bytes(b"not served")
    (data / "file").write_bytes(DATA)
    (served / "there").symlink_to(data / "file")
    for link in (served / "link", served / "in/link"):
        link.symlink_to(tmp_path / "secret")
    outside = ("in/../../secret", "../secret", "%2e%2e/secret", "link", "in/link")
    with serving(served, program="aiohttp", beyond=[data]) as server:
        assert ask(server, path="/there")[1] == DATA  # in a folder that is named
        for place in (*outside, "none", "in", "a%00b", "n" * 300):
            answer, body = ask(server, path=f"/{place}")
            assert answer.status == 404 and b"not served" not in body and b"Traceback" not in body
    with pytest.raises(HelperError, match="is gone"):
        server.requests()


def request(began_s, ended_s, *, connection=0, nth=1, start=0, stop=10, status=206, path="/a"):
    return Request(
        "GET", path, start, stop, status, stop - start, connection, nth, began_s, ended_s
    )


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4), st.booleans()), max_size=7))
def test_the_longest_chain_is_that_of_all_subsets(spans):
    log = [request(a, a + length, nth=1 - new) for a, length, new in spans]
    stages = turns = 0
    for size in range(len(log) + 1):
        for chain in combinations(sorted(log, key=lambda r: r.began_s), size):
            if all(a.ended_s <= b.began_s for a, b in pairwise(chain)):
                stages = max(stages, size)
                turns = max(turns, size + sum(r.nth == 0 for r in chain))
    wire = Wire.of(log)
    assert (wire.stages, wire.stages + wire.handshakes) == (stages, turns)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12))
def test_touched_bytes_are_those_of_the_bodies(spans):
    log = [request(0, 1, start=a, stop=a + size) for a, size in spans]
    log += [request(0, 1, path="/b"), request(0, 1, status=404, start=90, stop=99)]
    got = touched(log, "a")
    assert {n for a, b in got for n in range(a, b)} == {
        n for a, size in spans for n in range(a, a + size)
    }
    assert all(a < b for a, b in got)
    assert all(left[1] < right[0] for left, right in pairwise(got))


def test_over_a_link_a_new_connection_of_a_volley_begins_later_and_is_no_stage():
    opened = request(0.2, 0.21, nth=0)
    volley = [request(0.31, 0.32), request(0.41, 0.42, connection=1, nth=0)]
    assert Wire.of([opened, *volley], apart_s=0.08) == Wire(3, 30, 2, 2, 2, 2)
    waited = request(0.52, 0.53, connection=1)
    assert Wire.of([opened, *volley, waited], apart_s=0.08).stages == 3
    assert Wire.of([opened, *volley, waited]).stages == 4


def test_requests_that_follow_each_other_while_others_are_under_way_leave_the_link_busy():
    """Two at a time, of a second each: a chain of three behind the first, and never idle."""
    opened = request(0.0, 0.0, nth=0, stop=1)
    windows = [request(0.2 + n, 0.2 + n, connection=n % 2, stop=100) for n in range(6)]
    wire = Wire.of([opened, *windows], apart_s=0.08, bytes_per_s=100)
    assert (wire.stages, wire.idle) == (7, 2)
    assert Wire.of([opened, *windows], apart_s=0.08).idle == 7, "a link without limit is done"


@pytest.fixture(scope="module")
def far(folder):
    with serving(folder) as server:
        yield server


def connected(port):
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30))


def get(client, start, size):
    client.request("GET", PATH, headers={"Range": f"bytes={start}-{start + size - 1}"})
    assert client.getresponse().read() == DATA[start : start + size]


def took_s(client):
    began_s = time.monotonic()
    get(client, 0, 1)
    return time.monotonic() - began_s


def test_a_request_takes_no_less_than_its_round_trips(far):
    link = Link(math.inf, 0.1)
    with link.to(far.port) as port, connected(port) as client, connected(port) as late:
        assert took_s(client) > 0.98 * link.seconds(1, 1, 1)
        assert took_s(client) > 0.98 * link.seconds(1, 0, 1)
        # What was opened long ago has its handshake behind it; at most the request's own is left.
        late.connect()
        time.sleep(0.15)
        assert took_s(late) > 0.98 * link.seconds(1, 0, 1)


def test_all_connections_share_the_rate(far):
    link, size, count = Link(1e6, 0.01), 60_000, 6
    with link.to(far.port) as port, ExitStack() as stack, ThreadPoolExecutor(count) as threads:
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


KEYS = ["a b+ü.nc", "store/zarr.json", "store/x/c/0", "store/x/c/1", "store.txt"]
MANY = [f"many/{n:04}" for n in range(1203)]


def test_obstore_reads_and_lists(tmp_path):
    obstore = pytest.importorskip("obstore")
    from obstore.store import from_url

    for key in KEYS + MANY:
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(key.encode())
    with serving(tmp_path, "s3") as server:
        store = from_url(server.url, **Remote(server.url, server.storage_options).obstore())
        assert bytes(obstore.get_range(store, KEYS[0], start=2, end=6)) == KEYS[0].encode()[2:6]
        listed = obstore.list_with_delimiter(store)
        assert {item["path"] for item in listed["objects"]} == {"a b+ü.nc", "store.txt"}
        assert set(listed["common_prefixes"]) == {"store", "many"}
        found = [item["path"] for page in obstore.list(store) for item in page]
        assert sorted(found) == sorted(KEYS + MANY)  # two pages
        assert {r.status for r in server.requests()} == {200, 206}
        with pytest.raises(Exception, match="only reads"):
            obstore.put(store, "b.nc", b"values", use_multipart=False)


def test_files_are_put_where_they_are_not_and_read_as_the_variables_tell(tmp_path, monkeypatch):
    pytest.importorskip("s3fs")
    (tmp_path / "served").mkdir()
    (tmp_path / "a.zarr/x").mkdir(parents=True)
    (tmp_path / "a.zarr/x/0.0").write_bytes(b"chunk")
    (tmp_path / "b.nc").write_bytes(bytes(3_000_000))
    paths = [tmp_path / "a.zarr", tmp_path / "b.nc"]
    with store(tmp_path / "served") as server:
        monkeypatch.setattr(os, "environ", os.environ | variables(server))
        place = Endpoint.of(f"{server.url}/in").below("here")
        assert KEY not in repr(place) and SECRET not in repr(place)
        monkeypatch.undo()
        assert [upload(place, paths), upload(place, paths)] == [2, 0]
        assert (tmp_path / "served/in/here/b.nc").read_bytes() == bytes(3_000_000)
        paths[1].write_bytes(b"of another size")
        assert upload(place, paths) == 1
        for name, held in (("b.nc", b"of another size"), ("a.zarr/x/0.0", b"chunk")):
            with fsspec.open(place.address(name), **place.storage_options) as file:
                assert file.read() == held
        monkeypatch.setattr(os, "environ", {"AWS_ENDPOINT_URL_S3": server.endpoint})
        open_to_all = Endpoint.of(place.url)
        with pytest.raises(PermissionError):
            fsspec.open(open_to_all.address("b.nc"), **open_to_all.storage_options).open()


def test_no_message_tells_keys_and_places_in_any_spelling(monkeypatch):
    keys = {"AWS_ACCESS_KEY_ID": "AKCANARY", "AWS_SECRET_ACCESS_KEY": "canary/secret+="}
    server = {"AWS_ENDPOINT_URL": "http://s3.canary.example:9000"}
    monkeypatch.setattr(os, "environ", keys | server)
    place = Endpoint.of("s3://canary-bucket/canary/top")
    for text in (
        "http://me:canary@s3.canary.example:9000/canary-bucket/canary/top/x.nc?X-Amz-Date=canary",
        "host:s3.canary.example:9000 http%3A%2F%2Fs3.canary.example%3A9000%2Fcanary-bucket",
        "prefix=canary%2Ftop%2Fx canary-bucket/canary/top; _AKCANARY_ xcanary/secret+=y",
    ):
        said = place.said(f"before {text} after")
        assert said.startswith("before ") and said.endswith(" after")
        assert "canary" not in said.lower()


def test_what_is_missing_is_named_and_a_store_on_this_machine_is_known(monkeypatch):
    for url, known, words in (
        ("ftp://me:canary@x/y?canary", {}, "'ftp://x/y'.* give an address s3://"),
        ("s3://b", {"AWS_ACCESS_KEY_ID": "x"}, "AWS_SECRET_ACCESS_KEY is not set"),
        ("s3://b", {"AWS_SECRET_ACCESS_KEY": "x"}, "AWS_ACCESS_KEY_ID is not set"),
    ):
        monkeypatch.setattr(os, "environ", known)
        with pytest.raises(ValueError, match=words):
            Endpoint.of(url)
    for address, here in {
        "http://localhost:9000": True, "127.0.0.1:9000": True, "": False,
        "http://[::ffff:127.0.0.1]:9000": True, "http://store.invalid": False,
        "http://192.0.2.7:9000": False,  # for documents; nobody has it
    }.items():  # fmt: skip
        assert Endpoint("s3://localhost/a", {"endpoint_url": address}).here is here
