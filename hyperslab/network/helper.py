"""A process that works beside this one and ends with it, however this one ends: both its sides."""

import asyncio
import hmac
import importlib
import json
import os
import secrets
import selectors
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from hyperslab.measure.child import HELPERS, Child

PATIENCE_S = 5.0  # of one that was told to stop, before it is ended
ANSWER_S = 30.0
LOOK_S = 0.2  # how often it looks whether the one it works for still lives
# Plain HTTP needs no certificates, and reading them is half the time that aiohttp takes to load.
_ENVIRONMENT = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}


class HelperError(RuntimeError):
    """A helping process could not start, or is gone."""


@dataclass(frozen=True)
class Helper:
    """A running process, as who may ask it knows it; it can be pickled."""

    module: str  # what it runs
    port: int  # of 127.0.0.1, where it is asked
    token: str = field(repr=False)

    def ask(self, question: str) -> Any:
        line = b""
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_S) as connection,
            connection.makefile("rwb") as stream,
        ):
            stream.write(json.dumps({"token": self.token, "ask": question}).encode() + b"\n")
            stream.flush()
            line = stream.readline()
        if not line:
            raise HelperError(f"the process of {self.module} is gone")
        return json.loads(line)["answer"]


@contextmanager
def helping(module: str, facts: Mapping[str, object]) -> Iterator[tuple[Helper, int]]:
    """Run `main` of a module, which takes a `Seat` with facts, in a process; yield its port too."""
    token = secrets.token_hex(16)
    words = f"from hyperslab.network.helper import sit; sit(pipe, owner, {module!r})"
    child = Child(words, _ENVIRONMENT)
    try:
        try:
            # By the pipe, so that no credential stands in a list of processes.
            port, control = child.ask({**facts, "token": token})
        except EOFError:
            raise HelperError(f"the process of {module} is gone{child.end()}") from None
        HELPERS.modules[child] = module
        yield Helper(module, control, token), port
    finally:
        HELPERS.modules.pop(child, None)
        child.end(PATIENCE_S)


class Seat:
    """Where a helping process is told what to do: `facts` are what `helping` was given."""

    def __init__(self, pipe: Connection, owner: int) -> None:
        self.facts: dict[str, Any] = pipe.recv()
        self._pipe, self._owner = pipe, owner

    async def answer(self, port: int, **answers: Callable[[], object]) -> None:
        """Tell the owner the port of what is ready; answer until told to stop or it is gone."""
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), stopped.set)

        async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, ValueError, KeyError, TypeError):
                request = json.loads(await reader.readline())
                if hmac.compare_digest(request["token"], self.facts["token"]):
                    writer.write(json.dumps({"answer": answers[request["ask"]]()}).encode() + b"\n")
                    await writer.drain()
            writer.close()

        async with await asyncio.start_server(visit, "127.0.0.1", 0) as visits:
            self._pipe.send((port, visits.sockets[0].getsockname()[1]))
            # A forked process of the owner may keep the pipe open.
            while not stopped.is_set() and os.getppid() == self._owner:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopped.wait(), LOOK_S)


def sit(pipe: int, owner: int, module: str) -> None:
    code = importlib.import_module(module)
    # epoll's timers round up to milliseconds, and select has 1,024 files.
    exact = selectors.SelectSelector() if getattr(code, "EXACT", False) else None
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(exact)) as runner:
        runner.run(code.main(Seat(Connection(pipe), owner)))
