"""What is built, by Python and by the command: from URLs, into folders, added to, on a cluster."""

import json
import os
import shutil

import dask
import h5py
import numpy as np
import pytest
import subchunk_files as files
import xarray as xr
from distributed import LocalCluster
from range_server import serving

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.check import check
from hyperslab.subchunk.index_command import _bytes, _share


@pytest.fixture
def folder(tmp_path):
    files.write_far(tmp_path / "a.h5")
    return tmp_path


@pytest.mark.parametrize("backend", files.BACKENDS)
@pytest.mark.parametrize("tag", ["ETag", "Last-Modified"])
def test_a_file_rewritten_at_the_same_size_is_noticed_behind_a_url(folder, backend, tag):
    path, far, options = folder / "a.h5", folder / "far", {"storage_options": {"backend": backend}}
    near = subchunk.build(path)
    with serving(folder, tag=tag, token="t=1") as (address, log):
        url = f"{address}/a.h5?t=1"
        assert subchunk.build(url, far, spacing=4096, **options) == far
        assert check(url, far, **options) > 3
        with subchunk.open(url, far, **options) as file:
            assert file["data"][1, 70] == 30070 and not file["data"].plain
            assert "tag" in file.index.data and "mtime_ns" not in file.index.data
        # Another tag, the same content: what the file says of its chunks decides.
        os.utime(path, (1e9, 1e9))
        for source, index, verify in ((url, far, False), (path, far, False), (url, near, True)):
            subchunk.open(source, index, **options, verify=verify).close()
        files.write_far(path, 1.0)
        os.utime(path, (2e9, 2e9))  # Last-Modified knows whole seconds
        log.clear()
        subchunk.open(url, near, **options).close()
        assert len(log) == 1, "this index knows no tag, and its size fits"
        for source, index, verify, why in (
            (url, far, False, r"a\.h5 as it is now: .*another tag"),
            (path, far, False, "describes its variables or chunks oth"),
            (url, near, True, "describes its variables or chunks oth"),
        ):
            with pytest.raises(subchunk.StaleIndexError, match=why):
                subchunk.open(source, index, **options, verify=verify)
        with pytest.raises(subchunk.StaleIndexError):
            xr.open_dataset(url, engine="subchunk", index=near, **options, verify=True)


def test_a_url_by_the_command(folder, capsys, monkeypatch):
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    with serving(folder, token="t=1") as (address, _):
        url = f"{address}/a.h5?t=1"
        code, out, _ = ran(capsys, url, "--storage-options", json.dumps({"backend": "fsspec"}))
        assert code == 0 and "a.h5.subchunk: " in out
        assert main(["index", url, "--index", "a.h5.subchunk", "--check"]) == 0
        for nowhere in (f"{address}/none.h5", "http://127.0.0.1:9/a.h5", "gopher://here/a.h5"):
            code, _, err = ran(capsys, nowhere)
            assert code == 2 and nowhere in err
    with pytest.raises(ValueError, match="cannot be written to"):
        subchunk.build(url, f"{address}/a.subchunk")


def test_a_folder_of_indexes(folder):
    indexes, paths = folder / "indexes", [folder / f"{name}.nc" for name in "xyz"]
    indexes.mkdir()
    for number, path in enumerate(paths):
        files.write_one(path, np.full((1, 9000), number))
        assert subchunk.build(path, indexes) == indexes / f"{path.name}.subchunk"
    assert subchunk.build(paths[0], indexes, add=True) == indexes / "x.nc.subchunk"
    many = {"combine": "nested", "concat_dim": "phony_dim_0"}
    with xr.open_mfdataset(paths, engine="subchunk", index=indexes, parallel=True, **many) as data:
        assert data["x"][:, 5].values.tolist() == [0, 1, 2]
    with serving(folder) as (address, _):
        for pair in ((paths[1], indexes), (f"{address}/y.nc", f"{address}/indexes/")):
            with subchunk.open(*pair) as file:
                assert file.index and file["x"][0, 3] == 1
    with pytest.raises(FileNotFoundError, match=r"indexes/a\.h5\.subchunk"):
        subchunk.open(folder / "a.h5", indexes)
    with pytest.raises(FileNotFoundError, match=r"no folder .*absent for the index"):
        subchunk.build(folder / "a.h5", folder / "absent/a.subchunk")


@pytest.mark.parametrize("rows", [10, 1])
def test_add_notices_chunks_written_again_in_their_place(tmp_path, rows):
    """Level 0: they have the place and size they had."""
    path = tmp_path / "a.h5"
    how = {"chunks": (rows, 4000), "compression": 0, "maxshape": (None, 4000)}
    files.write_one(path, np.ones((5, 4000), "f4"), **how)
    subchunk.build(path, spacing=4096)
    with h5py.File(path, "a") as file:
        file["x"].resize((8, 4000))
        file["x"][3:] = 7
    subchunk.build(path, add=True)
    assert check(path) > 0
    with subchunk.open(path) as file:
        assert [file["x"][row, 3999] for row in range(8)] == [1] * 3 + [7] * 5
        assert (file["x"][...][3:] == 7).all()


def test_add_takes_new_variables_with_a_spacing_of_their_own(folder):
    path = folder / "a.h5"
    with h5py.File(path, "a") as file:
        file.create_dataset("more", data=np.arange(9e4), chunks=(9000,), compression=1)
    subchunk.build(path, variables=["data"], spacing=4096)
    with pytest.raises(ValueError, match="spacing and budget are for variables that are added"):
        subchunk.build(path, variables=["data"], spacing=8192, add=True)
    assert main(["index", str(path), "--add", "--variables", "more", "--spacing", "8KiB"]) == 0
    with subchunk.open(path) as file:
        spacings = {name: entry.spacing for name, entry in file.index.entries.items()}
        assert spacings == {"data": 4096, "more": 8192, "small": 0}
        assert file["more"][77] == 77


def test_a_file_that_changes_while_it_is_indexed_gets_no_index(folder):
    def change(done, total):
        if done == total:
            os.utime(folder / "a.h5", (1, 1))

    with pytest.raises(subchunk.SubchunkError, match="changed while it was indexed"):
        subchunk.build(folder / "a.h5", progress=change)
    assert not list(folder.glob("*subchunk*"))


@pytest.fixture
def path(folder):
    with h5py.File(folder / "a.h5", "a") as file:
        file.create_dataset("group/raw", data=np.ones((2, 100)), chunks=(1, 100))
        file["names"] = ["a", "b"]
    return folder / "a.h5"


def ran(capsys, *words):
    code = main(["index", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_build_info_and_check(path, capsys):
    code, out, err = ran(capsys, path, "--check")
    assert (code, out) == (2, "") and f"no index {path}.subchunk" in err
    code, out, err = ran(capsys, path, "--add", "--spacing", "8KiB", "--variables", "data")
    assert (code, err) == (0, "") and out.startswith("a.h5.subchunk: ")
    code, out, err = ran(capsys, path, "--info")
    assert (code, err) == (0, "")
    index = path.with_name("a.h5.subchunk")
    data = bytearray(index.read_bytes())
    assert f"format 1, {len(data):,} bytes, for a file of {path.stat().st_size:,} bytes" in out
    assert "3×30000" in out and "8 KiB" in out
    for name in ("group/raw", "names", "small"):
        assert f"\n{name} " in out and "is read plainly" in out
    code, out, err = ran(capsys, path, "--check")
    assert (code, err) == (0, "") and "a.h5.subchunk fits a.h5: " in out
    code, out, err = ran(capsys, path.with_name("none.h5"), path, "--info")
    assert code == 1 and "none.h5" in err and "a.h5.subchunk: format 1" in out
    data[-3] ^= 1
    index.write_bytes(data)
    code, out, err = ran(capsys, path, "--check")
    assert (code, out) == (1, "") and "a.h5: " in err and "damaged" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "0"], "--jobs is 0: give 1 or more"),
        ([""], "FILE is empty: name a netCDF-4 or HDF5 file"),
        (["--index", "none"], "no such folder"),
        (["--index", ""], "no such folder"),
        (["--budget", "0"], "budget is 0.0: give a share"),
        (["--spacing", "3"], "spacing is 3 bytes: give 1024 to"),
        (["--check"], "build it with `hyperslab index"),
        (["--variables", "none"], "no variable 'none': it has data, group/raw, names, small"),
        (["--variables", "small"], "small in a.h5 cannot be indexed: it is not chunked"),
        (["--scheduler", "tcp://127.0.0.1:9"], "tcp://127.0.0.1:9"),
    ],
)
def test_arguments_that_make_no_sense_are_named(path, capsys, words, message):
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        code, out, err = ran(capsys, path, *words)
    assert (code, out) == (1 if "--scheduler" in words else 2, "") and message in err
    assert not list(path.parent.glob("*subchunk*"))


def test_units_of_sizes_and_shares(path):
    with pytest.raises(SystemExit, match="2"):
        main(["index", str(path), "--spacing", "inf"])
    assert (_bytes("64KiB"), _bytes("1MB"), _share("2%")) == (65536, 10**6, 0.02)


def test_what_is_no_index_is_not_written_over(path):
    other = path.with_name("other.h5")
    shutil.copy(path, other)
    for target in (path, other):
        with pytest.raises(ValueError, match="no index: it would be lost"):
            subchunk.build(path, target)
        assert check(path, subchunk.build(path)) > 0


@pytest.mark.parametrize("by", ["--jobs", "--scheduler"])
def test_files_that_fail_are_named_and_the_others_are_indexed(tmp_path, capsys, by):
    paths = [tmp_path / f"{number:03d}.h5" for number in range(4)]
    for path in paths:
        files.write_one(path, np.arange(3000.0))
    paths[1].write_text("no HDF5")
    paths[2].unlink()
    paths[2].mkdir()
    if by == "--jobs":
        code, out, err = ran(capsys, by, 2, *paths)
    else:
        how = {"processes": False, "protocol": "tcp", "host": "127.0.0.1"}
        with LocalCluster(n_workers=1, dashboard_address=None, **how) as cluster:
            code, out, err = ran(capsys, by, cluster.scheduler_address, *paths)
    assert code == 1 and out.count("% of ") == 2
    assert "001.h5: it cannot be opened as HDF5" in err
    assert "002.h5: this is a folder" in err and "2 of 4 files failed" in err
    for path in (paths[0], paths[3]):
        assert check(path) > 0
    assert not (tmp_path / "001.h5.subchunk").exists()
