"""URLs as they come: with queries, as file://, of servers that answer whatever is asked."""

import importlib.util
import pickle
import shutil
import threading
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import h5py
import numpy as np
import pytest
from forked_servers import forking

from hyperslab import subchunk

forked = pytest.fixture(scope="module", autouse=True)(forking)


NO_OBSTORE = importlib.util.find_spec("obstore") is None
BACKENDS = [
    "fsspec",
    pytest.param("obstore", marks=pytest.mark.skipif(NO_OBSTORE, reason="needs obstore")),
]


def write(path, offset=0.0):
    """Write a file whose size does not tell its content."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "data", data=np.arange(9e4).reshape(3, -1), chunks=(1, 30000), compression=4
        )
        data.attrs["scale"] = 1.0 + offset
        file["small"] = np.arange(5.0) + offset


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "a b.h5")
    subchunk.build(tmp_path / "a b.h5", spacing=4096)
    return tmp_path


@pytest.fixture(params=BACKENDS)
def options(request):
    fsspec.filesystem("http").clear_instance_cache()
    return {"backend": request.param}


@contextmanager
def serving(folder, *, token="", soft=b"", tag="ETag"):
    """Serve a folder to who gives the token; `soft` is what stands for what is not there."""
    log = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.do_GET(body=False)

        def do_GET(self, body=True):
            log.append((self.command, self.path))
            path, _, query = self.path.partition("?")
            file = folder / urllib.parse.unquote(path).lstrip("/")
            code, data, headers = 404, b"", {}
            if file.is_file() and urllib.parse.unquote(query) == urllib.parse.unquote(token):
                code, data = 200, file.read_bytes()
                headers = {"ETag": f'"{file.stat().st_mtime_ns}"'} if tag == "ETag" else {}
                if tag == "Last-Modified":
                    headers = {tag: self.date_time_string(file.stat().st_mtime)}
                if asked := self.headers.get("Range"):
                    first, last = map(int, asked.removeprefix("bytes=").split("-"))
                    size, code = len(data), 206
                    data = data[first : last + 1]
                    headers["Content-Range"] = f"bytes {first}-{first + len(data) - 1}/{size}"
            elif soft:
                code, data = 200, soft
            self.send_response(code)
            for name, value in (headers | {"Content-Length": str(len(data))}).items():
                self.send_header(name, value)
            self.end_headers()
            if body:
                self.wfile.write(data)

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", log
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("token", ["", "token=a%2Fb&c=d"])
def test_quoted_names_and_queries(folder, options, token):
    with serving(folder, token=token) as (address, log):
        url = f"{address}/a%20b.h5" + (f"?{token}" if token else "")
        for index in (None, folder / "a b.h5.subchunk"):
            with subchunk.open(url, index, storage_options=options) as file:
                assert file.index and file["data"][1, 70] == 30070
        assert any("h5.subchunk" in path for _, path in log)


@pytest.mark.parametrize("soft", [b"<html>not here</html>", b"<p>" * 200_000])
def test_a_server_that_answers_whatever_is_asked(folder, options, soft):
    shutil.copy(folder / "a b.h5", folder / "bare.h5")
    with serving(folder, soft=soft) as (address, _):
        secret = address.replace("//", "//me:canary@")
        with pytest.warns(UserWarning, match=rf"{address}/bare\.h5 is read .*subchunk is") as told:
            file = subchunk.open(f"{secret}/bare.h5", storage_options=options)
        assert "canary" not in str(told[0].message)
        with file:
            assert "without an index" in repr(file) and file["data"][2, 8] == 60008


def test_file_urls(folder):
    url = f"file://{folder}/a%20b.h5"
    for path, index in ((url, None), (folder / "a b.h5", f"{url}.subchunk")):
        with subchunk.open(path, index) as file:
            assert file.index and not file["data"].plain
            assert file["data"][1, 70] == 30070 and file["small"][1] == 1
            assert repr(file) == (
                f"<hyperslab.subchunk.File '{folder}/a b.h5' index='{folder}/a b.h5.subchunk'>"
            )


def test_relative_paths_hold_in_other_folders(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    with subchunk.open("a b.h5", "a b.h5.subchunk") as file:
        kept = pickle.dumps(file)
        monkeypatch.chdir("/")
        with pickle.loads(kept) as again:
            assert again.index and again["data"][1, 70] == 30070


def test_a_server_that_is_not_there_is_named(folder):
    """By fsspec; obstore tries again for minutes."""
    options = {"backend": "fsspec"}
    url = "http://127.0.0.1:9/a.h5"
    for index in (None, folder / "a b.h5.subchunk"):
        with pytest.raises(subchunk.SubchunkError, match=r":9/a.* cannot be read: .*onnect"):
            subchunk.open(url, index, storage_options=options)
    with pytest.raises(subchunk.SubchunkError, match=r"cannot be read: .*onnect"):
        subchunk.build(url, folder / "a.subchunk", storage_options=options)
