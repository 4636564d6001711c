"""A process that works beside this one and ends with it, however this one ends.

It gets what it needs over a pipe, so that no credential stands in a list of processes. Its owner,
and the owner's other processes, such as those of samples, ask it at a port of loopback with a
token.
"""

import json
import os
import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hyperslab.measure.child import HELPERS, Child

PATIENCE_S = 5.0  # of one that was told to stop, before it is ended
ANSWER_S = 30.0
# Plain HTTP needs no certificates, and reading them is half the time that aiohttp takes to load.
_ENVIRONMENT = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}


class HelperError(RuntimeError):
    """A helping process could not start, or is gone."""


@dataclass(frozen=True)
class Visitor:
    """Asks the helping process that runs a module at a port of 127.0.0.1."""

    module: str
    port: int
    token: str = field(repr=False)

    def ask(self, what: str) -> Any:
        """Ask the process for something and return its answer; HelperError when it is gone."""
        line = b""
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_S) as connection,
            connection.makefile("rwb") as stream,
        ):
            stream.write(json.dumps({"token": self.token, "ask": what}).encode() + b"\n")
            stream.flush()
            line = stream.readline()
        if not line:
            raise HelperError(f"the process of {self.module} is gone")
        return json.loads(line)["answer"]


class Helper:
    """Runs the function `main` of a module, which takes a `Seat`, in a process of its own.

    Parameters
    ----------
    module : str
    facts : mapping
        What the module needs to know.

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
        self._given = {**facts, "token": secrets.token_hex(16)}
        self.facts: dict[str, Any] = {}

    def __enter__(self) -> "Helper":
        words = f"from hyperslab.network.seat import sit; sit(pipe, owner, {self._module!r})"
        self._child = Child(words, _ENVIRONMENT)
        try:
            self.facts = self._child.ask(self._given)
        except EOFError:
            gone = f"the process of {self._module} is gone{self._child.end(PATIENCE_S)}"
            raise HelperError(gone) from None
        except BaseException:
            self._child.end(PATIENCE_S)
            raise
        if error := self.facts.get("error"):
            self._child.end(PATIENCE_S)
            raise HelperError(error)
        token = str(self._given["token"])
        self._visitor = Visitor(self._module, int(self.facts["control"]), token)
        HELPERS.modules[self._child] = self._module
        return self

    def __exit__(self, *_: object) -> None:
        del HELPERS.modules[self._child]
        self._child.end(PATIENCE_S)

    def ask(self, what: str) -> Any:
        """Ask the process for something and return its answer; HelperError when it is gone."""
        try:
            return self._visitor.ask(what)
        except HelperError as error:
            raise HelperError(f"{error}{self._child.last_words()}") from None

    def __reduce__(self) -> tuple[type[Visitor], tuple[str, int, str]]:
        return Visitor, (self._visitor.module, self._visitor.port, self._visitor.token)
