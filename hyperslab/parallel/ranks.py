"""End the ranks of a job, and say what went wrong with them."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from .launcher import OVERRIDE, Launcher
from .mpi_errors import DiedError, ParallelError, RanksError

WRONG_JOB = 64  # exit status of a program in a job of another size than it was told
_TRY = "whether a small job runs here is told by `hyperslab doctor`"
_MEMORY = (
    "the memory may be too small, so ask for fewer ranks or give them less to write "
    "(`hyperslab doctor` says how much there is)"
)
_GRACE_S = 3.0


def explain(output: str, status: int, ranks: int, launcher: Launcher) -> ParallelError:
    name = Path(launcher.words[0]).name
    if status == WRONG_JOB or "hyperslab: a job of" in output or "unsupported PMI" in output:
        match = re.search(r"a job of (\d+)", output)
        what = f"jobs of {match[1]}" if match else "no common job"
        return RanksError(
            f"{ranks} ranks were asked for and {name} started {what}: it belongs to another MPI "
            "than the program was built with; use the launcher beside that MPI's compiler, or "
            f"name it in {OVERRIDE}"
        )
    if re.search(r"not enough slots|More processors requested than permitted", output):
        return ParallelError(
            f"{name} has not enough slots for a job of {ranks}: ask for fewer ranks, or give the "
            "job more (for a batch system: its number of tasks)"
        )
    if match := re.search(r"hyperslab: rank (\d+): (.+)", output):
        remedy = ": make room, or choose another folder" if "No space left" in match[2] else ""
        return ParallelError(f"rank {match[1]} of {ranks}: {match[2]}{remedy}")
    rank = re.search(r"(?:process rank|RANK) (\d+)", output)
    who = f"{f'rank {rank[1]}' if rank else 'a rank'} of {ranks}"
    by = re.search(r"(?:on signal|BY SIGNAL:|\(signal) *(\d+)", output)
    exits = re.search(r"(?:EXIT CODE|Exit code): *(\d+)", output)
    if exits and not by:
        return ParallelError(f"{who} ended with status {exits[1]}; {_TRY}")
    # What a launcher says last may be lost; a shell's way to tell a signal, 128 more, is not.
    number = int(by[1]) if by else -status if status < 0 else status - 128
    if by or 0 < number < signal.NSIG:
        killed = next((s.name for s in signal.Signals if s == number), f"signal {number}")
        remedy = f": {_MEMORY}" if number == signal.SIGKILL else f"; {_TRY}"
        return DiedError(f"{who} was killed by {killed}{remedy}")
    tail = [line for line in output.splitlines() if line.strip(" -=|*")][-3:]
    return ParallelError(f"{name} ended with status {status}: {' / '.join(tail)[-300:]}; {_TRY}")


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a launcher and all that it started; what has ended already costs nothing."""
    if process.poll() is None:
        process.terminate()  # it ends its ranks, on other machines too
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    until = time.monotonic() + _GRACE_S
    while left := session(process.pid):
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            break
        time.sleep(0.01)
    process.wait()


def session(leader: int) -> list[int]:
    """Return the processes of a session that still run: ranks have that of the launcher (Linux)."""
    running = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            state, _, _, session_id = path.read_text().rpartition(")")[2].split()[:4]
            if int(session_id) == leader and state not in "ZX":
                running.append(int(path.parent.name))
    return running
