"""The index layout of the package chunkindex: what it holds, and that files are read with it."""

import os
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import h5py
import netCDF4
import numpy as np
import pytest
import subchunk_files as files
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from range_server import serving

from hyperslab import subchunk
from hyperslab.subchunk import chunkindex
from hyperslab.subchunk.check import check
from hyperslab.subchunk.deflate.walk import walk

SLOW = settings(
    max_examples=int(os.environ.get("HYPERSLAB_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SHAPE, CHUNKS = (3, 310, 260), (2, 300, 200)


def as_the_package(path, index, name="g/x", spacing=100_000):
    """Write an index by xarray, as the package does: whole numbers of 64 bits, group by group."""
    encoding = {
        "window": {
            "dtype": "int8",
            "zlib": True,
            "complevel": 1,
            "shuffle": False,
            "chunksizes": (1, 2**15),
        }
    }
    with h5py.File(path) as file:
        dataset = file[name]
        infos = []
        dataset.id.chunk_iter(infos.append)
        for info in infos:
            stored = dataset.id.read_direct_chunk(info.chunk_offset)[1]
            output = np.empty(int(np.prod(dataset.chunks)) * dataset.dtype.itemsize, "u1")
            stream = np.frombuffer(stored, "u1")
            places = walk(stream, spacing, output, blocks=True)
            windows = np.zeros((len(places), 2**15), "u1")
            for window, out in zip(windows, places.out.astype(int), strict=True):
                window[max(0, 2**15 - out) :] = output[max(0, out - 2**15) : out]
            inloc = (places.bit.astype("i8") + 7) // 8
            group = ".".join(
                str(a // b) for a, b in zip(info.chunk_offset, dataset.chunks, strict=True)
            )
            xr.Dataset(
                {
                    "window": (["outloc", "win"], windows.view("i1")),
                    "inloc": ("outloc", inloc),
                    "bits": ("outloc", inloc * 8 - places.bit.astype("i8")),
                },
                {"outloc": places.out.astype("i8")},
                {"uncompressed_size": output.size, "compressed_size": len(stored), "mode": 15},
            ).to_netcdf(index, group=f"{name}/{group}", mode="a", encoding=encoding)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def made(request, tmp_path_factory):
    """A file, its index in the layout, and its values."""
    folder = tmp_path_factory.mktemp("chunkindex")
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.integers(-3, 4, SHAPE), axis=2).astype("<f4")
    with h5py.File(folder / "data.h5", "w") as file:
        file.create_dataset("g/x", data=values, chunks=CHUNKS, compression=4, shuffle=request.param)
        file["plain"] = np.arange(5)
    chunkindex.write(folder / "data.h5", folder / "index.nc", points=6)
    return folder, values


KEYS = (
    (slice(None), 5, 7),
    (1, slice(10, 60, 7), slice(250, 3, -9)),
    (slice(None), 309, [3, 40, 259]),
    (2, 299, 199),
)


def assert_read(path, index, values):
    """Every key gives the right values, read inside of chunks."""
    with subchunk.open(path, index) as file:
        assert not file["g/x"].plain
        for key in KEYS:
            assert np.array_equal(file["g/x"][key], values[key])


def test_three_points_or_one_every_2_mb():
    assert chunkindex.span(1 * 380 * 1287 * 4) == 652_080
    assert chunkindex.span(13 * 721 * 1440 * 4) == 2_000_000
    assert chunkindex.span(360_000, points=5) == 72_000


def test_the_layout_is_that_of_figure_3(made):
    folder, _ = made
    with netCDF4.Dataset(folder / "index.nc") as file:
        group = file["g/x/0.1.0"]
        assert set(group.dimensions) == {"outloc", "win"}
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
    with h5py.File(folder / "data.h5") as file:
        sizes = [file["g/x"].id.get_chunk_info(n).size for n in range(8)]
    records = chunkindex.chunk_points(folder / "index.nc", "g/x")
    assert sorted(record.compressed_size for record in records.values()) == sorted(sizes)
    first = records["0.0.0"]
    assert (first.outloc[0], first.inloc[0], first.bits[0]) == (0, 2, 0)
    assert len(first) > 1 and (np.diff(first.outloc) >= 80_000).all()


def test_the_windows_are_what_was_before(made):
    folder, values = made
    with h5py.File(folder / "data.h5") as file, h5py.File(folder / "index.nc") as index:
        chunk = values[:2, :300, :200]
        raw = chunk.tobytes()
        if file["g/x"].shuffle:
            raw = np.frombuffer(raw, "u1").reshape(-1, 4).T.tobytes()
        group = index["g/x/0.0.0"]
        for out, window in zip(group["outloc"][:], group["window"][:], strict=True):
            kept = min(int(out), 2**15)
            assert window.tobytes()[2**15 - kept :] == raw[out - kept : out]


def test_files_are_read_with_it(made, tmp_path):
    folder, values = made
    assert_read(folder / "data.h5", folder / "index.nc", values)
    as_the_package(folder / "data.h5", tmp_path / "theirs.nc")
    assert_read(folder / "data.h5", tmp_path / "theirs.nc", values)
    with subchunk.open(folder / "data.h5", folder / "index.nc") as file:
        assert file["plain"].plain and file["plain"][::2].tolist() == [0, 2, 4]
        assert list(file.groups()) == ["", "g"]


@SLOW
@given(data=st.data(), layout=files.layouts(), spacing=st.sampled_from([1, 900, 2**21]))
def test_every_layout_and_selection(tmp_path, data, layout, spacing):
    path = tmp_path / "file.h5"
    truth = files.write(path, layout)
    index = chunkindex.write(path, tmp_path / "index.nc", points=1, spacing=spacing)
    with subchunk.open(path, index) as file:
        for _ in range(5):
            key = data.draw(files.keys(truth.shape))
            assert np.array_equal(file["data"][key], files.expected(truth, key))


def test_an_index_may_lack_the_first_point_and_chunks(made, tmp_path):
    folder, values = made
    data = (folder / "index.nc").read_bytes()
    (tmp_path / "index.nc").write_bytes(data)
    with h5py.File(tmp_path / "index.nc", "a") as index:
        del index["g/x/0.1.0"]
        group = index["g/x/0.0.0"]
        for name in ("outloc", "inloc", "bits", "window"):
            rest = group[name][1:]
            del group[name]
            group[name] = rest
    assert_read(folder / "data.h5", tmp_path / "index.nc", values)


def test_a_chunk_that_skipped_a_filter(tmp_path):
    values = np.arange(2 * 40_000, dtype="<i4").reshape(2, 40_000)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset(
            "x", values.shape, "<i4", chunks=(1, 40_000), compression=4, shuffle=True
        )
        dataset[0] = values[0]
        dataset.id.write_direct_chunk((1, 0), values[1].tobytes(), filter_mask=3)
    chunkindex.write(tmp_path / "x.h5", tmp_path / "index.nc")
    assert list(chunkindex.chunk_points(tmp_path / "index.nc", "x")) == ["0.0"]
    with subchunk.open(tmp_path / "x.h5", tmp_path / "index.nc") as file:
        assert np.array_equal(file["x"][:, ::999], values[:, ::999])


def test_over_http_by_threads_and_after_pickling(made):
    folder, values = made
    assert_read(folder / "data.h5", f"file://{folder}/index.nc", values)
    with subchunk.open(folder / "data.h5", folder / "index.nc") as file:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: file["g/x"][:, n, n], range(40)))
        again = pickle.loads(pickle.dumps(file["g/x"]))
        assert np.array_equal(again[KEYS[1]], values[KEYS[1]])
        file.close()
        assert np.array_equal(file["g/x"][KEYS[0]], values[KEYS[0]]), "opened again"
    assert all(np.array_equal(values[:, n, n], one) for n, one in enumerate(found))
    with serving(folder) as (address, _):
        assert_read(f"{address}/data.h5", f"{address}/index.nc", values)


def test_what_does_not_fit_is_refused_by_name(made, tmp_path):
    folder, values = made
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("g/x", data=values + 0.1, chunks=CHUNKS, compression=4)
        file.create_dataset("other", data=values, chunks=CHUNKS, compression=4)
    with subchunk.open(tmp_path / "data.h5", folder / "index.nc") as file:
        assert file["other"].plain == "it was not indexed"
        with pytest.raises(subchunk.StaleIndexError, match=r"chunk 0\.0\.0 of g/x had \d+ bytes"):
            file["g/x"][KEYS[0]]
    with h5py.File(tmp_path / "else.h5", "w") as file:
        file["y"] = np.arange(3)
    with pytest.raises(subchunk.StaleIndexError, match="describes g/x, and the file has none"):
        list(subchunk.open(tmp_path / "else.h5", folder / "index.nc"))
    with pytest.raises(subchunk.CorruptIndexError, match="but no index: none of its groups"):
        list(subchunk.open(folder / "data.h5", folder / "data.h5"))
    with pytest.raises(FileNotFoundError):
        subchunk.open(folder / "data.h5", tmp_path / "missing.nc")
    with pytest.raises(KeyError, match="no variable 'y': it has g/x"):
        chunkindex.chunk_points(folder / "index.nc", "y")
    with pytest.raises(subchunk.CorruptIndexError, match="but an HDF5 file"):
        subchunk.Index(folder / "index.nc")
    with pytest.raises(subchunk.SubchunkError, match="holds no checksums"):
        check(folder / "data.h5", folder / "index.nc")
    with pytest.raises(ValueError, match="points=0, spacing=2000000: give 1 or more"):
        chunkindex.write(folder / "data.h5", tmp_path / "x.nc", points=0)
    assert not (tmp_path / "x.nc").exists()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("outloc", lambda v: v[::-1], "not in order"),
        ("outloc", lambda v: v[:-1], "differ in length"),
        ("outloc", lambda v: v.astype("f8"), "is float64"),
        ("inloc", lambda v: v + 10**9, "not in order, or outside"),
        ("bits", lambda v: v + 8, "not in order, or outside"),
        ("window", lambda v: v[:, 1:], "its windows are int8"),
        ("window", lambda v: None, "window"),
    ],
)
def test_a_record_that_makes_no_sense(made, tmp_path, name, change, said):
    folder, _ = made
    (tmp_path / "index.nc").write_bytes((folder / "index.nc").read_bytes())
    with h5py.File(tmp_path / "index.nc", "a") as index:
        group = index["g/x/1.0.0"]
        changed = change(group[name][:])
        del group[name]
        if changed is not None:
            group[name] = changed
    with (
        pytest.raises(subchunk.CorruptIndexError, match=said),
        subchunk.open(folder / "data.h5", tmp_path / "index.nc") as file,
    ):
        file["g/x"][0, 0, 0]


def test_windows_in_large_chunks_are_refused(made, tmp_path):
    folder, _ = made
    (tmp_path / "index.nc").write_bytes((folder / "index.nc").read_bytes())
    with h5py.File(tmp_path / "index.nc", "a") as index:
        group = index["g/x/0.0.0"]
        del group["window"]
        shape = (len(group["outloc"]), 2**15)
        group.create_dataset(
            "window", shape, "i1", chunks=(2**15, 2**15), maxshape=(None, 2**15), compression=1
        )
    with (
        pytest.raises(subchunk.CorruptIndexError, match="its windows lie in chunks of"),
        subchunk.open(folder / "data.h5", tmp_path / "index.nc") as file,
    ):
        file["g/x"][0, 0, 0]


def test_damaged_windows_are_noticed_and_cuts_named(made, tmp_path):
    folder, values = made
    good = (folder / "index.nc").read_bytes()
    with h5py.File(folder / "index.nc") as index:
        records = [index["g/x"][name]["window"].id for name in index["g/x"]]
        places = [id.get_chunk_info(1) for id in records if id.get_num_chunks() > 1]
    rng = random.Random(1)
    for _ in range(int(os.environ.get("HYPERSLAB_MUTATIONS", "30"))):
        place = rng.choice(places)
        bad = bytearray(good)
        bad[place.byte_offset + rng.randrange(place.size)] ^= 1 << rng.randrange(8)
        (tmp_path / "index.nc").write_bytes(bad)
        try:
            assert_read(folder / "data.h5", tmp_path / "index.nc", values)
        except subchunk.CorruptIndexError as error:
            assert str(error)
    for cut in (1, 7, 100, len(good) // 2, len(good) - 1):
        (tmp_path / "index.nc").write_bytes(good[:cut])
        with pytest.raises(subchunk.CorruptIndexError):
            assert_read(folder / "data.h5", tmp_path / "index.nc", values)


def test_half_an_index_is_never_left(made, tmp_path, monkeypatch):
    folder, _ = made

    def fail(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chunkindex.write(folder / "data.h5", tmp_path / "index.nc", progress=fail)
    assert not list(tmp_path.iterdir())


def test_a_file_of_which_no_chunk_was_written_is_read_with_its_index(tmp_path):
    path, index = tmp_path / "a.h5", tmp_path / "a.nc"
    with h5py.File(path, "w") as file:
        file.create_dataset("g/d", (10, 10), "f4", chunks=(5, 5), compression=4, fillvalue=3)
        file.create_dataset("e", (4,), "f4", chunks=(2,), compression=4)
    subchunk.chunkindex.write(path, index)
    with subchunk.open(path, index) as file:
        assert (file["g/d"][3:, 2] == 3).all() and not file["e"][...].any()
    with h5py.File(index, "w") as file:
        file["x"] = 1
    with pytest.raises(subchunk.CorruptIndexError, match="no index"):
        subchunk.open(path, index)["e"]
