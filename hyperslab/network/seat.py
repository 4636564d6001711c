"""The other side of a `Helper`: the process that is told and answers."""

import asyncio
import contextlib
import hmac
import importlib
import json
import os
import selectors
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

# How often it looks whether the one it works for still lives, in seconds.
LOOK_S = 0.2


class Seat:
    """Where a helping process is told what to do.

    Parameters
    ----------
    facts : mapping
        What the `Helper` was given.
    owner : int
        Process id of the one it works for.
    """

    def __init__(self, facts: Mapping[str, Any], owner: int) -> None:
        self.facts = facts
        self._owner = owner

    async def answer(
        self, ready: Mapping[str, object], answers: Mapping[str, Callable[[], object]]
    ) -> None:
        """Say that all is ready, then answer until told to stop or the owner is gone.

        Parameters
        ----------
        ready : mapping
            What the owner needs to know, such as the port.
        answers : mapping
            A function for each thing that can be asked for.
        """
        loop = asyncio.get_running_loop()
        told = asyncio.StreamReader(limit=1 << 20)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(told), sys.stdin.buffer)
        visits = await asyncio.start_server(partial(self._visit, answers), "127.0.0.1", 0)
        control = visits.sockets[0].getsockname()[1]
        _say({"answer": {**ready, "control": control}})
        reading = asyncio.ensure_future(told.readline())
        try:
            while True:
                await asyncio.wait([reading], timeout=LOOK_S)
                if os.getppid() != self._owner:  # a forked child may keep the pipe open
                    return
                if not reading.done():
                    continue
                line = reading.result()
                if not line or (asked := json.loads(line)["ask"]) == "stop":
                    return
                _say({"answer": answers[asked]()})
                reading = asyncio.ensure_future(told.readline())
        finally:
            reading.cancel()
            visits.close()

    async def _visit(
        self,
        answers: Mapping[str, Callable[[], object]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Answer one question of another process, if it has the token."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            asked = json.loads(await reader.readline())
            if hmac.compare_digest(asked["token"], self.facts["token"]):
                writer.write(json.dumps({"answer": answers[asked["ask"]]()}).encode() + b"\n")
                await writer.drain()
        writer.close()


def sit(module: str, owner: int) -> None:
    """Run the function `main` of a module, which is told of failures before it is ready.

    Parameters
    ----------
    module : str
    owner : int
        Process id of the one who started this process.
    """
    code = importlib.import_module(module)
    facts = json.loads(sys.stdin.buffer.readline())
    try:
        with asyncio.Runner(loop_factory=partial(_loop, getattr(code, "EXACT", False))) as runner:
            runner.run(code.main(Seat(facts, owner)))
    except (OSError, ImportError) as error:
        _say({"error": str(error)})


def _loop(exact: bool) -> asyncio.AbstractEventLoop:
    """Return a loop; epoll's timers round up to milliseconds, and select has 1,024 files."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector() if exact else None)


def in_use(port: int, error: OSError) -> str:
    """Return why a port cannot be had, and what to do.

    Examples
    --------
    >>> in_use(80, PermissionError(13, "no"))
    'port 80: Permission denied; leave the port out for a free one'
    """
    return f"port {port}: {os.strerror(error.errno or 0)}; leave the port out for a free one"


def _say(message: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
