"""Start the processes that samples run in."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from .child import HELPERS, Child
from .worker import Job, Outcome

# One thread a process: what a numerical library would do in the background is not measured.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

GONE = "HelperError"  # of a server or a link: no further sample can succeed
LOADED: set[str] = set()
"""What samples have imported, of this run: modules of this project, and packages."""
MOST_SERVERS = 16
"""How many servers wait at a time: each holds the libraries in memory of its own."""


class Processes:
    """Runs jobs in fresh processes: forked from one of several servers, or new interpreters.

    Parameters
    ----------
    modules : sequence of str
        What the server imports before it forks.

    Raises
    ------
    RuntimeError
        When a server cannot start, with what it printed.

    Examples
    --------
    >>> from hyperslab.measure.case import Case
    >>> from hyperslab.measure.worker import Job, run_nothing
    >>> with Processes() as processes:
    ...     processes.run(Job(Case("nothing", run=run_nothing))).status
    'ok'
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = tuple(modules)
        self._servers: dict[int, Child] = {}  # the one used last is the last
        self._number = 0

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        while self._servers:
            self._servers.popitem()[1].end()

    def load(self, modules: Sequence[str]) -> None:
        """Have the server import more before it forks."""
        more = tuple(name for name in modules if name not in self._modules)
        self._modules += more
        for server in self._servers.values() if more else ():
            server.ask((sys.path, more))

    def turn_to(self, number: int) -> None:
        """Have the server of this number fork from now on; it is started when it is needed."""
        self._number = number
        if number in self._servers:
            self._servers[number] = self._servers.pop(number)
        while len(self._servers) > MOST_SERVERS:
            self._servers.pop(next(iter(self._servers))).end()

    def start(self, more: Iterable[int] = ()) -> Child | None:
        """Start the server that forks, where this system can fork safely, and more at one go."""
        if not hasattr(os, "fork") or sys.platform == "darwin":
            return None
        missing = [n for n in dict.fromkeys([self._number, *more]) if n not in self._servers]
        started = {n: _start_child(self._modules, once=False) for n in missing[:MOST_SERVERS]}
        self._servers |= started  # while one imports, so does the next
        for number, server in started.items():
            try:
                _await(server)
            except RuntimeError:
                del self._servers[number]
                raise
        return self._servers[self._number]

    def run(self, job: Job) -> Outcome:
        """Run a job the way its case asks for, and return what came of it."""
        outcome: Outcome = self._run(job)
        LOADED.update(outcome.modules)
        return outcome

    def _run(self, job: Job) -> Any:
        called = callable(job.case.run)  # else it is a command
        if called and (server := self.start()):
            try:
                return server.ask(job, HELPERS.modules)
            except EOFError:
                del self._servers[self._number]
                return _lost(f"the server of processes ended{server.end()}")
        child = _start_child(self._modules if called else (), once=True)
        _await(child)
        try:
            return child.ask(job, HELPERS.modules)
        except EOFError:
            return _lost(f"the process ended early or ran over {job.timeout_s:g} s")
        finally:
            child.end()


def _lost(why: str) -> Outcome:
    """Return the outcome of a sample that gave no answer: perhaps what it reads from is gone."""
    gone = [module for helper, module in HELPERS.modules.items() if helper.pipe.poll()]
    return Outcome([], False, f"{GONE}: the process of {gone[0]} is gone" if gone else why)


def _start_child(modules: Sequence[str], *, once: bool) -> Child:
    words = f"from hyperslab.measure.worker import serve; serve(pipe, owner, once={once})"
    child = Child(words, _ENVIRONMENT)
    child.pipe.send((sys.path, tuple(modules)))
    return child


def _await(child: Child) -> None:
    try:
        child.pipe.recv()
    except (EOFError, OSError) as error:
        raise RuntimeError(f"the process for samples cannot start{child.end()}") from error
