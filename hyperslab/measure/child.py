"""A Python process that is told what to do by its standard input, and what it had to say."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import IO


class Child:
    """Runs words of Python in a process of its own, whose errors are kept.

    Parameters
    ----------
    words : str
        What it runs.
    environment : mapping
        What stands in its environment beside this process's.

    Examples
    --------
    >>> child = Child("import sys; print(sys.stdin.readline()); sys.exit('no more')", {})
    >>> _ = child.told.write(b"hello"), child.told.close()
    >>> child.answers.read().strip(), child.process.wait(), child.last_words()
    (b'hello', 1, ': no more')
    >>> child.forget()
    """

    def __init__(self, words: str, environment: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by forget
        self.process = subprocess.Popen(
            [sys.executable, "-c", words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | dict(environment) | {"PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,  # Ctrl-C is for this process, which then ends the child
        )

    @property
    def told(self) -> IO[bytes]:
        """Where it is told something."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def answers(self) -> IO[bytes]:
        """Where it answers."""
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def forgotten(self) -> bool:
        """Whether what it said is gone."""
        return self._errors.closed

    def last_words(self) -> str:
        """Return the last line of its errors, as the tail of a sentence; empty without any."""
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return f": {said[-1]}" if said else ""

    def forget(self) -> None:
        """Close what is left of it, once it has ended."""
        self.answers.close()
        self._errors.close()
