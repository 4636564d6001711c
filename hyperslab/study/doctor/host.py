"""The work directory, the memory and the cores, and who else uses them."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hyperslab.measure import cold, counters, lock, machine

from .finding import Finding

GIB = 2**30
DISK_STOPS_GIB, DISK_SCARCE_GIB, MEMORY_SCARCE_GIB = 1, 5, 4
BUSY = 0.10  # of the machine's CPU used by others: runs are marked above it
WATCH_S = 0.5
ELSEWHERE = "choose another: hyperslab run --workdir FOLDER"


def existing(work: Path) -> Path:
    """Return the folder that is, or will hold, the work directory.

    Examples
    --------
    >>> existing(Path("/no/such/folder"))
    PosixPath('/')
    """
    folder = work.resolve()
    while not folder.exists():
        folder = folder.parent
    return folder


def work_directory(work: Path) -> Iterator[Finding]:
    """Look at where data will go: room, and whether reads from it can be made cold."""
    folder = existing(work)
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as probe:
            probe.write(bytes(1 << 20))
            probe.flush()
            yield _disk(folder)
            yield _cold(Path(probe.name))
    except OSError as error:
        text = f"the work directory cannot be written: {error.strerror}"
        yield Finding("disk", "problem", text, ELSEWHERE)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / GIB
    kind = machine.file_system(folder)
    text = f"{free:,.1f} GiB free in the work directory{f', {kind}' * bool(kind)}"
    if free >= DISK_SCARCE_GIB:
        return Finding("disk", "ok", text)
    state = "problem" if free < DISK_STOPS_GIB else "note"
    text += ": too little" + " for the larger profiles" * (state == "note")
    return Finding("disk", state, text, f"make room, or {ELSEWHERE}")


def _cold(probe: Path) -> Finding:
    try:
        cold.evict([probe])
    except OSError as error:
        reason = str(error).replace(probe.name, "a file in the work directory")
        return Finding("cold cache", "note", f"cold reads are left out: {reason}")
    means = "cachestat" if _has_cachestat(probe) else "mincore"
    return Finding("cold cache", "ok", f"files can be evicted, verified by {means}")


def _has_cachestat(probe: Path) -> bool:
    with probe.open("rb") as file:
        return cold._cachestat(file.fileno()) is not None


def memory() -> Finding:
    """Look at the memory of the machine."""
    total = machine.memory_bytes() / GIB
    text = f"{total:.1f} GiB"
    if total >= MEMORY_SCARCE_GIB:
        return Finding("memory", "ok", text)
    return Finding("memory", "note", f"{text}: the larger profiles may not fit")


def processor() -> Iterator[Finding]:
    """Look at the cores, at what else runs on them, and for another measuring run."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    text = f"{cores} of {machine.cpu_model()}"
    if cores == 1:
        text += ": the harness shares its core with what it measures, times will be noisy"
    yield Finding("cores", "note" if cores == 1 else "ok", text)
    try:
        with lock.measuring():
            pass
    except lock.BusyError as error:
        yield Finding("busy", "problem", str(error))
        return
    except OSError as error:
        text = f"the lock of measuring runs cannot be taken: {error.strerror}"
        yield Finding("busy", "problem", text, "another user left it: remove it as root")
        return
    share = others_share(cores or 1)
    text = f"other programs use {share:.0%} of the CPU"
    if share <= BUSY:
        yield Finding("busy", "ok", text)
    else:
        yield Finding("busy", "note", f"{text}: what is measured now will be marked or void")


def others_share(cores: int, watch_s: float = WATCH_S) -> float:
    """Return the share of the CPU, 0 to 1, that programs other than this one use now.

    Examples
    --------
    >>> 0 <= others_share(2, watch_s=0.02) <= 1
    True
    """
    began, busy, mine = time.perf_counter(), counters.machine_cpu_s(), counters.tree_cpu_s()
    time.sleep(watch_s)
    elapsed = time.perf_counter() - began
    busy = counters.machine_cpu_s() - busy
    used = busy - (counters.tree_cpu_s() - mine)
    share = used / (elapsed * cores) if busy == busy else os.getloadavg()[0] / cores
    return min(1.0, max(0.0, share))
