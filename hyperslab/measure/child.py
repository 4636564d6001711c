"""A Python process that works for this one: one pipe to it, and what it had to say."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any


class _Helpers(threading.local):
    """Living servers and links that this thread started; those of others may end meanwhile."""

    def __init__(self) -> None:
        self.modules: dict[Child, str] = {}  # what they run


HELPERS = _Helpers()


class Child:
    """Runs words of Python in a process of its own, whose output is kept.

    The words find the number of their end of the pipe in `pipe`, and this process's id in `owner`.

    Examples
    --------
    >>> child = Child(
    ...     "from multiprocessing.connection import Connection; import sys\\n"
    ...     "end = Connection(pipe); end.send(end.recv() + 1); sys.exit('no more')", {}
    ... )
    >>> child.ask(1), child.end()
    (2, ': no more')
    """

    def __init__(self, words: str, environment: Mapping[str, str]) -> None:
        self.pipe, theirs = Pipe()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"pipe, owner = {theirs.fileno()}, {os.getpid()}\n{words}"],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env=os.environ | dict(environment) | {"PYTHONPATH": os.pathsep.join(sys.path)},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for this process, which then ends the child
            )

    def ask(self, value: object, needed: Iterable["Child"] = ()) -> Any:
        """Send it a value and return its answer; an EOFError says that it, or one needed, is gone.

        Others say nothing meanwhile: a pipe of theirs that can be read has ended.
        """
        try:
            self.pipe.send(value)
            if self.pipe not in wait([self.pipe, *(other.pipe for other in needed)]):
                raise EOFError("a process that it needs is gone")
            return self.pipe.recv()
        except OSError as error:
            raise EOFError("the process is gone") from error

    def last_words(self) -> str:
        """Return the last line that it printed, as the tail of a sentence; empty without any."""
        if self._output.closed:
            return ": its context was left"
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def end(self, patience_s: float = 1.0) -> str:
        """End it, after a while with all that it started; return its last words."""
        with contextlib.suppress(OSError):
            self.pipe.send(None)  # closing is not enough where a forked process holds this end too
        self.pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=patience_s)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        words = self.last_words()
        self._output.close()
        return words
