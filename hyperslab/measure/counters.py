"""What the operating system counts for a process: CPU, page faults, bytes and calls."""

import os
import resource
import time
from dataclasses import dataclass, fields
from pathlib import Path

_IO_FIELDS = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes")


@dataclass(frozen=True)
class Counts:
    """Counters of this process at one moment, or the difference of two moments."""

    wall_s: float = 0.0
    user_s: float = 0.0
    sys_s: float = 0.0
    minflt: float = 0.0  # page faults without a read from disk
    majflt: float = 0.0  # and with one
    rchar: float = 0.0  # bytes passed through read calls
    wchar: float = 0.0
    syscr: float = 0.0  # read calls
    syscw: float = 0.0
    read_bytes: float = 0.0  # fetched from the storage device
    write_bytes: float = 0.0  # dirtied for it

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


class Counters:
    """Read the counters of this process, without what reading them costs; made in each process."""

    def __init__(self) -> None:
        try:
            self._fd: int | None = os.open("/proc/self/io", os.O_RDONLY)
        except OSError:  # not Linux, or hidden: the counts are absent, not zero
            self._fd = None
        self._own_chars = self._own_calls = 0

    def start(self) -> Counts:
        """Return the counters, the clock read last."""
        io = self._io()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return _counts(time.perf_counter(), usage, io)

    def stop(self) -> Counts:
        """Return the counters, the clock read first."""
        now = time.perf_counter()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return _counts(now, usage, self._io())

    def _io(self) -> dict[str, float]:
        if self._fd is None:
            return dict.fromkeys(_IO_FIELDS, float("nan"))
        text = os.pread(self._fd, 512, 0)
        counts = dict(line.split(": ") for line in text.decode().splitlines())
        table = {name: float(counts[name]) for name in _IO_FIELDS}
        # The system counts these looks themselves, one later; their length changes with the counts.
        table["rchar"] -= self._own_chars
        table["syscr"] -= self._own_calls
        self._own_chars += len(text)
        self._own_calls += 1
        return table


def _counts(now: float, usage: resource.struct_rusage, io: dict[str, float]) -> Counts:
    return Counts(
        now, usage.ru_utime, usage.ru_stime, float(usage.ru_minflt), float(usage.ru_majflt), **io
    )


def machine_cpu_s() -> float:
    """Return the CPU time of all programs on this process's cores, in s; NaN where unknown."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
        own_cores = {f"cpu{i}" for i in os.sched_getaffinity(0)}
    except (OSError, AttributeError):
        return float("nan")
    ticks = 0
    for line in lines:
        name, *numbers = line.split()
        if name in own_cores:
            user, nice, system, _idle, _wait, irq, softirq, steal, *_ = map(int, numbers)
            ticks += user + nice + system + irq + softirq + steal  # what a hypervisor took
    return float(ticks) / os.sysconf("SC_CLK_TCK")


def tree_cpu_s() -> float:
    """Return the CPU time, in seconds, of this process and its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
