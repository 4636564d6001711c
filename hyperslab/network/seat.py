"""The other side of a `Helper`: the process that is told and answers."""

import asyncio
import contextlib
import hmac
import importlib
import json
import os
import selectors
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

# How often it looks whether the one it works for still lives, in seconds.
LOOK_S = 0.2


class Seat:
    """Where a helping process is told what to do: `facts` are what the `Helper` was given."""

    def __init__(self, pipe: Connection, owner: int) -> None:
        self.facts: dict[str, Any] = pipe.recv()
        self._pipe, self._owner = pipe, owner

    async def answer(
        self, ready: Mapping[str, object], answers: Mapping[str, Callable[[], object]]
    ) -> None:
        """Tell the owner that all is ready, then answer until told to stop or the owner is gone.

        `answers` has a function for each thing that can be asked for.
        """
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), stopped.set)
        async with await asyncio.start_server(
            partial(self._visit, answers), "127.0.0.1", 0
        ) as visits:
            self.tell({**ready, "control": visits.sockets[0].getsockname()[1]})
            # A forked process of the owner may keep the pipe open.
            while not stopped.is_set() and os.getppid() == self._owner:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopped.wait(), LOOK_S)

    def tell(self, message: Mapping[str, object]) -> None:
        """Tell the owner something."""
        self._pipe.send(dict(message))

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


def sit(pipe: int, owner: int, module: str) -> None:
    """Run the function `main` of a module, and tell the owner why it cannot start."""
    code = importlib.import_module(module)
    seat = Seat(Connection(pipe), owner)
    try:
        with asyncio.Runner(loop_factory=partial(_loop, getattr(code, "EXACT", False))) as runner:
            runner.run(code.main(seat))
    except (OSError, ImportError) as error:
        seat.tell({"error": str(error)})


def _loop(exact: bool) -> asyncio.AbstractEventLoop:
    """Return a loop; epoll's timers round up to milliseconds, and select has 1,024 files."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector() if exact else None)
