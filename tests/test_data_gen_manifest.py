"""Datasets on disk: made once, remade when they do not fit, safe from each other and from kills."""

import json
import os
import signal
import subprocess
import sys

import pytest

import data_gen
from data_gen.manifest import AlteredError, checksum, ensure, ensure_all, manifest_path
from hyperslab.io import Layout

NETCDF, ZARR = Layout("netcdf4"), Layout("zarr2", chunks=(2, 5))
SHAPE = (4, 5)


def visible(folder):
    return sorted(p.name for p in folder.iterdir() if not p.name.startswith(".lock-"))


def changed(path):
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return {file: file.stat().st_mtime_ns for file in files}


@pytest.fixture(params=[NETCDF, ZARR], ids=["file", "directory"])
def on_disk(request, tmp_path):
    return ensure("array", request.param, tmp_path, shape=SHAPE), request.param, tmp_path


def some_file(path):
    return path if path.is_file() else path / "values" / "0.0"


def test_it_is_made_once_and_its_manifest_says_what_was_made(on_disk, capsys):
    path, layout, folder = on_disk
    before = changed(path)
    assert ensure("array", layout, folder, shape=SHAPE, check="checksum") == path
    assert changed(path) == before and capsys.readouterr().err == ""
    assert visible(folder) == [path.name, path.name + ".json"]
    manifest = json.loads(manifest_path(path).read_text())
    assert manifest["dataset"] == "array"
    assert manifest["parameters"] == {"shape": [4, 5], "dtype": "i4"}
    assert manifest["layout"]["format"] == layout.format
    assert manifest["generator"] == data_gen.generator()
    assert manifest["sha256"] == checksum(path)
    assert str(path.parent) not in manifest_path(path).read_text()


def truncate(path):
    file = some_file(path)
    os.truncate(file, file.stat().st_size - 3)


def alter(path, later_ns=0):
    """Change one byte; the size and the time of change stay."""
    file, before = some_file(path), some_file(path).stat()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + later_ns))


def other_generator(path):
    manifest = json.loads(manifest_path(path).read_text())
    manifest_path(path).write_text(json.dumps(manifest | {"generator": "0-old"}))


@pytest.mark.parametrize(
    ("harm", "check", "says"),
    [
        (truncate, "size", "bytes and its manifest says"),
        (alter, "checksum", "contents are not what its manifest says"),
        (lambda path: alter(path, later_ns=10**9), "size", "contents are not what"),
        (lambda path: manifest_path(path).unlink(), "size", "it has no manifest"),
        (lambda path: truncate(manifest_path(path)), "size", "its manifest cannot be read"),
        (other_generator, "size", "it was made with another generator"),
    ],
)
def test_what_does_not_fit_is_named_and_made_again(on_disk, capsys, harm, check, says):
    path, layout, folder = on_disk
    whole = checksum(path)
    harm(path)
    with pytest.raises(AlteredError, match=says):
        ensure("array", layout, folder, shape=SHAPE, check=check, remake=False)
    assert ensure("array", layout, folder, shape=SHAPE, check=check) == path
    assert says in capsys.readouterr().err
    assert ensure("array", layout, folder, shape=SHAPE, check="checksum", remake=False) == path
    if layout is ZARR:
        assert checksum(path) == whole


def test_a_touched_but_whole_file_is_kept(on_disk, capsys):
    path, layout, folder = on_disk
    later = some_file(path).stat().st_mtime_ns + 10**9
    os.utime(some_file(path), ns=(later, later))
    ensure("array", layout, folder, shape=SHAPE, remake=False)
    assert some_file(path).stat().st_mtime_ns == later
    assert capsys.readouterr().err == ""


def test_several_layouts_at_once_make_only_what_is_missing(tmp_path):
    first = ensure("array", NETCDF, tmp_path, shape=SHAPE)
    before = changed(first)
    store, again, same = ensure_all("array", [ZARR, NETCDF, ZARR], tmp_path, shape=SHAPE)
    assert store.is_dir() and store == same
    assert again == first and changed(first) == before


def test_bad_requests_make_nothing(tmp_path):
    with pytest.raises(ValueError, match="check='all': give 'size' or 'checksum'"):
        ensure("array", NETCDF, tmp_path / "data", check="all")
    with pytest.raises(ValueError, match="no parameter 'shap'"):
        ensure("array", NETCDF, tmp_path / "data", shap=SHAPE)
    with pytest.raises(data_gen.NotEnoughSpaceError):
        ensure("array", NETCDF, tmp_path / "data", shape=(10**9, 10**6))
    assert visible(tmp_path / "data") == []


SLOW = """
import dataclasses, sys, time
import data_gen, data_gen.manifest as manifest
from hyperslab.io import Layout

def slowly(name, **given):
    source = data_gen.dataset(name, **given)
    def draw(part):
        print("drawing", flush=True)
        time.sleep(float(sys.argv[2]))
        return source.draw(part)
    return dataclasses.replace(source, draw=draw)

manifest.dataset = slowly
print(manifest.ensure("array", Layout("netcdf4"), sys.argv[1], shape=(4, 5)).name, flush=True)
"""


def start(folder, pause_s):
    command = [sys.executable, "-c", SLOW, str(folder), str(pause_s)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_at_once_draw_once(tmp_path):
    both = [start(tmp_path, 0.5) for _ in range(2)]
    outputs = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    lines = sorted(line for out, _ in outputs for line in out.split())
    assert lines.count("drawing") == 1 and len(lines) == 3 and len(set(lines)) == 2


def test_a_killed_process_leaves_nothing_that_passes_for_whole(tmp_path):
    process = start(tmp_path, 60)
    assert process.stdout.readline().strip() == "drawing"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert {name[:6] for name in visible(tmp_path)} == {".part-"}
    path = ensure("array", NETCDF, tmp_path, shape=SHAPE, remake=False)  # its lock died with it
    assert visible(tmp_path) == [path.name, path.name + ".json"]
