"""The process that keeps lighttpd: writes its configuration, starts it and reads its log."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hyperslab.measure.parent import die_with
from hyperslab.network.helper import Seat

PATIENCE_S = 5.0
_FIELDS = {
    "method": "%m",
    "path": "%U",
    "status": "%s",
    "size": "%B",  # bytes of the body
    "port": "%{remote}p",  # the client's
    "nth": "%k",  # requests before it on its connection
    "end": "%{usec}t",  # microseconds of the day's clock
    "took": "%D",  # microseconds
    "of": "%{Content-Range}o",
}
_CONFIGURATION = """\
server.document-root = "{scratch}/root"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{scratch}/errors"
server.modules = ("mod_accesslog")
server.max-keep-alive-requests = 60000
server.max-keep-alive-idle = 60
server.stat-cache-engine = "disable"
mimetype.assign = ("" => "application/octet-stream")
accesslog.filename = "{scratch}/log"
accesslog.format = "{log_format}"
"""


async def main(seat: Seat) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="lighttpd-") as scratch,
        _started(Path(scratch), Path(seat.facts["folder"])) as (process, port),
    ):
        log = _Log(Path(scratch, "log"), process)
        await seat.answer(port, requests=log.read, forget=lambda: log.read().clear())


@contextmanager
def _started(scratch: Path, folder: Path) -> "Iterator[tuple[subprocess.Popen[bytes], int]]":
    """Serve a folder, with configuration and logs in an empty folder; yield process and port."""
    (scratch / "root").symlink_to(folder)  # no name of it needs to be quoted
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    file, log_format = scratch / "configuration", "|".join(_FIELDS.values())
    file.write_text(_CONFIGURATION.format(scratch=scratch, port=port, log_format=log_format))
    program = shutil.which("lighttpd") or "lighttpd"
    # It looks for its modules where it was made to be installed; a package can be unpacked
    # elsewhere, so that no service of the system comes with it.
    modules = Path(program).resolve().parent.parent / "lib/lighttpd"
    own_pid, errors = os.getpid(), scratch / "errors"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [program, *(["-m", str(modules)] if modules.is_dir() else []), "-D", "-f", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            preexec_fn=lambda: die_with(own_pid),
        )
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.01)
        else:
            lines = errors.read_text(errors="replace").splitlines() or ["it says nothing"]
            raise OSError(f"lighttpd does not start: {lines[-1]}")
        yield process, port
    finally:
        process.kill()
        process.wait()


class _Log:
    """What lighttpd logs, as the fields of `Request`; connections are numbered as they come."""

    def __init__(self, path: Path, process: "subprocess.Popen[bytes]") -> None:
        self._path, self._process = path, process
        self._lines: list[dict[str, Any]] = []
        self._connections: dict[str, int] = {}  # their numbers by the client's port
        self._count = 0

    def read(self) -> list[dict[str, Any]]:
        """Return all lines, with what was logged since the last call."""
        if self._process.poll() is not None:
            raise OSError("lighttpd has ended")
        log = self._path.rename(self._path.with_suffix(".read"))
        self._process.send_signal(signal.SIGHUP)  # it writes what it holds, and a new file then
        until = time.monotonic() + PATIENCE_S
        while not self._path.exists() and time.monotonic() < until:
            time.sleep(0.002)
        for line in log.read_text().splitlines():
            # A path may hold a bar only where it is encoded.
            entry = dict(zip(_FIELDS, line.split("|"), strict=True))
            if entry["nth"] == "0":  # a new connection, perhaps from a port that was used before
                self._connections[entry["port"]] = self._count
                self._count += 1
            self._lines.append(_request_fields(entry, self._connections[entry["port"]]))
        return self._lines


def _request_fields(entry: dict[str, str], connection: int) -> dict[str, Any]:
    ended_s, size = int(entry["end"]) / 1e6, int(entry["size"])
    start, stop = 0, size if entry["status"] == "200" else 0
    if span := re.fullmatch(r"bytes (\d+)-(\d+)/\d+", entry["of"]):
        start, stop = int(span[1]), int(span[2]) + 1
    return {
        "method": entry["method"], "path": unquote(entry["path"]), "start": start, "stop": stop,
        "status": int(entry["status"]), "body_bytes": size, "connection": connection,
        "nth": int(entry["nth"]), "began_s": ended_s - int(entry["took"]) / 1e6, "ended_s": ended_s,
    }  # fmt: skip
