"""What is built from URLs, into folders, and added to; what the index then knows of its file."""

import json
import os
import shutil

import h5py
import numpy as np
import pytest
import xarray as xr
from test_subchunk_urls import BACKENDS, serving, write

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.check import check
from hyperslab.subchunk.index import build
from hyperslab.subchunk.index.options import Options


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "a.h5")
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
        write(folder / "a.h5", 1.0)
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
        write(folder / "a.h5", 1.0)
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
        assert main(["index", f"{address}/none.h5"]) == 1
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
    assert subchunk.widen(folder / "x.nc", indexes) == indexes / "x.nc.subchunk"
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
    subchunk.widen(path)
    assert check(path) > 0
    with subchunk.open(path) as file:
        for row in range(8):
            assert file["d"][row, 3999] == (1 if row < 3 else 7)
        assert (file["d"][...][3:] == 7).all()


def test_add_takes_new_variables_and_refuses_what_it_would_ignore(folder, capsys):
    path = folder / "a.h5"
    with h5py.File(path, "a") as file:
        file.create_dataset("more", data=np.arange(9e4), chunks=(9000,), compression=1)
    with pytest.raises(subchunk.MissingFileError, match=r"there is no index .* build it first"):
        subchunk.widen(path)
    subchunk.build(path, variables=["data"], spacing=4096)
    for words in (["--spacing", "4KiB"], ["--budget", "5%"]):
        assert main(["index", str(path), "--add", *words]) == 2
        assert "name new variables with --variables" in capsys.readouterr().err
    with pytest.raises(ValueError, match="spacing and budget are for variables that are added"):
        subchunk.widen(path, variables=["data"], spacing=8192)
    assert main(["index", str(path), "--add", "--variables", "more", "--spacing", "8KiB"]) == 0
    with subchunk.open(path) as file:
        assert {name: entry.spacing for name, entry in file.index.entries.items()} == {
            "data": 4096, "more": 8192, "small": 0
        }  # fmt: skip
        assert file["more"][77] == 77
    shutil.copy(path, folder / "new.h5")
    assert main(["index", str(folder / "new.h5"), "--add"]) == 0
    assert main(["index", str(folder)]) == 1
    said = capsys.readouterr().err
    assert "this is a folder" in said and len(said.splitlines()) == 1


def test_add_reads_old_chunks_only_if_the_file_was_written_since(tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    write(path)
    subchunk.build(path, where={"data": (0,)}, spacing=4096)
    checked = []
    fits = build._fits
    monkeypatch.setattr(build, "_fits", lambda *given: checked.append(1) or fits(*given))
    subchunk.widen(path, where={"data": (1,)})
    assert not checked
    os.utime(path, (1e9, 1e9))
    subchunk.widen(path)
    assert len(checked) == 3 and check(path) > 0
    with subchunk.open(path) as file:
        assert file["data"][:, 29_999].tolist() == [29_999, 59_999, 89_999]


@pytest.mark.parametrize(("mebibytes", "budget"), [(5, 0.02), (9, 0.001)])
def test_data_that_compress_very_well_are_indexed(tmp_path, mebibytes, budget):
    """What marks alone take can be above the budget: then there are as few points as may be."""
    values = np.zeros(mebibytes * 2**18, "f4")
    values[:: 2**16] = 1
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=values.shape, compression=4, shuffle=True)
    subchunk.build(tmp_path / "x.h5", budget=budget)
    with subchunk.open(tmp_path / "x.h5") as file:
        assert np.array_equal(file["x"][65530:65540], values[65530:65540])


def test_small_chunks_are_indexed_one_after_another_unless_told(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    told, usual = Options(threads=3), Options()
    assert [o.at_once(9, 2**20, far=False) for o in (told, usual)] == [3, 1]
    assert [o.at_once(9, 2**20, far=True) for o in (told, usual)] == [3, 4]
    assert [usual.at_once(chunks, 2**24, far=False) for chunks in (0, 1, 9)] == [1, 1, 4]
