"""An HTTP server on loopback that gives byte ranges and keeps a log, for tests."""

import re
import threading
import time
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Request(NamedTuple):
    """An answered request."""

    method: str
    path: str
    start: int
    sent: int
    began: float


def at_once(log, delay_s):
    """How many requests were under way at the same time, at most."""
    return max(sum(0 <= request.began - other.began < delay_s for other in log) for request in log)


@contextmanager
def serving(
    folder, *, ranges=True, absent=404, delay_s=0.0, token="", soft=b"", tag="ETag", lists=False
):
    """Serve a folder; gives its address and the log of (method, path, start, bytes sent).

    `absent` is what it says of what is not there, or `soft` what it gives for it; `delay_s` how
    long an answer takes; `token` the query that who reads must give, None for any; `tag` the header
    that tells when a file was written; with `lists` what lies in a folder is told.
    """
    log = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, body):
            began = time.monotonic()
            time.sleep(delay_s)
            name, _, query = self.path.partition("?")
            path = folder / urllib.parse.unquote(name).lstrip("/")
            known = token is None or urllib.parse.unquote(query) == urllib.parse.unquote(token)
            listed = lists and path.is_dir()
            if not known or not (listed or path.is_file()):
                self.send_response(200 if soft else absent)
                self.send_header("Content-Length", str(len(soft)))
                self.end_headers()
                log.append(Request(self.command, self.path, 0, len(soft) * body, began))
                if body:
                    self.wfile.write(soft)
                return
            stat = path.stat()
            links = (f'<a href="{one.name}{"/" * one.is_dir()}">' for one in path.glob("*"))
            data = "".join(links).encode() if listed else path.read_bytes()
            size = len(data)
            asked = re.match(r"bytes=(\d*)-(\d*)$", self.headers.get("Range", ""))
            start = 0
            if asked and ranges:
                start = int(asked[1] or size - int(asked[2]))
                stop = int(asked[2]) + 1 if asked[1] and asked[2] else size
                if start >= size:
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{size}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                data = data[start:stop]
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{start + len(data) - 1}/{size}")
            else:
                self.send_response(200)
            if ranges:
                self.send_header("Accept-Ranges", "bytes")
            written = {"ETag": f'"{stat.st_mtime_ns}"'}
            written["Last-Modified"] = self.date_time_string(stat.st_mtime)
            self.send_header(tag, written[tag])
            self.send_header("Content-Length", str(len(data)))
            # Before it is sent: who has the answer may look for it in the log.
            log.append(Request(self.command, self.path, start, len(data) * body, began))
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # else clients that connect at once wait a second

        def handle_error(self, request, client_address):
            """Clients may go away in the middle of an answer."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", log
    finally:
        server.shutdown()
        server.server_close()
