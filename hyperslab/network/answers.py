"""The process that answers HTTP and S3 requests for the files of a folder, and logs them."""

import asyncio
import os
import re
import time
from collections.abc import Mapping
from dataclasses import asdict
from email.utils import formatdate
from pathlib import Path
from typing import Any

from aiohttp import web

from hyperslab.network import s3
from hyperslab.network.request import Request
from hyperslab.network.seat import Seat

PIECE_BYTES = 1 << 18


async def main(seat: Seat) -> None:
    """Serve until told to stop."""
    await serve(seat, Files(seat.facts))


async def serve(seat: Seat, files: "Files") -> None:
    """Serve these files until told to stop."""
    runner = web.ServerRunner(web.Server(files.answer), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready = {"port": runner.addresses[0][1]}
        await seat.answer(ready, {"requests": files.lines, "forget": files.log.clear})
    finally:
        await runner.cleanup()


class Files:
    """Answers requests for the files of a folder; `serving` gives the facts."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.root = Path(facts["folder"])
        self.bucket: str = facts["bucket"]  # "" over plain HTTP
        self.log: list[Request] = []
        self._beyond = [Path(folder) for folder in facts["beyond"]]
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
            return await answer.refuse(int(fault), *s3.REASONS[int(fault)])
        if request.method not in ("GET", "HEAD"):
            return await answer.refuse(405, "MethodNotAllowed", "this server only reads")
        path = request.path
        if self.bucket:
            if "Authorization" not in request.headers:  # as a store that is not public
                return await answer.refuse(403, *s3.REASONS[403])
            bucket, _, path = path.lstrip("/").partition("/")
            if bucket != self.bucket:
                return await answer.refuse(404, "NoSuchBucket", "there is one bucket")
            if not path:
                try:
                    listed = s3.listing(self.root, bucket, request.query)
                except ValueError as error:
                    return await answer.refuse(400, "InvalidArgument", str(error))
                return await answer.text(200, listed)
        file = self._file(path)
        if file is None:
            return await answer.refuse(404, *s3.REASONS[404])
        return await answer.file(file, fault)

    def _file(self, path: str) -> Path | None:
        """Return the file of a path, if it is in the folder, or where links of it may lead."""
        try:
            file = Path(os.path.normpath(f"{self.root}/{path.lstrip('/')}"))
            real = file.resolve()
            allowed = any(real.is_relative_to(folder) for folder in (self.root, *self._beyond))
            return file if allowed and file.is_relative_to(self.root) and file.is_file() else None
        except (OSError, ValueError):  # a name that is too long, or holds a NUL
            return None

    def _fault(self, request: web.BaseRequest) -> str:
        if request.method != "GET":
            return ""
        nth, self._gets = self._gets, self._gets + 1
        for fault in self._faults:
            if fault["first"] <= nth < fault["first"] + fault["count"]:
                return str(fault["kind"])
        return ""


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
            ranges = None if fault == "whole" else self._request.headers.get("Range")
            asked = byte_range(ranges or "", facts.st_size)
            gets = self._request.method == "GET"
            head = {
                "ETag": f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"',
                "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
                "Accept-Ranges": "bytes",
                "Content-Type": "application/octet-stream",
            }
            if asked is None or not gets:
                size, status = facts.st_size, 200
                self._stop = size if gets else 0
            elif asked[0] >= asked[1]:
                head["Content-Range"] = f"bytes */{facts.st_size}"
                return await self.text(416, s3.error("InvalidRange", "no such"), head)
            else:
                (self._start, self._stop), status = asked, 206
                if fault == "short":
                    self._stop -= (self._stop - self._start + 1) // 2
                head["Content-Range"] = f"bytes {self._start}-{self._stop - 1}/{facts.st_size}"
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

    async def refuse(self, status: int, code: str, why: str) -> web.StreamResponse:
        """Answer with an error."""
        return await self.text(status, s3.error(code, why))

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


def byte_range(asked: str, size: int) -> tuple[int, int] | None:
    """Return the half-open range of a file of `size` bytes that a header names; None is all of it.

    It is empty where it begins behind the end. What is no single range counts for nothing, as
    RFC 9110 has it.

    Examples
    --------
    >>> [byte_range(f"bytes={words}", 100) for words in ("0-9", "90-", "-5", "0-999")]
    [(0, 10), (90, 100), (95, 100), (0, 100)]
    >>> byte_range("bytes=0-1,5-6", 100), byte_range("bytes=100-", 100)
    (None, (100, 100))
    """
    digits = "([0-9]{0,19})"  # more than any file has, and no digits of other scripts
    found = re.fullmatch(f"bytes={digits}-{digits}", asked.strip())
    if not found or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if not first:
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return min(int(first), size), min(int(last) + 1, size) if last else size
