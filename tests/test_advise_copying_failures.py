"""What kept a copy from being made, in one line."""

import errno
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from hyperslab.advise.copying import failures
from hyperslab.advise.copying.failures import NoRoomError, error_of, explained, require_room
from hyperslab.advise.copying.room import MemoryLimitError
from hyperslab.advise.report.compare import WrongValuesError
from hyperslab.advise.source import SourceError
from hyperslab.io import Layout, write_array

MIB = 2**20


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        ("SourceError: a.nc is gone: look", SourceError, "a.nc is gone: look"),
        ("MemoryLimitError: too small", MemoryLimitError, "too small"),
        ("NoRoomError: the disk is full", NoRoomError, "the disk is full"),
        ("FileExistsError: [Errno 17] there", OSError, "there"),
        ("InterruptedError: gone", OSError, "gone"),
        ("WrongValuesError: sst is wrong in [0:3]", WrongValuesError, "sst is wrong in [0:3]"),
        ("RuntimeError: NetCDF: HDF error", RuntimeError, "NetCDF: HDF error"),
        ("OSError: ", OSError, "OSError"),
        ("the process ended early (signal SIGKILL)", RuntimeError, "the process ended early"),
    ],
)
def test_an_error_comes_back_as_what_it_was(status, kind, text):
    error = error_of(status)
    assert isinstance(error, kind)
    assert str(error).startswith(text)


def disk(monkeypatch, free):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))


@pytest.mark.parametrize(
    ("free", "limit", "error", "said"),
    [
        (0, None, RuntimeError("HDF error"), "the disk is full: 0 MiB are left"),
        (99 * MIB, None, OSError(errno.ENOSPC, "No space"), "the disk is full: 99 MiB are left"),
        (99 * MIB, None, RuntimeError(os.strerror(errno.EDQUOT)), "the disk is full"),
        (99 * MIB, MIB, RuntimeError("HDF error"), "may not grow beyond 1 MiB .*ulimit -f"),
        (99 * MIB, 50 * MIB, OSError(errno.EFBIG, "big"), "may not grow beyond 50 MiB"),
    ],
)
def test_a_disk_that_is_full_is_said(monkeypatch, tmp_path, free, limit, error, said):
    disk(monkeypatch, free)
    monkeypatch.setattr(failures, "_file_limit", lambda: limit)
    with pytest.raises(NoRoomError, match=said) as found, explained(tmp_path, 10 * MIB):
        raise error
    assert found.value.__cause__ is error


@pytest.mark.parametrize("error", [RuntimeError("HDF error"), SourceError("gone"), KeyError("a")])
def test_what_has_another_cause_is_left_alone(monkeypatch, tmp_path, error):
    disk(monkeypatch, 99 * MIB)
    monkeypatch.setattr(failures, "_file_limit", lambda: None)
    with pytest.raises(type(error)) as found, explained(tmp_path, 10 * MIB):
        raise error
    assert found.value is error


def test_what_cannot_fit_is_refused_before(monkeypatch, tmp_path):
    disk(monkeypatch, 5 * MIB)
    monkeypatch.setattr(failures, "_file_limit", lambda: 2 * MIB)
    require_room(tmp_path, MIB)
    with pytest.raises(NoRoomError, match=r"5 MiB are left in the folder.*which takes 6 MiB; make"):
        require_room(tmp_path, 6 * MIB)
    with pytest.raises(NoRoomError, match=r"may not grow beyond 2 MiB.*raise the limit or choose"):
        require_room(tmp_path, 3 * MIB)


LIMITED = """
import resource, sys
from pathlib import Path
from hyperslab.advise.copying.copy import copy
from hyperslab.advise.specs.target import Choice, Target
source, out, limit = *sys.argv[1:3], int(sys.argv[3])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
for format in sys.argv[4:]:
    try:
        codec = "none" if format == "netcdf3" else "deflate"
        copy(source, out, Target("t", format, Choice("default", codec)))
    except OSError as error:
        print(format, error)
    print(sorted(path.name for path in Path(out).parent.iterdir()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and mounts are Linux's")
@pytest.mark.parametrize("kind", ["limit", "disk"])
def test_a_full_disk_leaves_nothing_and_touches_nothing(tmp_path, kind):
    formats = ["netcdf3", "netcdf4", "hdf5", "zarr3", "nczarr"]
    source, out = tmp_path / "noise.nc", tmp_path / "disk" / "out"
    out.parent.mkdir()
    noise = np.random.default_rng(0).integers(0, 2**31, (900, 900), "i4")  # not compressible
    write_array(source, noise, Layout("netcdf4"))
    before = source.read_bytes(), source.stat().st_mtime_ns
    limit = 0 if kind == "disk" else 2**16
    command = [sys.executable, "-c", LIMITED, str(source), str(out), str(limit), *formats]
    if kind == "disk":  # a disk of a megabyte that only this process sees
        mount = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"'
        inside = ["unshare", "--mount", "sh", "-c", mount, str(out.parent)]
        tried = subprocess.run([*inside, "true"], capture_output=True)
        if tried.returncode:
            pytest.skip("a small disk takes root to mount")
        command = inside + command
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.strip().splitlines()
    expected = "the disk is full: " if kind == "disk" else "a file may not grow beyond 1 MiB"
    for format, line, left in zip(formats, said[::2], said[1::2], strict=True):
        assert line.startswith(format) and expected in line
        assert left == "[]"
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before
