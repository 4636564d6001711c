"""The index layout of the package chunkindex: what it holds, and that files are read with it."""

import h5py
import netCDF4
import numpy as np
import pytest
import subchunk_files as files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.io import chunkindex_format
from hyperslab.io.chunkindex_format import ChunkindexFile

SHAPE, CHUNKS = (3, 310, 260), (2, 300, 200)
KEYS = (
    (slice(None), 5, 7),
    (1, slice(10, 60, 7), slice(250, 3, -9)),
    (slice(None), 309, [3, 40, 259]),
)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def made(request, tmp_path_factory):
    """A file, its index in the layout, and its values."""
    folder = tmp_path_factory.mktemp("chunkindex")
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.integers(-3, 4, SHAPE), axis=2).astype("<f4")
    with h5py.File(folder / "data.h5", "w") as file:
        file.create_dataset("g/x", data=values, chunks=CHUNKS, compression=4, shuffle=request.param)
        file["plain"] = np.arange(5)
    chunkindex_format.write(folder / "data.h5", folder / "index.nc", spacing=80_000)
    return folder, values


def assert_read(path, index, values):
    """Every key gives the right values, read inside of chunks."""
    with ChunkindexFile(path, index) as file:
        assert not file["g/x"].plain
        for key in KEYS:
            assert np.array_equal(file["g/x"][key], values[key])


def test_the_layout_is_that_of_figure_3(made):
    folder, values = made
    with netCDF4.Dataset(folder / "index.nc") as file:
        group = file["g/x/0.1.0"]
        assert len(group.dimensions["win"]) == 2**15
        assert {name: v.dimensions for name, v in group.variables.items()} == {
            "outloc": ("outloc",),
            "inloc": ("outloc",),
            "bits": ("outloc",),
            "window": ("outloc", "win"),
        }
        types = {name: v.dtype.str for name, v in group.variables.items()}
        assert types == {"outloc": "<i8", "inloc": "<i8", "bits": "|i1", "window": "|i1"}
        assert group["window"].chunking() == [1, 2**15] and group["window"].filters()["zlib"]
        assert group.uncompressed_size == np.prod(CHUNKS) * 4
    with h5py.File(folder / "data.h5") as file, h5py.File(folder / "index.nc") as index:
        sizes = [file["g/x"].id.get_chunk_info(n).size for n in range(8)]
        raw = values[:2, :300, :200].tobytes()
        if file["g/x"].shuffle:
            raw = np.frombuffer(raw, "u1").reshape(-1, 4).T.tobytes()
        group = index["g/x/0.0.0"]
        for out, window in zip(group["outloc"][:], group["window"][:], strict=True):
            kept = min(int(out), 2**15)
            assert window.tobytes()[2**15 - kept :] == raw[out - kept : out]
    records = chunkindex_format.chunk_points(folder / "index.nc", "g/x")
    assert sorted(record.compressed_size for record in records.values()) == sorted(sizes)
    first = records["0.0.0"]
    assert (first.outloc[0], first.inloc[0], first.bits[0]) == (0, 2, 0)
    assert len(first) > 1 and (np.diff(first.outloc) >= 80_000).all()


def test_files_are_read_with_it(made, tmp_path):
    folder, values = made
    assert_read(folder / "data.h5", folder / "index.nc", values)
    with ChunkindexFile(folder / "data.h5", folder / "index.nc") as file:
        assert file["plain"].plain and file["plain"][::2].tolist() == [0, 2, 4]
    (tmp_path / "index.nc").write_bytes((folder / "index.nc").read_bytes())
    with h5py.File(tmp_path / "index.nc", "a") as index:  # without a first point, and a chunk
        del index["g/x/0.1.0"]
        group = index["g/x/0.0.0"]
        for name in ("outloc", "inloc", "bits", "window"):
            rest = group[name][1:]
            del group[name]
            group[name] = rest
    assert_read(folder / "data.h5", tmp_path / "index.nc", values)


@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), layout=files.layouts(), spacing=st.sampled_from([1, 900, 2**21]))
def test_every_layout_and_selection(tmp_path, data, layout, spacing):
    path = tmp_path / "file.h5"
    truth = files.write(path, layout)
    index = chunkindex_format.write(path, tmp_path / "index.nc", spacing=spacing)
    with ChunkindexFile(path, index) as file:
        for _ in range(5):
            key = data.draw(files.keys(truth.shape))
            assert np.array_equal(file["data"][key], files.expected(truth, key))


def test_what_does_not_fit_is_refused_by_name(made, tmp_path):
    folder, values = made
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("g/x", data=values + 0.1, chunks=CHUNKS, compression=4)
    with (
        ChunkindexFile(tmp_path / "data.h5", folder / "index.nc") as file,
        pytest.raises(subchunk.StaleIndexError, match=r"chunk 0\.0\.0 of g/x had \d+ bytes"),
    ):
        file["g/x"][KEYS[0]]
    with pytest.raises(subchunk.CorruptIndexError, match="but an HDF5 file"):
        subchunk.open(folder / "data.h5", folder / "index.nc")
    with pytest.raises(ValueError, match="spacing=0: give 1 or more"):
        chunkindex_format.write(folder / "data.h5", tmp_path / "x.nc", spacing=0)
    assert not (tmp_path / "x.nc").exists()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("outloc", lambda v: v[::-1], "not in order"),
        ("outloc", lambda v: v[:-1], "differ in length"),
        ("inloc", lambda v: v + 10**9, "not in order, or outside"),
        ("bits", lambda v: v + 8, "not in order, or outside"),
    ],
)
def test_a_record_that_makes_no_sense(made, tmp_path, name, change, said):
    folder, _ = made
    (tmp_path / "index.nc").write_bytes((folder / "index.nc").read_bytes())
    with h5py.File(tmp_path / "index.nc", "a") as index:
        group = index["g/x/1.0.0"]
        changed = change(group[name][:])
        del group[name]
        group[name] = changed
    with (
        pytest.raises(subchunk.CorruptIndexError, match=said),
        ChunkindexFile(folder / "data.h5", tmp_path / "index.nc") as file,
    ):
        file["g/x"][0, 0, 0]
