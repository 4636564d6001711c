"""What is built, by Python and by the command: from URLs, into folders, added to, on a cluster."""

import json
import os
import shutil

import dask
import h5py
import numpy as np
import pytest
import xarray as xr
from distributed import LocalCluster
from range_server import serving
from test_subchunk_remote import BACKENDS, write_far

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.check import check
from hyperslab.subchunk.command import build_many


@pytest.fixture
def folder(tmp_path):
    write_far(tmp_path / "a.h5")
    return tmp_path


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("tag", ["ETag", "Last-Modified"])
def test_built_from_a_url_it_knows_a_file_rewritten_at_the_same_size(folder, backend, tag):
    options = {"backend": backend}
    with serving(folder, tag=tag, token="t=1") as (address, _):
        url, index = f"{address}/a.h5?t=1", folder / "a.h5.subchunk"
        assert subchunk.build(url, index, spacing=4096, storage_options=options) == index
        assert check(url, index, storage_options=options) > 3
        with subchunk.open(url, index, storage_options=options) as file:
            assert file["data"][1, 70] == 30070 and not file["data"].plain
            assert "tag" in file.index.data and "mtime_ns" not in file.index.data
        # Another tag, the same content: what the file says of its chunks decides.
        os.utime(folder / "a.h5", (1e9, 1e9))
        subchunk.open(url, index, storage_options=options).close()
        subchunk.open(folder / "a.h5", index).close()
        write_far(folder / "a.h5", 1.0)
        os.utime(folder / "a.h5", (2e9, 2e9))  # Last-Modified knows whole seconds
        with pytest.raises(subchunk.StaleIndexError, match=r"a\.h5 as it is now: .*another tag"):
            subchunk.open(url, index, storage_options=options)
        with pytest.raises(subchunk.StaleIndexError, match="describes its variables or chunks oth"):
            subchunk.open(folder / "a.h5", index)


@pytest.mark.parametrize("backend", BACKENDS)
def test_built_from_a_file_it_is_compared_with_a_url_when_that_is_asked(folder, backend):
    index = subchunk.build(folder / "a.h5")
    with serving(folder) as (address, log):
        given = f"{address}/a.h5", index
        options = {"storage_options": {"backend": backend}}
        subchunk.open(*given, **options, verify=True).close()
        assert len(log) > 1
        log.clear()
        subchunk.open(*given, **options).close()
        assert len(log) == 1
        write_far(folder / "a.h5", 1.0)
        with pytest.raises(subchunk.StaleIndexError, match="describes its variables"):
            subchunk.open(*given, **options, verify=True)
        with pytest.raises(subchunk.StaleIndexError, match="describes its variables"):
            xr.open_dataset(given[0], engine="subchunk", index=index, **options, verify=True)


def test_a_url_by_the_command(folder, capsys, monkeypatch):
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    with serving(folder, token="t=1") as (address, _):
        url = f"{address}/a.h5?t=1"
        options = ["--storage-options", json.dumps({"backend": "fsspec"})]
        assert main(["index", url, *options]) == 0
        assert "a.h5.subchunk: " in capsys.readouterr().out
        assert main(["index", url, "--index", "a.h5.subchunk", "--check"]) == 0
        assert main(["index", f"{address}/none.h5"]) == 2
        for nowhere in ("http://127.0.0.1:9/a.h5", "gopher://here/a.h5"):
            assert main(["index", nowhere]) == 2
        assert f"{address}/none.h5 is not there" in capsys.readouterr().err
    with pytest.raises(ValueError, match="cannot be written to"):
        subchunk.build(url, f"{address}/a.subchunk")


def test_a_folder_of_indexes(folder):
    indexes = folder / "indexes"
    indexes.mkdir()
    for name in "xyz":
        with h5py.File(folder / f"{name}.nc", "w") as file:
            file.create_dataset("v", data=np.full((1, 9000), ord(name)), chunks=(1, 9000))
            file.create_dataset("w", data=np.ones((1, 9000)), chunks=(1, 9000), compression=1)
        made = subchunk.build(folder / f"{name}.nc", indexes)
        assert made == indexes / f"{name}.nc.subchunk"
    assert subchunk.build(folder / "x.nc", indexes, add=True) == indexes / "x.nc.subchunk"
    with subchunk.open(folder / "x.nc", indexes) as file:
        assert file.index and file["w"][0, 3] == 1
    paths = [folder / f"{name}.nc" for name in "xyz"]
    from hyperslab.subchunk.engine import SubchunkEntrypoint

    with xr.open_mfdataset(
        paths,
        engine=SubchunkEntrypoint,
        index=indexes,
        combine="nested",
        concat_dim="phony_dim_0",
    ) as data:
        assert data["v"][:, 5].values.tolist() == [ord(name) for name in "xyz"]
    with (
        serving(folder) as (address, _),
        subchunk.open(f"{address}/x.nc", f"{address}/indexes/") as file,
    ):
        assert file.index and file["w"][0, 3] == 1
    with pytest.raises(FileNotFoundError, match=r"indexes/a\.h5\.subchunk"):
        subchunk.open(folder / "a.h5", indexes)
    with pytest.raises(FileNotFoundError, match=r"no folder .*absent for the index"):
        subchunk.build(folder / "a.h5", folder / "absent/a.subchunk")


@pytest.mark.parametrize("partial", [False, True])
def test_add_notices_chunks_written_again_in_their_place(tmp_path, partial):
    """Level 0: they have the place and size they had."""
    path = tmp_path / "a.h5"
    rows = 10 if partial else 1
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "d", (5, 4000), "f4", chunks=(rows, 4000), compression=0, maxshape=(None, 4000)
        )
        data[:] = 1
    subchunk.build(path, spacing=4096)
    with h5py.File(path, "a") as file:
        file["d"].resize((8, 4000))
        file["d"][3:] = 7
    subchunk.build(path, add=True)
    assert check(path) > 0
    with subchunk.open(path) as file:
        for row in range(8):
            assert file["d"][row, 3999] == (1 if row < 3 else 7)
        assert (file["d"][...][3:] == 7).all()


def test_add_takes_new_variables_and_refuses_what_it_would_ignore(folder, capsys):
    path = folder / "a.h5"
    with h5py.File(path, "a") as file:
        file.create_dataset("more", data=np.arange(9e4), chunks=(9000,), compression=1)
    subchunk.build(path, variables=["data"], spacing=4096)
    for words in (["--spacing", "4KiB"], ["--budget", "5%"]):
        assert main(["index", str(path), "--add", *words]) == 2
        assert "name new variables with --variables" in capsys.readouterr().err
    with pytest.raises(ValueError, match="spacing and budget are for variables that are added"):
        subchunk.build(path, variables=["data"], spacing=8192, add=True)
    assert main(["index", str(path), "--add", "--variables", "more", "--spacing", "8KiB"]) == 0
    with subchunk.open(path) as file:
        assert {name: entry.spacing for name, entry in file.index.entries.items()} == {
            "data": 4096, "more": 8192, "small": 0
        }  # fmt: skip
        assert file["more"][77] == 77
    shutil.copy(path, folder / "new.h5")
    assert main(["index", str(folder / "new.h5"), "--add"]) == 0
    assert main(["index", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "this is a folder" in said and len(said.splitlines()) == 1


def test_a_file_that_changes_while_it_is_indexed_gets_no_index(folder):
    path = folder / "a.h5"

    def change(done, total):
        if done == total:
            os.utime(path, (1, 1))

    with pytest.raises(subchunk.SubchunkError, match="changed while it was indexed"):
        subchunk.build(path, progress=change)
    assert not list(folder.glob("*subchunk*"))


def test_data_that_compress_very_well_are_indexed(tmp_path):
    """What marks alone take can be above the budget: then there are as few points as may be."""
    values = np.zeros(5 * 2**18, "f4")
    values[:: 2**16] = 1
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=values.shape, compression=4, shuffle=True)
    subchunk.build(tmp_path / "x.h5", budget=0.001)
    with subchunk.open(tmp_path / "x.h5") as file:
        assert np.array_equal(file["x"][65530:65540], values[65530:65540])


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        values = np.arange(40_000, dtype="f4").reshape(4, 100, 100)
        file.create_dataset("data", data=values, chunks=(1, 100, 100), compression=4)
        file.create_dataset("group/raw", data=np.tile(values, 2), chunks=(2, 100, 200))
        file.create_dataset("time", data=np.arange(4.0))
        file.create_dataset("names", data=["a", "b"], dtype=h5py.string_dtype())
    return tmp_path / "a.h5"


def ran(capsys, *words):
    code = main(["index", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_build_info_and_check(path, capsys):
    code, out, err = ran(capsys, path, "--spacing", "8KiB")
    assert (code, err) == (0, "") and out.startswith("a.h5.subchunk: ") and "% of a.h5" in out
    code, out, err = ran(capsys, path, "--info")
    assert (code, err) == (0, "")
    first, _, row, *rest = out.splitlines()
    kept = path.with_name("a.h5.subchunk").stat().st_size
    assert first == (
        f"a.h5.subchunk: format 1, {kept:,} bytes, for a file of {path.stat().st_size:,} bytes"
    )
    assert row.split()[:6] == ["data", "4×100×100", "4", "1×100×100", "8", "KiB"]
    assert rest == [
        "group/raw 4×100×200 is read plainly: it is not deflate-compressed",
        "names 2 is read plainly: its type object is no number",
        "time 4 is read plainly: its 32 bytes are in the index",
    ]
    code, out, err = ran(capsys, path, "--check")
    assert (code, err) == (0, "") and "a.h5.subchunk fits a.h5: " in out


def test_check_names_what_is_damaged_and_info_what_is_missing(path, capsys):
    code, out, err = ran(capsys, path, "--check")
    assert (code, out) == (2, "")
    assert f"no index {path}.subchunk: build it with `hyperslab index {path}`" in err
    assert ran(capsys, path)[0] == 0
    code, out, err = ran(capsys, path.with_name("none.h5"), path, "--info")
    assert code == 1 and "none.h5" in err and "a.h5.subchunk: format 1" in out
    index = path.with_name("a.h5.subchunk")
    data = bytearray(index.read_bytes())
    data[-3] ^= 1
    index.write_bytes(data)
    code, out, err = ran(capsys, path, "--check")
    assert (code, out) == (1, "") and "a.h5: " in err and "damaged" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "0"], "--jobs is 0: give 1 or more"),
        ([""], "FILE is empty: name a netCDF-4 or HDF5 file"),
        (["--index", "none"], "no such folder"),
        (["--index", ""], "--index is empty: name a folder"),
        (["--budget", "0"], "budget is 0.0: give a share"),
        (["--spacing", "3"], "spacing is 3 bytes: give 1024 to"),
    ],
)
def test_arguments_that_make_no_sense_are_usage_errors(path, capsys, words, said):
    code, out, err = ran(capsys, path, *words)
    assert (code, out) == (2, "") and said in err


def test_variables_that_cannot_be_indexed_are_named(path, capsys):
    code, _, err = ran(capsys, path, "--variables", "none")
    assert code == 2 and "has no variable 'none': it has data, group/raw, names, time" in err
    code, _, err = ran(capsys, path, "--variables", "time")
    assert code == 2 and "time in a.h5 cannot be indexed: it is not chunked" in err


@pytest.fixture
def pairs(tmp_path):
    """Four files and where their indexes go."""
    paths = [tmp_path / f"{number:03d}.h5" for number in range(4)]
    for number, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            values = np.arange(3000, dtype="f4").reshape(3, 1000) * number
            file.create_dataset("x", data=values, chunks=(1, 1000), compression=1, shuffle=True)
    return [(path, path.with_name(path.name + ".subchunk")) for path in paths]


def test_a_cluster_builds_the_indexes(pairs, capsys):
    with LocalCluster(
        n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        assert build_many(pairs, scheduler=cluster.scheduler_address) == 0
    said = capsys.readouterr()
    assert said.out.count("% of ") == len(pairs) and not said.err
    for number, (path, _) in enumerate(pairs):
        assert check(path) > 0
        with subchunk.open(path) as file:
            assert file["x"][2, 999] == 2999 * number


def test_files_that_fail_are_named_and_the_others_are_indexed(pairs, capsys):
    few = [str(path) for path, _ in pairs[:4]]
    pairs[1][0].write_text("no HDF5")
    pairs[2][0].unlink()
    assert main(["index", "--jobs", "2", *few]) == 1
    said = capsys.readouterr()
    assert said.out.count("% of ") == 2
    assert "001.h5: it cannot be opened as HDF5" in said.err
    assert "002.h5" in said.err and "2 of 4 files failed" in said.err
    assert pairs[0][1].exists() and pairs[3][1].exists() and not pairs[1][1].exists()


def test_a_scheduler_that_is_not_there_is_named(pairs, capsys):
    few = [str(path) for path, _ in pairs[:2]]
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        assert main(["index", "--scheduler", "tcp://127.0.0.1:9", *few]) == 1
    assert "tcp://127.0.0.1:9" in capsys.readouterr().err
