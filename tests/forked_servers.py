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
from contextlib import suppress
from multiprocessing import Pipe

import pytest

from hyperslab.measure.child import Child


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

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self, timeout: float = 60.0) -> None:
        until = time.monotonic() + timeout
        with suppress(ChildProcessError):  # it was waited for
            while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > until:
                    raise subprocess.TimeoutExpired("a forked helper", timeout)
                time.sleep(0.001)


class Forked(Child):
    """One of the words of a helper, forked."""

    def __init__(self, words: str, environment: Mapping[str, str]) -> None:
        self.pipe, theirs = Pipe()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads
            pid = os.fork()
        if not pid:
            _become(words, theirs.fileno(), self._output.fileno())
        theirs.close()
        self.process = Process(pid)


def _become(words: str, pipe: int, output: int) -> None:
    """Run the words of a helper in this forked process, and nothing else of it."""
    try:
        owner = os.getppid()
        os.setsid()
        for number, place in enumerate((os.open(os.devnull, os.O_RDONLY), output, output, pipe)):
            os.dup2(place, number)
        os.closerange(4, 4096)  # connections and pipes of the parent
        sys.stdin = os.fdopen(0)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        exec(words, {"pipe": 3, "owner": owner})
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)
