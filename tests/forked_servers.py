"""Servers of tests, forked from the process that tests: to start Python anew takes half a second.

A module that serves much has `forked = pytest.fixture(scope="module", autouse=True)(forking)`.
"""

import importlib
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import IO

import pytest

from hyperslab.measure.child import Child
from hyperslab.network import seat


def forking() -> Iterator[None]:
    """Have helping processes forked (Linux)."""
    with pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            importlib.import_module("hyperslab.network.answers")
            importlib.import_module("hyperslab.network.proxy")
            patch.setattr("hyperslab.network.helper.Child", Forked)
        yield


class Process:
    """What `subprocess.Popen` has and a helper asks for."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float = 60.0) -> int:
        until = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("a forked helper", timeout)
            time.sleep(0.001)
        return status

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, 9)


class Forked(Child):
    """One of the words of a helper, forked."""

    def __init__(self, words: str, environment: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by forget
        (here, told), (answers, there) = os.pipe(), os.pipe()
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads
            pid = os.fork()
        if not pid:
            _become(words, here, there, self._errors.fileno())
        os.close(here)
        os.close(there)
        self.process = Process(pid, os.fdopen(told, "wb"), os.fdopen(answers, "rb"))


def _become(words: str, told: int, answers: int, errors: int) -> None:
    """Run the words of a helper in this forked process, and nothing else of it."""
    try:
        os.setsid()
        for number, place in enumerate((told, answers, errors)):
            os.dup2(place, number)
        os.closerange(3, 4096)  # connections and pipes of the parent
        sys.stdin = os.fdopen(0)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        exec(words, {"sit": seat.sit})
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)
