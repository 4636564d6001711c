"""A process that works beside this one and ends with it, however this one ends.

It is told what to do by lines of JSON on its standard input, so that no credential stands in a
list of processes, and answers each with a line on its standard output. Other processes of the
owner, such as those of samples, ask at a port of loopback, with a token.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from hyperslab.measure.child import Child

# How long a helper that was told to stop may take before it is ended.
PATIENCE_S = 5.0
# Plain HTTP needs no certificates, and reading them is half the time that aiohttp takes to load.
_ENVIRONMENT = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}


class HelperError(RuntimeError):
    """A helping process could not start, or is gone."""


@dataclass(frozen=True)
class Visitor:
    """Asks a helping process that another process keeps.

    Parameters
    ----------
    module : str
        What it runs.
    port : int
        Of 127.0.0.1, where it is asked.
    token : str
        What shows that one may ask.
    """

    module: str
    port: int
    token: str = field(repr=False)

    def ask(self, what: str) -> Any:
        """Ask the process for something and return its answer.

        Raises
        ------
        HelperError
            When it is gone.
        """
        line = b""
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as connection,
            connection.makefile("rwb") as stream,
        ):
            stream.write(json.dumps({"token": self.token, "ask": what}).encode() + b"\n")
            stream.flush()
            line = stream.readline()
        if not line:
            raise HelperError(f"the process of {self.module} is gone")
        return json.loads(line)["answer"]


class Helper:
    """Runs the function `main` of a module in a process of its own.

    Parameters
    ----------
    module : str
        Its `main` takes a `Seat`.
    facts : mapping
        What the module needs to know; goes through JSON.

    Notes
    -----
    A pickled helper is a `Visitor`, which can ask as well.

    Raises
    ------
    HelperError
        On entering the context, with what the process said.
    """

    def __init__(self, module: str, facts: Mapping[str, object]) -> None:
        self._module = module
        self._token = secrets.token_hex(16)
        self._told = {**facts, "token": self._token}
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self.facts: dict[str, Any] = {}

    def __enter__(self) -> "Helper":
        words = f"from hyperslab.network.seat import sit; sit({self._module!r}, {os.getpid()})"
        self._child = Child(words, _ENVIRONMENT)
        try:
            self.facts = self._exchange(self._told)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.process.pid

    def ask(self, what: str) -> Any:
        """Ask the process for something and return its answer.

        Raises
        ------
        HelperError
            When it is gone.
        """
        if os.getpid() != self._owner:  # forked: the pipes are the owner's
            return self._visitor().ask(what)
        return self._exchange({"ask": what})

    def __reduce__(self) -> tuple[type[Visitor], tuple[str, int, str]]:
        visitor = self._visitor()
        return Visitor, (visitor.module, visitor.port, visitor.token)

    def _visitor(self) -> Visitor:
        return Visitor(self._module, int(self.facts["control"]), self._token)

    def _exchange(self, message: Mapping[str, object]) -> Any:
        told, answers = self._child.told, self._child.answers
        with self._lock:
            try:
                told.write(json.dumps(message).encode() + b"\n")
                told.flush()
                line = answers.readline()
            except (OSError, ValueError):  # the pipe is broken, or closed by `_close`
                line = b""
        if not line:
            raise HelperError(f"the process of {self._module} is gone{self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise HelperError(answer["error"])
        return answer["answer"]

    def _last_words(self) -> str:
        if self._child.forgotten:
            return ": its context was left"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.process.wait(timeout=1)
        return self._child.last_words()

    def _close(self) -> None:
        told, process = self._child.told, self._child.process
        with contextlib.suppress(OSError, ValueError):
            # Closing alone is not enough where a forked child holds the other end too.
            told.write(b'{"ask": "stop"}\n')
            told.flush()
        with contextlib.suppress(OSError):
            told.close()
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            self._child.forget()
