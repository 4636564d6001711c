"""HTTP servers on loopback: ranges as RFC 9110 has them, a true log, and nothing given away."""

import contextlib
import http.client
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from forked_servers import forking

from hyperslab.network import HelperError, Wire, serving

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
