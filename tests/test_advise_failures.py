"""What kept a copy from being made, in one line."""

import errno
import os
import shutil
from types import SimpleNamespace

import pytest

from hyperslab.advise import failures
from hyperslab.advise.compare import WrongValuesError
from hyperslab.advise.failures import NoRoomError, error_of, explained, require_room
from hyperslab.advise.room import MemoryLimitError
from hyperslab.advise.source import SourceError

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
