"""The process that answers HTTP and S3 requests for the files of a folder, and logs them."""

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

from aiohttp import web

from hyperslab.network import s3
from hyperslab.network.helper import Seat

PIECE_BYTES = 1 << 18
Line = dict[str, Any]
"""A line of the log: the fields of `Request`, as far as they are known."""


class Files:
    """Answers requests for the files of a folder; `serving` gives the facts."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.root = Path(facts["folder"])
        self.bucket: str = facts["bucket"]  # "" over plain HTTP
        self.log: list[Line] = []
        self._allowed = [self.root, *map(Path, facts["beyond"])]
        self._delay_s = float(facts["delay_s"])
        # Number of each connection, and how many requests came by it.
        self._connections: dict[asyncio.BaseTransport, list[int]] = {}

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        counts = self._connections.setdefault(request.transport, [len(self._connections), -1])
        counts[1] += 1
        line = {
            "method": request.method, "path": request.path, "start": 0, "stop": 0, "status": 0,
            "body_bytes": 0, "connection": counts[0], "nth": counts[1], "began_s": time.monotonic(),
        }  # fmt: skip
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        try:
            return await self.given(request, line)
        finally:
            self.log.append(line | {"ended_s": time.monotonic()})

    async def given(self, request: web.BaseRequest, line: Line) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            return await tell(request, line, 405)
        path = request.path
        if self.bucket:
            if "Authorization" not in request.headers:  # as by a store that is not public
                return await tell(request, line, 403)
            bucket, _, path = path.lstrip("/").partition("/")
            if bucket != self.bucket:
                return await tell(request, line, 404)
            if not path:
                return await tell(request, line, 200, s3.listing(self.root, bucket, request.query))
        if file := self._file(path):
            return await _give(request, line, file)
        return await tell(request, line, 404)

    def _file(self, path: str) -> Path | None:
        """Return the file of a path, if it is in the folder, or where links of it may lead."""
        try:
            file = Path(os.path.normpath(f"{self.root}/{path.lstrip('/')}"))
            allowed = any(map(file.resolve().is_relative_to, self._allowed))
            return file if allowed and file.is_relative_to(self.root) and file.is_file() else None
        except (OSError, ValueError):  # a name that is too long, or holds a NUL
            return None


async def _give(request: web.BaseRequest, line: Line, file: Path) -> web.StreamResponse:
    with file.open("rb") as handle:
        facts = os.fstat(handle.fileno())
        size, gets = facts.st_size, request.method == "GET"
        head = {
            "ETag": f'"{facts.st_mtime_ns:x}-{size:x}"',
            "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
            "Accept-Ranges": "bytes",
            "Content-Type": "application/octet-stream",
        }
        start, stop, line["status"] = 0, size, 200
        with suppress(ValueError):  # what is no single range counts for nothing, as in RFC 9110
            span = request.http_range
            if gets and span.start is not None:
                (start, stop, _), line["status"] = span.indices(size), 206
                head["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        if start >= stop and line["status"] == 206:
            return await tell(request, line, 416, head={"Content-Range": f"bytes */{size}"})
        head["Content-Length"] = str(stop - start)
        response = web.StreamResponse(status=line["status"], headers=head)
        await response.prepare(request)
        if gets:
            line |= {"start": start, "stop": stop}
            for at in range(start, stop, PIECE_BYTES):
                piece = os.pread(handle.fileno(), min(PIECE_BYTES, stop - at), at)
                await response.write(piece)
                line["body_bytes"] += len(piece)
        await response.write_eof()
        return response


async def tell(
    request: web.BaseRequest, line: Line, status: int, xml: str = "", head: Mapping[str, str] = {}
) -> web.StreamResponse:
    """Answer with XML, by default that of an error."""
    body = (xml or s3.error(status)).encode()
    response = web.Response(status=status, body=body, headers=head, content_type="application/xml")
    line |= {"status": status, "body_bytes": len(body) if request.method != "HEAD" else 0}
    await response.prepare(request)
    await response.write_eof()
    return response


async def main(seat: Seat, kind: type[Files] = Files) -> None:
    files = kind(seat.facts)
    runner = web.ServerRunner(web.Server(files.answer), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        await seat.answer(
            runner.addresses[0][1], requests=lambda: files.log, forget=files.log.clear
        )
    finally:
        await runner.cleanup()
