"""Tests of reads in buffers: files streamed and resumed, places, and what every reader reads."""

import itertools
import pickle

import netCDF4
import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import buffers
from hyperslab.io.buffers import ACCESSES, KINDS, READERS, Files, ReadBuffers, Spots, holds, truth
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.machine import memory_bytes


@given(st.integers(0, 2**40), st.integers(0, 200), st.integers(1, 200), st.data())
def test_the_truth_depends_on_the_place_and_one_wrong_value_is_seen(first, skip, count, data):
    values = truth(first, skip + count)[skip:]
    assert holds(values, first + skip) and len(np.unique(values)) == count
    values[data.draw(st.integers(0, count - 1))] += 1e-15
    assert not holds(values, first + skip)


def test_sizes_have_names_and_names_sizes():
    powers = [2**power for power in range(9, 41)]
    assert [buffers.bytes_of(buffers.size(power)) for power in powers] == powers
    for wrong in ("", "KiB", "4kB"):
        with pytest.raises(ValueError, match="no size"):
            buffers.bytes_of(wrong)


@pytest.mark.parametrize("values", [1, 5000])
def test_all_files_hold_the_same(tmp_path, monkeypatch, values):
    monkeypatch.setattr(buffers, "BLOCK_BYTES", 2**13)
    files = Files(tmp_path / "a folder", values)
    files.write(KINDS)
    assert sorted(path.name for path in files.folder.iterdir()) == sorted(KINDS.values())
    with netCDF4.Dataset(files.path("netcdf4")) as file:
        assert file[buffers.VARIABLE].chunking() == "contiguous"
        assert holds(np.ma.getdata(file[buffers.VARIABLE][:]), 0)
    assert holds(np.fromfile(files.path("binary"), "<f8"), 0)
    array = zarr.open_array(files.path("zarr3"), mode="r")
    assert holds(array[:], 0) and array.shape == (values,) and not array.compressors


@pytest.mark.parametrize("kind", ["binary", "netcdf4"])
def test_a_killed_stream_goes_on(tmp_path, monkeypatch, kind):
    files, firsts = Files(tmp_path, 5000), []
    monkeypatch.setattr(buffers, "BLOCK_BYTES", 2**13)

    def noted(first, count):
        firsts.append(first)
        if len(firsts) == 7 + (
            kind == "netcdf4"
        ):  # each block after its last value, from the third on
            raise KeyboardInterrupt
        return truth(first, count)

    monkeypatch.setattr(buffers, "truth", noted)
    with pytest.raises(KeyboardInterrupt):
        files.write([kind])
    assert not files.path(kind).exists()
    files.write([kind])
    assert firsts.count(0) == 1 + (kind == "netcdf4"), "the first block was made once"
    assert [path.name for path in tmp_path.iterdir()] == [files.path(kind).name]
    offset = buffers.offset_of(files.path(kind)) if kind == "netcdf4" else 0
    assert holds(np.fromfile(files.path(kind), "<f8", 5000, offset=offset), 0)


def test_a_file_of_another_size_and_a_full_disk_are_refused(tmp_path):
    Files(tmp_path, 1000).write(["binary", "netcdf4"])
    Files(tmp_path, 1000).write(["binary"])
    for values, kind in ((999, "binary"), (2**21, "netcdf4")):
        with pytest.raises(ValueError, match="another size"):
            Files(tmp_path, values).write([kind])
    with pytest.raises(OSError, match="make room"):
        Files(tmp_path / "new", 2**55).write(["binary"])
    assert not list((tmp_path / "new").iterdir())
    cold = buffers.cold(tmp_path, 0)  # twice the memory where no size is given
    assert cold.nbytes > 2 * memory_bytes() and cold.nbytes % 2**30 == 0
    assert buffers.cold(tmp_path, 64).nbytes == 2**26


@given(st.sampled_from(ACCESSES), st.integers(0, 6), st.integers(0, 2**16), st.integers(0, 5))
def test_reads_lie_in_the_file_and_take_no_byte_twice(access, power, more, seed):
    nbytes = 512 * 2**power
    spots = Spots(access, nbytes, nbytes + more * 8, seed)
    starts = spots.between(0, len(spots))
    assert len(starts) == len(spots) > 0
    assert starts.min() >= 0 and (starts + spots.count).max() * 8 <= spots.file_bytes
    assert (np.diff(np.sort(starts)) >= spots.count).all()
    assert np.array_equal(spots.between(2, 5), starts[2:5])


def test_accesses_are_the_documents():
    sequential, strided = (Spots(name, 1024, 1024 * 10) for name in ("sequential", "strided"))
    assert sequential.between(0, 10).tolist() == list(range(0, 1280, 128))
    assert strided.between(0, 10).tolist() == [0, 4 * 128, 8 * 128]
    starts, same, other = (Spots("random", 4096, 2**24, seed).between(0, 100) for seed in (1, 1, 2))
    assert len(starts) == 100 and np.array_equal(starts, same) and not np.array_equal(starts, other)
    for nbytes in (12, 0, 8192):
        with pytest.raises(ValueError, match="give a multiple"):
            Spots("random", nbytes, 4096)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    written = Files(tmp_path_factory.mktemp("buffers"), 2**16 + 5)
    written.write(KINDS)
    return written


@pytest.mark.parametrize("reader", buffers.available(READERS))
def test_every_loop_reads_what_is_there_and_compares_it_with_its_place(files, reader):
    for access, nbytes in itertools.product(ACCESSES, (4096, 2**15)):
        sample = pickle.loads(pickle.dumps(ReadBuffers(files, reader, access, nbytes, 60.0)))
        watch = Stopwatch()
        assert sample(watch)
        rows = {str(row["phase"]): row for row in watch.rows()}
        assert list(rows) == ["open", "read", "close"]
        assert rows["read"]["useful_bytes"] == len(sample.spots) * nbytes
        assert rows["read"]["stages"] == len(sample.spots)
    sample = ReadBuffers(files, reader, "random", 512)
    loop = READERS[reader].loop(files.path(READERS[reader].kind), sample.spots.count)
    for read in range(len(sample.spots)):
        loop.ready(sample.spots.between(read, read + 1))()
        assert sample.same(loop, read) and not sample.same(loop, (read + 1) % 100)
    loop.close()


def test_large_buffers_are_read_often_enough_to_have_an_order(tmp_path):
    files = Files(tmp_path, 2**18 + 5)
    files.write(["binary"])
    for least, reads in ((1, 2), (3, 3), (99, 4)):
        watch = Stopwatch()
        assert ReadBuffers(files, "Python read", "sequential", 2**19, 0.0, least)(watch)
        assert {row["stages"] for row in watch.rows() if row["phase"] == "read"} == {reads}
