"""An HTTP server on loopback that gives byte ranges and keeps a log, for tests."""

import re
import threading
import time
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import NamedTuple

from hyperslab.network import Server
from hyperslab.network.server import BUCKET


class Request(NamedTuple):
    """An answered request."""

    method: str
    path: str
    start: int
    sent: int
    began: float


class Fault(NamedTuple):
    """What befalls `count` requests from number `first` on.

    "gone" (the server ends in the middle of a body), "cut" (the connection does), "whole" (all of
    the file for a range), "short" (half of the range, as if that were all), or an error's status.
    """

    kind: str
    first: int = 0
    count: int = 1


def at_once(log, delay_s):
    """How many requests were under way at the same time, at most."""
    return max(sum(0 <= request.began - other.began < delay_s for other in log) for request in log)


@contextmanager
def serving(
    folder, *, ranges=True, absent=404, delay_s=0.0, token="", soft=b"", tag="ETag", lists=False,
    faults=(), heads=(), top="/",
):  # fmt: skip
    """Serve a folder; gives its address and the log of requests.

    `absent` is what it says of what is not there, or `soft` what it gives for it; `delay_s` how
    long an answer takes; `token` the query that who reads must give, None for any; `tag` the header
    that tells when a file was written; with `lists` what lies in a folder is told. `faults` go
    wrong, `heads` of HEAD requests; the path of the folder is `top`.
    """
    log, gone = [], threading.Event()
    befalls = {"GET": (count(), faults), "HEAD": (count(), heads)}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self):
            if gone.is_set():
                self.close_connection = True
                return
            began = time.monotonic()
            time.sleep(delay_s)
            number, mine = befalls[self.command]
            nth = next(number)
            self.fault = next((f.kind for f in mine if f.first <= nth < f.first + f.count), "")
            status, headers, data, start = self.found()
            sent = data if self.command == "GET" else b""
            if self.fault in ("cut", "gone"):
                sent, self.close_connection = data[: len(data) // 2], True
            # Before it is sent: who has the answer may look for it in the log.
            log.append(Request(self.command, self.path, start, len(sent), began))
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(data))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)
            if self.fault == "gone":
                gone.set()
                server.socket.close()
                server.shutdown()

        do_HEAD = do_GET = answer  # noqa: N815

        def found(self):
            """Give status, headers, data, and at which byte these begin."""
            if self.fault.isdigit():
                return int(self.fault), {}, b"", 0
            name, _, query = self.path.partition("?")
            path = folder / urllib.parse.unquote(name).removeprefix(top)
            known = token is None or urllib.parse.unquote(query) == urllib.parse.unquote(token)
            if not known or not (path.is_file() or (lists and path.is_dir())):
                return 200 if soft else absent, {}, soft, 0
            stat = path.stat()
            written = {"ETag": f'"{stat.st_mtime_ns}"'}
            written["Last-Modified"] = self.date_time_string(stat.st_mtime)
            headers = {tag: written[tag]} | ({"Accept-Ranges": "bytes"} if ranges else {})
            links = (f'<a href="{one.name}{"/" * one.is_dir()}">' for one in path.glob("*"))
            data = "".join(links).encode() if path.is_dir() else path.read_bytes()
            asked = re.match(r"bytes=(\d*)-(\d*)$", self.headers.get("Range", ""))
            if not ranges or not asked or self.fault == "whole":
                return 200, headers, data, 0
            size = len(data)
            start = int(asked[1] or size - int(asked[2]))
            if start >= size:
                return 416, {"Content-Range": f"bytes */{size}"}, b"", start
            data = data[start : int(asked[2]) + 1 if asked[1] and asked[2] else size]
            data = data[: len(data) // 2] if self.fault == "short" else data
            headers["Content-Range"] = f"bytes {start}-{start + len(data) - 1}/{size}"
            return 206, headers, data, start

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # else clients that connect at once wait a second

        def handle_error(self, request, client_address):
            """Clients may go away in the middle of an answer."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", log
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def faulty(folder, kind="http", faults=()):
    """Serve a folder, as `hyperslab.network.serving` does, with faults; gives the log too."""
    top = f"/{BUCKET}/" if kind == "s3" else "/"
    with serving(folder, token=None, faults=faults, top=top) as (address, log):
        yield Server(kind, "", int(address.rpartition(":")[2]), None), log
