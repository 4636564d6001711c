"""The process that answers HTTP and S3 requests for the files of a folder, and logs them."""

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from email.utils import formatdate
from pathlib import Path
from typing import Any

from aiohttp import web

from hyperslab.network import s3
from hyperslab.network.helper import Seat
from hyperslab.network.wire import Request

PIECE_BYTES = 1 << 18


class Files:
    """Answers requests for the files of a folder; `serving` gives the facts."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.root = Path(facts["folder"])
        self.bucket: str = facts["bucket"]  # "" over plain HTTP
        self.log: list[Request] = []
        self._allowed = [self.root, *map(Path, facts["beyond"])]
        self._delay_s = float(facts["delay_s"])
        self._faults = facts["faults"]
        self._gets = 0
        # Number of each connection, and how many requests came by it.
        self._connections: dict[asyncio.BaseTransport, list[int]] = {}

    def lines(self) -> list[dict[str, Any]]:
        """Return the log."""
        return [asdict(request) for request in self.log]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request and log it."""
        assert request.transport is not None
        place = self._connections.setdefault(request.transport, [len(self._connections), -1])
        place[1] += 1
        answer = Answer(request, place[0], place[1])
        fault = self._fault(request)
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        try:
            return await self.given(request, answer, fault)
        finally:
            self.log.append(answer.logged())

    async def given(
        self, request: web.BaseRequest, answer: "Answer", fault: str
    ) -> web.StreamResponse:
        """Answer one request, with its fault if it has one."""
        if fault.isdigit():
            return await answer.refuse(int(fault))
        if request.method not in ("GET", "HEAD"):
            return await answer.refuse(405)
        path = request.path
        if self.bucket:
            if "Authorization" not in request.headers:  # as a store that is not public
                return await answer.refuse(403)
            bucket, _, path = path.lstrip("/").partition("/")
            if bucket != self.bucket:
                return await answer.refuse(404)
            if not path:
                return await answer.text(200, s3.listing(self.root, bucket, request.query))
        file = self._file(path)
        return await (answer.file(file, fault) if file else answer.refuse(404))

    def _file(self, path: str) -> Path | None:
        """Return the file of a path, if it is in the folder, or where links of it may lead."""
        try:
            file = Path(os.path.normpath(f"{self.root}/{path.lstrip('/')}"))
            allowed = any(map(file.resolve().is_relative_to, self._allowed))
            return file if allowed and file.is_relative_to(self.root) and file.is_file() else None
        except (OSError, ValueError):  # a name that is too long, or holds a NUL
            return None

    def _fault(self, request: web.BaseRequest) -> str:
        if request.method != "GET":
            return ""
        nth, self._gets = self._gets, self._gets + 1
        happen = (f for f in self._faults if f["first"] <= nth < f["first"] + f["count"])
        return str(next(happen, {"kind": ""})["kind"])


class Answer:
    """An answer, and what is known of it while it is given."""

    def __init__(self, request: web.BaseRequest, connection: int, nth: int) -> None:
        self._request, self._connection, self._nth = request, connection, nth
        self._began_s = time.monotonic()
        self._start = self._stop = self._sent = self._status = 0

    def logged(self) -> Request:
        """Return the request as it is logged."""
        return Request(
            self._request.method, self._request.path, self._start, self._stop, self._status,
            self._sent, self._connection, self._nth, self._began_s, time.monotonic(),
        )  # fmt: skip

    async def file(self, file: Path, fault: str) -> web.StreamResponse:
        """Give a file, or the range of it that is asked for."""
        with file.open("rb") as handle:
            facts = os.fstat(handle.fileno())
            size, gets = facts.st_size, self._request.method == "GET"
            head = {
                "ETag": f'"{facts.st_mtime_ns:x}-{size:x}"',
                "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
                "Accept-Ranges": "bytes",
                "Content-Type": "application/octet-stream",
            }
            asked = byte_range(self._request, size) if gets and fault != "whole" else None
            if asked is None:
                status, self._stop = 200, size if gets else 0
            elif asked[0] >= asked[1]:
                return await self.refuse(416, {**head, "Content-Range": f"bytes */{size}"})
            else:
                status, (self._start, self._stop) = 206, asked
                if fault == "short":
                    self._stop -= (self._stop - self._start + 1) // 2
                head["Content-Range"] = f"bytes {self._start}-{self._stop - 1}/{size}"
                size = self._stop - self._start
            response = await self._begin(status, {**head, "Content-Length": str(size)})
            if gets:
                await self._body(response, handle.fileno(), fault)
            await response.write_eof()
            return response

    async def _body(self, response: web.StreamResponse, file: int, fault: str) -> None:
        breaks = fault in ("gone", "cut")
        stop = (self._start + self._stop) // 2 if breaks else self._stop
        for at in range(self._start, stop, PIECE_BYTES):
            piece = os.pread(file, min(PIECE_BYTES, stop - at), at)
            await response.write(piece)
            self._sent += len(piece)
        if breaks:
            # So that what was written arrives before the connection breaks.
            await asyncio.sleep(0.05)
            if fault == "gone":
                os._exit(1)
            assert self._request.transport is not None
            self._request.transport.abort()

    async def refuse(self, status: int, head: Mapping[str, str] = {}) -> web.StreamResponse:
        """Answer with an error."""
        return await self.text(status, s3.error(status), head)

    async def text(
        self, status: int, text: str, head: Mapping[str, str] = {}
    ) -> web.StreamResponse:
        """Answer with XML."""
        body = text.encode()
        about = {"Content-Type": "application/xml", "Content-Length": str(len(body))}
        response = await self._begin(status, {**head, **about})
        if self._request.method != "HEAD":
            await response.write(body)
            self._sent = len(body)
        await response.write_eof()
        return response

    async def _begin(self, status: int, head: Mapping[str, str]) -> web.StreamResponse:
        self._status = status
        response = web.StreamResponse(status=status, headers=head)
        await response.prepare(self._request)
        return response


def byte_range(request: web.BaseRequest, size: int) -> tuple[int, int] | None:
    """Return the half-open range of a file of `size` bytes that is asked for; None is all of it.

    It is empty where it begins behind the end.
    """
    try:
        asked = request.http_range
    except ValueError:  # no single range: it counts for nothing, as RFC 9110 has it
        return None
    return None if asked.start is None else asked.indices(size)[:2]


async def main(seat: Seat, kind: type[Files] = Files) -> None:
    """Serve the files of a folder until told to stop."""
    files = kind(seat.facts)
    runner = web.ServerRunner(web.Server(files.answer), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        await seat.answer(runner.addresses[0][1], requests=files.lines, forget=files.log.clear)
    finally:
        await runner.cleanup()
