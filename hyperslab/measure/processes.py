"""Start the processes that samples run in."""

import os
import sys
from collections.abc import Sequence

from .child import HELPERS, Child
from .worker import Job, Outcome

# One thread a process: what a numerical library would do in the background is not measured.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

GONE = "HelperError"  # of a server or a link: no further sample can succeed
LOADED: set[str] = set()
"""What samples have imported, of this run: modules of this project, and packages."""


class Processes:
    """Runs jobs in fresh processes: forked from a server, or spawned.

    Parameters
    ----------
    modules : sequence of str
        What the server imports before it forks.

    Raises
    ------
    RuntimeError
        When the server cannot start, with what it printed.

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
        self._server: Child | None = None

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, modules: Sequence[str]) -> None:
        """Have the server import more before it forks."""
        more = tuple(name for name in modules if name not in self._modules)
        self._modules += more
        if self._server and more:
            self._server.ask(more)

    def start(self) -> Child | None:
        """Start the server that forks, where this system can fork safely."""
        if self._server is None and hasattr(os, "fork") and sys.platform != "darwin":
            self._server = _serving(self._modules, once=False)
        return self._server

    def run(self, job: Job) -> Outcome:
        """Run a job the way its case asks for, and return what came of it."""
        outcome = self._run(job)
        LOADED.update(outcome.modules)
        return outcome

    def _run(self, job: Job) -> Outcome:
        outcome: Outcome
        if job.case.start == "fork" and (server := self.start()):
            try:
                outcome = server.ask(job, HELPERS)
            except EOFError:
                self._server = None
                return _lost(f"the server of processes ended{server.end()}")
            return outcome
        child = _serving(self._modules if job.case.start == "spawn" else (), once=True)
        try:
            outcome = child.ask(job, HELPERS)
        except EOFError:
            return _lost(f"the process ended early or ran over {job.timeout_s:g} s")
        finally:
            child.end()
        return outcome

    def close(self) -> None:
        """End the server and whatever it still runs."""
        if self._server:
            self._server.end()
            self._server = None


def _lost(why: str) -> Outcome:
    """Return the outcome of a sample that gave no answer: perhaps what it reads from is gone."""
    gone = [module for helper, module in HELPERS.items() if helper.pipe.poll()]
    return Outcome([], False, f"{GONE}: the process of {gone[0]} is gone" if gone else why)


def _serving(modules: Sequence[str], *, once: bool) -> Child:
    words = f"from hyperslab.measure.worker import serve; serve(pipe, owner, once={once})"
    child = Child(words, _ENVIRONMENT)
    try:
        child.ask((sys.path, tuple(modules)))
    except EOFError as error:
        raise RuntimeError(f"the process for samples cannot start{child.end()}") from error
    return child
