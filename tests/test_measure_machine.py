"""What a sample has of the machine: memory and caches in a known state, and nothing left behind."""

import math
import mmap
import os
import platform
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from samples import Below, Call, ReadFile, die, living, on_fire, resident_mib, until

from hyperslab.io.cards import CARDS, readers
from hyperslab.measure import cold, machine, memory, worker
from hyperslab.measure import sweep as module
from hyperslab.measure.case import Case
from hyperslab.measure.cold import ColdCacheError, evict, resident_fraction, warm
from hyperslab.measure.processes import Processes
from hyperslab.measure.sweep import LINE_BYTES, sweep
from hyperslab.measure.worker import Job, perform, run_nothing


def test_a_host_that_takes_freed_memory_is_known_by_its_balloon(tmp_path):
    device = tmp_path / "devices" / "virtio0"
    device.mkdir(parents=True)
    for driver, features, told in (
        ("virtio_balloon", "01100101", True),
        ("virtio_balloon", "01100001", False),
        ("virtio_blk", "11111111", False),
    ):
        (device / "features").write_text(features + 56 * "0" + "\n")
        (device / "driver").unlink(missing_ok=True)
        (device / "driver").symlink_to(tmp_path / driver)
        assert machine.host_takes_freed_memory(tmp_path / "devices") is told


@pytest.mark.parametrize(
    ("membership", "limits", "told"),
    [
        ("4:memory:/jobs/one", {"memory/jobs/one/memory.limit_in_bytes": 2**22}, 2**22),
        ("4:memory:/jobs/one", {"memory/jobs/one/memory.limit_in_bytes": 2**63 - 4096}, 2**40),
        ("0::/jobs/one", {"jobs/one/memory.max": "max", "jobs/memory.max": 2**24}, 2**24),
        ("3:cpuset:/jobs", {"jobs/memory.max": 2**24}, 2**40),
    ],
)
def test_memory_is_what_the_control_groups_leave(tmp_path, monkeypatch, membership, limits, told):
    monkeypatch.setattr(machine, "memory_bytes", lambda: 2**40)
    known = tmp_path / "known"
    known.write_text(membership + "\n")
    for name, limit in limits.items():
        place = tmp_path / "groups" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{limit}\n")
    assert machine.memory_limit_bytes(known, tmp_path / "groups") == told
    assert machine.memory_limit_bytes(tmp_path / "none", tmp_path / "groups") == 2**40


def test_what_a_reader_needs_and_what_decides_requests_has_a_version_in_the_records():
    known = machine.versions()
    here = {name for place in ("file", "http", "s3") for name in readers(place=place)}
    libraries = {card.library for card in CARDS if card.name in here}
    assert libraries and all(machine.library_version(name, known) for name in libraries)
    asking = {"aiohttp", "fsspec", "hidefix", "kerchunk", "obstore", "s3fs", "virtualizarr"}
    imported = {module for card in CARDS for module in card.requires} - {"obspec_utils"}
    assert asking | imported <= set(machine.PACKAGES)


def test_as_much_as_a_read_may_want_within_limits(tmp_path, monkeypatch):
    def wanted(size, beyond=0, **how):
        with (tmp_path / "file").open("wb") as file:
            file.truncate(size)
        return memory.wanted_bytes([tmp_path], beyond, **how)

    monkeypatch.setattr(memory, "memory_limit_bytes", lambda: 2**40)
    assert wanted(2**20) == 0  # too little to matter
    assert wanted(2**23) == 3 * 2**23 and wanted(2**20, 2**26) == 3 * 2**20 + 2**26
    assert wanted(memory.FEW_BYTES, 5) == memory.FEW_BYTES + 5
    assert wanted(memory.FEW_BYTES, 5, whole=False) == memory.FEW_BYTES
    assert wanted(memory.FEW_BYTES, 2**28, whole=False) == 2**28  # it is known to take that
    assert wanted(2 * memory.MOST_BYTES) == memory.MOST_BYTES
    monkeypatch.setattr(memory, "memory_limit_bytes", lambda: 8 * 2**20)
    assert wanted(2**23) == 2**20


def test_memory_is_written_to_and_given_back(monkeypatch):
    monkeypatch.setattr(memory, "RECENT_S", 0.0)
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        memory.touch(512 * 2**20)  # more than the C library keeps of what was freed before
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        assert faults >= 256  # a page of 2 MiB each at the largest


def test_before_reads_whose_cache_is_set_and_not_of_toys(tmp_path, monkeypatch):
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(memory.FEW_BYTES + 5)
    taken = []
    monkeypatch.setattr(worker, "touch", taken.append)
    for state, sweeps in (("warm", True), ("cold", True), ("", True), ("warm", False)):
        perform(Job(Case("a", run_nothing, files=(path,), cache_state=state), sweeps=sweeps))
    assert taken == [memory.FEW_BYTES + 5, memory.FEW_BYTES]


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ([0.5, 0.998, 1.0], "ok"),
        ([0.998] * worker.WARMINGS, "only 99.8% of the file is in the page cache"),
    ],
)
def test_a_file_that_never_stays_is_lost_and_one_that_stays_at_last_is_read(
    tmp_path, monkeypatch, shares, told
):
    (tmp_path / "values").write_bytes(bytes(8192))
    left = iter(shares)
    monkeypatch.setattr(worker, "resident_fraction", lambda files: next(left))
    case = Case("read", run_nothing, files=(tmp_path,), cache_state="warm")
    outcome = perform(Job(case, sweeps=False))
    assert told in outcome.status and next(left, None) is None
    assert told == "ok" or not outcome.rows


HELD = """
import numpy as np
from hyperslab.measure.memory import give_back
from samples import resident_mib

give_back()
np.ones(30 * 2**17)  # glibc holds back twice as much as the largest that was freed so
before = resident_mib()
several = [bytes(range(256)) * 400 for _ in range(400)]
del several
print(int(resident_mib() - before))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a way of glibc")
def test_what_is_freed_is_given_back():
    """Else it would be 20 MiB and more."""
    # a cluster of processes that a test before started leaves MALLOC_TRIM_THRESHOLD_ behind
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    words = [sys.executable, "-c", HELD]
    assert int(subprocess.check_output(words, text=True, env=env | PATHS)) <= 2


PATHS = {"PYTHONPATH": os.pathsep.join(sys.path)}
linux = pytest.mark.skipif(sys.platform != "linux", reason="evicts, counts and ends as Linux does")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(b"x" * (4 * 2**20 + 17))
    return path


@linux
def test_what_is_evicted_is_out_and_what_is_warm_is_in(tmp_path, file):
    for name in ("a/0.0", "a/0.1", "zarr.json"):
        path = tmp_path / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"y" * 20_000)
    both = [file, tmp_path / "store"]
    warm(both)
    assert [resident_fraction([each]) for each in both] == [1, 1]
    evict(both)
    assert [resident_fraction([each]) for each in both] == [0, 0]


@linux
@pytest.mark.parametrize("call", [cold._CACHESTAT, 9999], ids=["cachestat", "mincore"])
def test_part_of_a_file_counts_as_part(file, monkeypatch, call):
    monkeypatch.setattr(cold, "_CACHESTAT", call)  # no kernel has the last
    evict([file])
    with file.open("rb", buffering=0) as handle:
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        handle.read(2**20)
    assert 0.2 < resident_fraction([file]) < 0.3


@linux
def test_mapped_file_cannot_be_evicted_and_says_so(file):
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[i] for i in range(0, len(mapped), mmap.PAGESIZE)) > 0
        with pytest.raises(ColdCacheError, match=r"stays in the page cache.*mapped"):
            evict([file])


def test_on_macos_warm_reads_are_measured_and_what_nobody_counts_is_unknown(file, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ColdCacheError, match="Linux only"):
        evict([file])
    states = ("warm", "cold")
    cases = [Case("a", ReadFile(file), files=(file,), cache_state=state) for state in states]
    warmed, cooled = (perform(Job(case)) for case in cases)
    assert warmed.status == "ok" and math.isnan(warmed.rows[0]["resident_before"])
    assert "Linux only" in cooled.status


@pytest.mark.parametrize(("length", "parts"), [(1, 2), (64, 3), (1001, 2)])
def test_the_parts_touch_every_line(monkeypatch, length, parts):
    read = set()

    class Words(list):
        def __getitem__(self, taken):
            read.update(range(*taken.indices(length)))
            return np.zeros(1)

    monkeypatch.setattr(module, "filler", lambda: Words(range(length)))
    for part in range(parts):
        sweep(part, parts)
    each = LINE_BYTES // 8
    assert {word // each for word in read} == set(range(-(-length // each)))


def test_a_warm_sample_that_ends_early_is_lost_and_the_next_reads_a_half(tmp_path):
    (tmp_path / "a").write_bytes(bytes(10**6))
    warm = {"files": (tmp_path / "a",), "cache_state": "warm"}
    with Processes() as processes:
        dead = processes.run(Job(Case("dead", run_nothing, prepare=die, **warm)))
        lost = processes.run(Job(Case("lost", run_nothing, prepare=on_fire, **warm)))
        well = processes.run(Job(Case("well", run_nothing, **warm)))
    assert "signal SIGKILL" in dead.status and "on fire" in lost.status
    assert well.status == "ok"


@linux
def test_only_warm_reads_pay_for_the_filler_of_the_cache():
    """It is as large as the processor's last cache, and would count as a sample's memory."""
    with Processes() as fresh:
        for state in ("", "cold"):
            case = Case("size", Call(resident_mib), check=Below(100), cache_state=state)
            assert fresh.run(Job(case)).status == "ok"


RUN = """
import sys
from pathlib import Path
from samples import Log
from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

with Processes() as processes:
    processes.run(Job(Case("long", Log(Path(sys.argv[1]), [], 60))))
"""


@linux
def test_what_a_killed_run_was_measuring_ends_with_it(tmp_path):
    log = tmp_path / "pids"
    run = subprocess.Popen([sys.executable, "-c", RUN, str(log)], env=os.environ | PATHS)
    try:
        until(lambda: log.exists() and log.read_text().endswith("\n"))
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    started = {int(pid) for pid in log.read_text().split()}
    assert len(started) == 2  # the sample's process, and what it came from
    until(lambda: not started & living().keys())


@linux
def test_a_parent_that_is_gone_already_is_noticed():
    code = "from hyperslab.measure.parent import die_with; die_with(1); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
