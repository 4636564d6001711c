"""Start the processes that samples run in."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import BinaryIO, cast

from .child import Child
from .worker import Job, Outcome, receive, send

# One thread a process: what a numerical library would do in the background is not measured.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

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
        self._server: _Server | None = None

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> "_Server | None":
        """Start the server that forks, where this system can fork safely."""
        if self._server is None and hasattr(os, "fork") and sys.platform != "darwin":
            self._server = _Server(self._modules, once=False)
        return self._server

    def run(self, job: Job) -> Outcome:
        """Run a job the way its case asks for, and return what came of it."""
        outcome = self._run(job)
        LOADED.update(outcome.modules)
        return outcome

    def _run(self, job: Job) -> Outcome:
        if job.case.start == "fork" and (forking := self.start()):
            try:
                return forking.run(job)
            except EOFError:
                said = forking.close()
                self._server = None
                return Outcome([], False, f"the server of processes ended{said}")
        server = _Server(self._modules if job.case.start == "spawn" else (), once=True)
        try:
            return server.run(job)
        except EOFError:
            return Outcome([], False, f"the process ended early or ran over {job.timeout_s:g} s")
        finally:
            server.close()

    def close(self) -> None:
        """End the server and whatever it still runs."""
        if self._server:
            self._server.close()
            self._server = None


class _Server:
    def __init__(self, modules: Sequence[str], *, once: bool) -> None:
        words = f"from hyperslab.measure.worker import serve; serve({once}, {os.getpid()})"
        self._child = Child(words, _ENVIRONMENT)
        try:
            send(self._in, (sys.path, tuple(modules)))
            receive(self._out)
        except (EOFError, BrokenPipeError) as error:
            raise RuntimeError(f"the process for samples cannot start{self.close()}") from error

    @property
    def _in(self) -> BinaryIO:
        return cast(BinaryIO, self._child.told)

    @property
    def _out(self) -> BinaryIO:
        return cast(BinaryIO, self._child.answers)

    def run(self, job: Job) -> Outcome:
        try:
            send(self._in, job)
        except BrokenPipeError as error:
            raise EOFError("the server is gone") from error
        outcome: Outcome = receive(self._out)
        return outcome

    def close(self) -> str:
        """End the process group; return what it had printed, as the tail of a sentence."""
        process = self._child.process
        for stream in (self._in, self._out):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # with what a sample may have left
        process.wait()
        said = self._child.last_words()
        self._child.forget()
        return said
