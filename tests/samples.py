"""What the tests of the harness run in other processes: `ReadFile(path)` is called with a watch."""

import operator
import os
import re
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

from hyperslab.measure import witness

# Checks that can be sent to other processes: `Is(3)` and `Below(3)` are called with a value.
Is = partial(partial, operator.eq)
Below = partial(partial, operator.gt)


def _read_file(path, watch):
    with watch("open"):
        handle = path.open("rb", buffering=0)
    with watch("read"):
        data = handle.read()
    with handle, watch("close"):
        handle.close()
    return data


def _log(log, files, seconds, watch):
    """Note the process, the server it came from, and where files lie; stay for a while."""
    places = os.getpid(), os.getppid(), *(path.stat().st_ino for path in files)
    with watch("read"), log.open("a") as file:
        print(*places, file=file)
    time.sleep(seconds)


def _scatter(more_s, watch):
    """Say that it took a second, or in half of all cases so many more."""
    with watch("read"):
        pass
    watch.note(wall_s=1 + more_s * (os.urandom(1)[0] % 2))


def _append(path, letter, watch):
    """Leave a letter in a file, so that a test sees who ran, and in which order."""
    with watch("write"), path.open("a") as handle:
        handle.write(letter)


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


def _slow_witness(counter, tries):
    """Make the witness of this process slow in the first tries; a file counts them."""
    with counter.open("a") as file:
        file.write(".")
    if len(counter.read_text()) <= tries:
        witness.pace = lambda: 1.0


def _raise(error):
    raise error


ReadFile, ReadInTurns = partial(partial, _read_file), partial(partial, _read_in_turns)
Append, Log = partial(partial, _append), partial(partial, _log)
Spin, Scatter = partial(partial, _spin), partial(partial, _scatter)
Call = partial(partial, _call)
# These are called with nothing.
SlowWitness, Raise = partial(partial, _slow_witness), partial(partial, _raise)
on_fire = Raise(OSError("the disk is on fire"))
die = partial(signal.raise_signal, signal.SIGKILL)


def resident_mib():
    """Memory of this process that is resident now, in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def living():
    """Processes that have not ended: the words of each, by its number."""
    said = subprocess.check_output(["ps", "axww", "-o", "pid=,stat=,args="], text=True)
    found = re.findall(r"^ *(\d+) +[^Z ]\S* +(.*)", said, re.MULTILINE)
    return {int(pid): words for pid, words in found}


def until(true, seconds=20):
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, "it does not end"
        time.sleep(0.02)
