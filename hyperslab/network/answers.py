"""The process that answers HTTP and S3 requests for the files of a folder, and logs them."""

import asyncio
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any

from aiohttp import web

from hyperslab.network import s3
from hyperslab.network.request import Request
from hyperslab.network.seat import Seat, in_use

PIECE_BYTES = 1 << 18


async def main(seat: Seat) -> None:
    """Serve until told to stop."""
    files = Files(seat.facts)
    runner = web.ServerRunner(web.Server(files.answer), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        port = int(seat.facts["port"])
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
        except OSError as error:
            raise OSError(in_use(port, error)) from error
        ready = {"port": runner.addresses[0][1]}
        await seat.answer(ready, {"requests": files.lines, "forget": files.forget})
    finally:
        await runner.cleanup()


class Files:
    """Answers requests for the files of a folder.

    Parameters
    ----------
    facts : mapping
        What `hyperslab.network.server.serving` tells of the folder and of faults.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._root = Path(facts["folder"])
        self._beyond = [Path(folder) for folder in facts["beyond"]]
        self._delay_s = float(facts["delay_s"])
        self._faults = facts["faults"]
        self._writable = bool(facts["writable"] and facts["s3"])
        self._bucket = s3.Bucket(self._root, **facts["s3"]) if facts["s3"] else None
        self._log: list[Request] = []
        self._gets = 0
        # Number of each connection, and how many requests came by it.
        self._connections: dict[asyncio.BaseTransport, list[int]] = {}

    def lines(self) -> list[dict[str, Any]]:
        """Return the log."""
        return [request.line() for request in self._log]

    def forget(self) -> None:
        """Empty the log."""
        self._log.clear()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request and log it."""
        answer = _Answer(time.monotonic(), *self._place(request))
        fault = self._fault(request)
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        try:
            return await self._answer(request, answer, fault)
        finally:
            self._log.append(answer.request(request))

    async def _answer(
        self, request: web.BaseRequest, answer: "_Answer", fault: str
    ) -> web.StreamResponse:
        if fault.isdigit():
            return await answer.refuse(request, int(fault), *s3.reason(int(fault)))
        puts = request.method == "PUT" and self._writable
        if request.method not in ("GET", "HEAD") and not puts:
            does = "files are put whole" if self._writable else "this server only reads"
            return await answer.refuse(request, 405, "MethodNotAllowed", does)
        path = request.path
        if self._bucket:
            if why := self._bucket.refusal(request):
                return await answer.refuse(request, 403, *why)
            name, key = self._bucket.split(path)
            if name != self._bucket.name:
                return await answer.refuse(request, 404, "NoSuchBucket", "there is one bucket")
            if not key:
                try:
                    listed = self._bucket.listing(request.query)
                except ValueError as error:
                    return await answer.refuse(request, 400, "InvalidArgument", str(error))
                return await answer.text(request, 200, listed)
            if puts:
                return await self._put(request, answer, key)
            path = f"/{key}"
        file = self._file(path)
        if file is None:
            return await answer.refuse(request, 404, *s3.reason(404))
        return await answer.file(request, file, fault)

    async def _put(
        self, request: web.BaseRequest, answer: "_Answer", key: str
    ) -> web.StreamResponse:
        """Take a file that comes whole and as it is."""
        target = self._inside(key)
        said = request.headers.get("x-amz-content-sha256", "")
        if said.startswith("STREAMING"):
            return await answer.refuse(request, 501, "NotImplemented", "not as this server has it")
        if target is None or target == self._root or target.is_dir():
            return await answer.refuse(request, 400, *s3.reason(400))
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # what follows is the answer
        digest = hashlib.sha256()
        handle, name = tempfile.mkstemp(dir=self._root, prefix=s3.HIDDEN)
        try:
            with os.fdopen(handle, "wb") as file:
                async for piece in request.content.iter_chunked(PIECE_BYTES):
                    file.write(piece)
                    digest.update(piece)
            if said not in ("UNSIGNED-PAYLOAD", digest.hexdigest()):
                why = ("XAmzContentSHA256Mismatch", "another body")
                return await answer.refuse(request, 400, *why)
            target.parent.mkdir(parents=True, exist_ok=True)
            Path(name).replace(target)
        except OSError:  # below a file, or of a name that is too long
            return await answer.refuse(request, 400, *s3.reason(400))
        finally:
            Path(name).unlink(missing_ok=True)
        return await answer.text(request, 200, "", {"ETag": f'"{digest.hexdigest()[:32]}"'})

    def _file(self, path: str) -> Path | None:
        file = self._inside(path)
        try:
            return file if file and file.is_file() else None
        except OSError:  # a name that is too long
            return None

    def _inside(self, path: str) -> Path | None:
        """Return the place of a path, if it is in the folder, or where links of it may lead."""
        try:
            file = Path(os.path.normpath(f"{self._root}/{path.lstrip('/')}"))
            real = file.resolve()
        except (OSError, ValueError):  # it holds a NUL
            return None
        allowed = any(real.is_relative_to(folder) for folder in (self._root, *self._beyond))
        return file if allowed and file.is_relative_to(self._root) else None

    def _place(self, request: web.BaseRequest) -> tuple[int, int]:
        """Return the number of a request's connection, and its own number on that."""
        assert request.transport is not None
        place = self._connections.setdefault(request.transport, [len(self._connections), -1])
        place[1] += 1
        return place[0], place[1]

    def _fault(self, request: web.BaseRequest) -> str:
        if request.method != "GET":
            return ""
        nth, self._gets = self._gets, self._gets + 1
        for fault in self._faults:
            if fault["first"] <= nth < fault["first"] + fault["count"]:
                return str(fault["kind"])
        return ""


class _Answer:
    """What is known of an answer while it is given."""

    def __init__(self, began_s: float, connection: int, nth: int) -> None:
        self._began_s = began_s
        self._connection, self._nth = connection, nth
        self._start = self._stop = self._sent = 0
        self._status = 0

    def request(self, request: web.BaseRequest) -> Request:
        return Request(
            request.method,
            request.path,
            self._start,
            self._stop,
            self._status,
            self._sent,
            self._connection,
            self._nth,
            self._began_s,
            time.monotonic(),
        )

    async def file(self, request: web.BaseRequest, file: Path, fault: str) -> web.StreamResponse:
        """Give a file, or the range of it that is asked for."""
        with file.open("rb") as handle:
            facts = os.fstat(handle.fileno())
            asked = None if fault == "whole" else byte_range(request.headers, facts.st_size)
            head = {
                "ETag": f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"',
                "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
                "Accept-Ranges": "bytes",
                "Content-Type": "application/octet-stream",
            }
            if asked is None or request.method == "HEAD":
                size, status = facts.st_size, 200
                self._stop = size if request.method == "GET" else 0
            else:
                self._start, self._stop, status = *asked, 206
                if self._start >= self._stop:
                    self._start = self._stop = 0
                    head["Content-Range"] = f"bytes */{facts.st_size}"
                    return await self.text(request, 416, s3.error("InvalidRange", "no such"), head)
                if fault == "short":
                    self._stop -= (self._stop - self._start + 1) // 2
                head["Content-Range"] = f"bytes {self._start}-{self._stop - 1}/{facts.st_size}"
                size = self._stop - self._start
            head["Content-Length"] = str(size)
            response = await self._begin(request, status, head)
            if request.method == "GET":
                await self._body(request, response, handle.fileno(), fault)
            await response.write_eof()
            return response

    async def _body(
        self, request: web.BaseRequest, response: web.StreamResponse, file: int, fault: str
    ) -> None:
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
            assert request.transport is not None
            request.transport.abort()

    async def refuse(
        self, request: web.BaseRequest, status: int, code: str, why: str
    ) -> web.StreamResponse:
        """Answer with an error."""
        return await self.text(request, status, s3.error(code, why))

    async def text(
        self, request: web.BaseRequest, status: int, text: str, head: Mapping[str, str] = {}
    ) -> web.StreamResponse:
        """Answer with XML."""
        body = text.encode()
        about = {"Content-Type": "application/xml", "Content-Length": str(len(body))}
        response = await self._begin(request, status, {**head, **about})
        if request.method != "HEAD":
            await response.write(body)
            self._sent = len(body)
        await response.write_eof()
        return response

    async def _begin(
        self, request: web.BaseRequest, status: int, head: Mapping[str, str]
    ) -> web.StreamResponse:
        self._status = status
        response = web.StreamResponse(status=status, headers=head)
        await response.prepare(request)
        return response


def byte_range(headers: Mapping[str, str], size: int) -> tuple[int, int] | None:
    """Return the half-open range of a file's bytes that headers ask for; None is all of it.

    Parameters
    ----------
    headers : mapping
        Of the request.
    size : int
        Of the file, in bytes.

    Returns
    -------
    (int, int) or None
        Empty where the range begins behind the end. What is no single range counts for nothing,
        as RFC 9110 has it.

    Examples
    --------
    >>> [byte_range({"Range": f"bytes={words}"}, 100) for words in ("0-9", "90-", "-5", "0-999")]
    [(0, 10), (90, 100), (95, 100), (0, 100)]
    >>> byte_range({"Range": "bytes=0-1,5-6"}, 100), byte_range({"Range": "bytes=100-"}, 100)
    (None, (100, 100))
    """
    digits = "([0-9]{0,19})"  # more than any file has, and no digits of other scripts
    asked = re.fullmatch(f"bytes={digits}-{digits}", headers.get("Range", "").strip())
    if not asked or asked[0] == "bytes=-":
        return None
    first, last = asked[1], asked[2]
    if not first:
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return min(int(first), size), min(int(last) + 1, size) if last else size
