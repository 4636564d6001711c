"""What the tests of the harness run in other processes."""

import operator
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hyperslab.measure import witness
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.processes import Processes
from hyperslab.network import HelperError


def running() -> Iterator[Processes]:
    """Processes that the tests of a module share: a fixture of it."""
    with Processes() as processes:
        yield processes


@dataclass(frozen=True)
class ReadFile:
    path: Path

    def __call__(self, watch: Stopwatch) -> bytes:
        with watch("open"):
            handle = self.path.open("rb", buffering=0)
        with watch("read"):
            data = handle.read()
        with handle, watch("close"):
            handle.close()
        return data


@dataclass(frozen=True)
class WriteFile:
    path: Path
    data: bytes

    def __call__(self, watch: Stopwatch) -> None:
        with watch("write"):
            self.path.write_bytes(self.data)


# Checks that can be sent to other processes: `Is(3)` and `Below(3)` are called with a value.
Is = partial(partial, operator.eq)
Below = partial(partial, operator.gt)


@dataclass(frozen=True)
class LogPlaces:
    """Note the server of processes, and where files lie."""

    log: Path
    path: Path
    stored: Path

    def __call__(self, watch: Stopwatch) -> None:
        places = os.getppid(), self.path.stat().st_ino, self.stored.stat().st_ino
        with watch("read"), self.log.open("a") as log:
            print(*places, file=log)


@dataclass(frozen=True)
class Scatter:
    """Say that it took a second, or in half of all cases so many more."""

    more_s: int

    def __call__(self, watch: Stopwatch) -> None:
        with watch("read"):
            pass
        watch.note(wall_s=1 + self.more_s * (os.urandom(1)[0] % 2))


@dataclass(frozen=True)
class Append:
    """Leave a letter in a file, so that a test sees who ran, and in which order."""

    path: Path
    letter: str

    def __call__(self, watch: Stopwatch) -> None:
        with watch("write"), self.path.open("a") as handle:
            handle.write(self.letter)


@dataclass(frozen=True)
class LogProcess:
    path: Path

    def __call__(self, watch: Stopwatch) -> None:
        with watch("write"), self.path.open("a") as handle:
            handle.write(f"{os.getpid()}\n")


@dataclass(frozen=True)
class Spin:
    seconds: float

    def __call__(self, watch: Stopwatch) -> None:
        with watch("spin"):
            end = time.process_time() + self.seconds
            while time.process_time() < end:
                pass


@dataclass(frozen=True)
class Call:
    function: Callable[[], object]

    def __call__(self, watch: Stopwatch) -> object:
        with watch("call"):
            return self.function()


@dataclass(frozen=True)
class ReadInTurns:
    """Read two files by turns, a byte at a time, each as one phase."""

    first: Path
    second: Path
    turns: int

    def __call__(self, watch: Stopwatch) -> None:
        with (
            self.first.open("rb", buffering=0) as first,
            self.second.open("rb", buffering=0) as second,
        ):
            for turn in range(self.turns):
                with watch.lap("first") as columns:
                    first.read(1)
                columns["useful_bytes"] = turn + 1
                with watch.lap("second"):
                    second.read(3)


process_id = os.getpid
sleep_long = partial(time.sleep, 60)


def raise_error() -> None:
    raise OSError("the disk is on fire")


def resident_mib() -> float:
    """Memory of this process that is resident now, in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class LogAndSleep:
    path: Path

    def __call__(self, watch: Stopwatch) -> None:
        self.path.write_text(f"{os.getpid()} {os.getppid()}\n")
        time.sleep(60)


@dataclass(frozen=True)
class SlowWitness:
    """Make the witness of this process slow in the first tries; a file counts them."""

    counter: Path
    tries: int

    def __call__(self) -> None:
        with self.counter.open("a") as file:
            file.write(".")
        if len(self.counter.read_text()) <= self.tries:
            witness.pace = lambda: 1.0


@dataclass(frozen=True)
class OnceOnly:
    """Fail from the second time on."""

    path: Path

    def __call__(self, watch: Stopwatch) -> None:
        with watch("read"):
            self.path.open("x").close()


@dataclass(frozen=True)
class FailWhile:
    """Fail as long as a file is there."""

    path: Path

    def __call__(self, watch: Stopwatch) -> None:
        if self.path.exists():
            raise OSError("it is broken")
        with watch("work"):
            pass


def gone() -> None:
    """Fail as what asks a server that is gone."""
    raise HelperError("the process of a server is gone")


def process_status(pid: int) -> tuple[str, int] | None:
    """Return the state and the parent of a process; None when it is gone (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else (fields[0], int(fields[1]))


def until(true: Callable[[], bool], seconds: float = 20) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, "it does not end"
        time.sleep(0.02)
