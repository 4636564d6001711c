"""HTTP servers on loopback: ranges as RFC 9110 has them, a true log that is counted, no leaks."""

import contextlib
import http.client
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from forked_servers import forking
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.network import HelperError, Request, Wire, serving, touched

forked = pytest.fixture(scope="module", autouse=True)(forking)
DATA = bytes(range(256)) * 4000
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
