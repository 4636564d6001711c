"""What the tests of the harness run in other processes: `ReadFile(path)` is called with a watch."""

import operator
import os
import signal
import time
from functools import partial
from pathlib import Path

from hyperslab.measure import witness
from hyperslab.measure.processes import Processes
from hyperslab.network import HelperError

# Checks that can be sent to other processes: `Is(3)` and `Below(3)` are called with a value.
Is = partial(partial, operator.eq)
Below = partial(partial, operator.gt)


def running():
    """Processes that the tests of a module share: a fixture of it."""
    with Processes() as processes:
        yield processes


def _read_file(path, watch):
    with watch("open"):
        handle = path.open("rb", buffering=0)
    with watch("read"):
        data = handle.read()
    with handle, watch("close"):
        handle.close()
    return data


def _write_file(path, data, watch):
    with watch("write"):
        path.write_bytes(data)


def _log_places(log, path, stored, watch):
    """Note the server of processes, and where files lie."""
    places = os.getppid(), path.stat().st_ino, stored.stat().st_ino
    with watch("read"), log.open("a") as file:
        print(*places, file=file)


def _scatter(more_s, watch):
    """Say that it took a second, or in half of all cases so many more."""
    with watch("read"):
        pass
    watch.note(wall_s=1 + more_s * (os.urandom(1)[0] % 2))


def _append(path, letter, watch):
    """Leave a letter in a file, so that a test sees who ran, and in which order."""
    with watch("write"), path.open("a") as handle:
        handle.write(letter)


def _log_process(path, watch):
    with watch("write"), path.open("a") as handle:
        handle.write(f"{os.getpid()}\n")


def _spin(seconds, watch):
    with watch("spin"):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass


def _call(function, watch):
    with watch("call"):
        return function()


def _read_in_turns(first, second, turns, watch):
    """Read two files by turns, a byte at a time, each as one phase."""
    with first.open("rb", buffering=0) as one, second.open("rb", buffering=0) as other:
        for turn in range(turns):
            with watch.lap("first") as columns:
                one.read(1)
            columns["useful_bytes"] = turn + 1
            with watch.lap("second"):
                other.read(3)
    with watch("whole"):
        pass


def _log_and_sleep(path, watch):
    path.write_text(f"{os.getpid()} {os.getppid()}\n")
    time.sleep(60)


def _kill_and_sleep(pid, watch):
    os.kill(pid, signal.SIGKILL)
    time.sleep(60)


def _once_only(path, watch):
    """Fail from the second time on."""
    with watch("read"):
        path.open("x").close()


def _fail_while(path, watch):
    """Fail as long as a file is there."""
    if path.exists():
        raise OSError("it is broken")
    with watch("work"):
        pass


def _slow_witness(counter, tries):
    """Make the witness of this process slow in the first tries; a file counts them."""
    with counter.open("a") as file:
        file.write(".")
    if len(counter.read_text()) <= tries:
        witness.pace = lambda: 1.0


ReadFile, WriteFile = partial(partial, _read_file), partial(partial, _write_file)
LogPlaces, LogProcess = partial(partial, _log_places), partial(partial, _log_process)
Append, Scatter = partial(partial, _append), partial(partial, _scatter)
Spin, Call = partial(partial, _spin), partial(partial, _call)
ReadInTurns, LogAndSleep = partial(partial, _read_in_turns), partial(partial, _log_and_sleep)
KillAndSleep = partial(partial, _kill_and_sleep)
OnceOnly, FailWhile = partial(partial, _once_only), partial(partial, _fail_while)
SlowWitness = partial(partial, _slow_witness)  # called with nothing


def raise_error():
    raise OSError("the disk is on fire")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def gone():
    """Fail as what asks a server that is gone."""
    raise HelperError("the process of a server is gone")


def resident_mib():
    """Memory of this process that is resident now, in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def process_status(pid):
    """Return the state and the parent of a process; None when it is gone (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else (fields[0], int(fields[1]))


def until(true, seconds=20):
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, "it does not end"
        time.sleep(0.02)
