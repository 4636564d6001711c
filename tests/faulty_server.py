"""A server of which some GET requests go wrong: what a client makes of that."""

import asyncio
import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from hyperslab.network import Server, answers
from hyperslab.network.helper import helping
from hyperslab.network.server import BUCKET


class Fault(NamedTuple):
    """What befalls `count` GET requests from number `first` on.

    "gone" (the server ends in the middle of a body), "cut" (the connection does), "whole" (all of
    the file for a range), "short" (half of the range, as if that were all), or an error's status.
    """

    kind: str
    first: int = 0
    count: int = 1


@contextmanager
def serving(folder, kind="http", faults=()):
    """Serve a folder, as `hyperslab.network.serving` does, with faults."""
    bucket = BUCKET if kind == "s3" else ""
    facts = {"folder": str(folder), "bucket": bucket, "beyond": [], "delay_s": 0, "faults": faults}
    with helping("faulty_server", facts) as (helper, port):
        yield Server(kind, "aiohttp", port, helper)


NOW = ContextVar("the request that is answered, and its fault")
_range, _body = answers.byte_range, answers.send


class Faulty(answers.Files):
    """The files of that server."""

    def __init__(self, facts):
        super().__init__(facts)
        self._faults, self._gets = facts["faults"], 0

    async def given(self, request, line):
        fault = ""
        if request.method == "GET":
            nth, self._gets = self._gets, self._gets + 1
            befalls = (f.kind for f in self._faults if f.first <= nth < f.first + f.count)
            fault = next(befalls, "")
        NOW.set((request, fault))
        if fault.isdigit():
            return await answers.tell(request, line, int(fault))
        return await super().given(request, line)


def asked(request, size):
    """Return the range that is sent."""
    given, (_, fault) = _range(request, size), NOW.get()
    if fault == "short" and given:
        start, stop = given
        return start, stop - (stop - start + 1) // 2
    return None if fault == "whole" else given


async def send(response, file, line):
    """Send the range of a file, or half of it and no more."""
    request, fault = NOW.get()
    if fault not in ("gone", "cut"):
        return await _body(response, file, line)
    stop = line["stop"]
    line["stop"] = (line["start"] + stop) // 2
    await _body(response, file, line)
    line["stop"] = stop
    await asyncio.sleep(0.05)  # so that what was written arrives before the connection breaks
    if fault == "gone":
        os._exit(1)
    request.transport.abort()


async def main(seat):
    """Serve until told to stop."""
    answers.byte_range, answers.send = asked, send
    await answers.main(seat, Faulty)
