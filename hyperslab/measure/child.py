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
    # Living servers and links that this thread started; those of others may end meanwhile.
    def __init__(self) -> None:
        self.modules: dict[Child, str] = {}  # what they run


HELPERS = _Helpers()


class Child:
    """Runs words of Python, which find their end of a pipe in `pipe` and our id in `owner`."""

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
        """Return its answer to a value; an EOFError says that it, or one needed, is gone."""
        try:
            self.pipe.send(value)
            # Others say nothing meanwhile: a pipe of theirs that can be read has ended.
            if self.pipe not in wait([self.pipe, *(other.pipe for other in needed)]):
                raise EOFError("a process that it needs is gone")
            return self.pipe.recv()
        except OSError as error:
            raise EOFError("the process is gone") from error

    def end(self, patience_s: float = 1.0) -> str:
        """End it, after a while with all that it started; return ": " and the last line it said."""
        if self._output.closed:
            return ""
        with contextlib.suppress(OSError):
            self.pipe.send(None)  # closing is not enough where a forked process holds this end too
        self.pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=patience_s)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with self._output as output:
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""
