"""The process that keeps lighttpd: writes its configuration, starts it and reads its log."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hyperslab.measure.parent import die_with
from hyperslab.network.helper import Seat
from hyperslab.network.wire import Request

PATIENCE_S = 5.0
# Somebody may take a port between the moment it is found free and the moment it is used.
TRIES = 5
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
server.document-root = "{place}/root"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{place}/errors"
server.modules = ("mod_accesslog")
server.max-keep-alive-requests = 60000
server.max-keep-alive-idle = 60
server.stat-cache-engine = "disable"
mimetype.assign = ("" => "application/octet-stream")
accesslog.filename = "{place}/log"
accesslog.format = "{log_format}"
"""


async def main(seat: Seat) -> None:
    """Keep lighttpd until told to stop."""
    with tempfile.TemporaryDirectory(prefix="lighttpd-") as place:
        kept = Lighttpd(Path(place), Path(seat.facts["folder"]))
        try:
            await seat.answer(kept.start(), requests=kept.lines, forget=kept.forget)
        finally:
            kept.stop()


class Lighttpd:
    """A running lighttpd that serves a folder; its configuration and logs lie in an empty place."""

    def __init__(self, place: Path, folder: Path) -> None:
        self._place = place
        (place / "root").symlink_to(folder)  # no name of it needs to be quoted
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: list[Request] = []
        self._connections: dict[str, int] = {}  # their numbers by the client's port
        self._count = 0

    def start(self) -> int:
        """Start it at a free port, and return the port."""
        for _ in range(TRIES):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = int(free.getsockname()[1])
            if self._start(port):
                return port
            self.stop()
        said = (self._place / "errors").read_text(errors="replace").strip().splitlines()
        raise OSError(f"lighttpd does not start: {said[-1] if said else 'it says nothing'}")

    def stop(self) -> None:
        """End it."""
        if self._process:
            self._process.kill()
            self._process.wait()

    def lines(self) -> list[dict[str, Any]]:
        """Return the log."""
        self._read()
        return [asdict(request) for request in self._requests]

    def forget(self) -> None:
        """Empty the log."""
        self._read()  # for the numbers of the connections
        self._requests.clear()

    def _start(self, port: int) -> bool:
        file = self._place / "configuration"
        log_format = "|".join(_FIELDS.values())
        file.write_text(_CONFIGURATION.format(place=self._place, port=port, log_format=log_format))
        found = shutil.which("lighttpd") or "lighttpd"
        # It looks for its modules where it was made to be installed; a package can be unpacked
        # elsewhere, so that no service of the system comes with it.
        modules = Path(found).resolve().parent.parent / "lib/lighttpd"
        me = os.getpid()
        self._process = subprocess.Popen(
            [found, *(["-m", str(modules)] if modules.is_dir() else []), "-D", "-f", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: die_with(me),
        )
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s and self._process.poll() is None:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0 and self._process.poll() is None:
                    return True
            time.sleep(0.01)
        return False

    def _read(self) -> None:
        """Take over what was logged since the last call; connections are numbered as they come."""
        assert self._process is not None
        if self._process.poll() is not None:
            raise OSError("lighttpd has ended")
        log = self._place / "log"
        read = log.rename(log.with_suffix(".read"))
        self._process.send_signal(signal.SIGHUP)  # it writes what it holds, and a new file then
        end_s = time.monotonic() + PATIENCE_S
        while not log.exists() and time.monotonic() < end_s:
            time.sleep(0.002)
        for line in read.read_text().splitlines():
            # A path may hold a bar only where it is encoded.
            told = dict(zip(_FIELDS, line.split("|"), strict=True))
            if told["nth"] == "0":  # a new connection, perhaps from a port that was used before
                self._connections[told["port"]] = self._count
                self._count += 1
            self._requests.append(_request(told, self._connections[told["port"]]))


def _request(told: dict[str, str], connection: int) -> Request:
    ended_s, size = int(told["end"]) / 1e6, int(told["size"])
    start, stop = 0, size if told["status"] == "200" else 0
    if given := re.fullmatch(r"bytes (\d+)-(\d+)/\d+", told["of"]):
        start, stop = int(given[1]), int(given[2]) + 1
    began_s = ended_s - int(told["took"]) / 1e6
    return Request(
        told["method"], unquote(told["path"]), start, stop, int(told["status"]), size, connection,
        int(told["nth"]), began_s, ended_s,
    )  # fmt: skip
