"""What the kernel reads and writes straight on HDF5 is what h5py reads and writes."""

import ctypes
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.kernels import Hdf5File, LibraryError, NetcdfFile
from hyperslab.kernels.hdf5_c import Id, got, prepare
from hyperslab.kernels.library import function, variable

SHAPE = (11, 14)
LAYOUTS = {
    "contiguous": {},
    "chunked": {"chunks": (4, 5)},
    "cached": {"chunks": (4, 5), "cache_bytes": 100},
    "early": {"chunks": SHAPE, "alloc": "early"},
}
DTYPES = ("i1", "u2", "i4", "u8", "f4", "f8")
ALL_KINDS, NULL_SPACE = 0x1F, 2


def values(dtype):
    return np.arange(np.prod(SHAPE)).reshape(SHAPE).astype(dtype)


@pytest.mark.parametrize("keep", [True, False], ids=["spaces-kept", "spaces-made"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_it_writes_is_read_by_h5py(tmp_path, layout, dtype, keep):
    path, array = tmp_path / "a.h5", values(dtype)
    rows = [[i, 0] for i in range(SHAPE[0])]
    with Hdf5File.create(path, "a", SHAPE, dtype, **LAYOUTS[layout]) as file:
        options = {"keep_spaces": keep, "keep_list": keep}
        assert file.access("write", rows, [1, SHAPE[1]], None, array, **options) > 0
        assert file.sync() > 0
    with h5py.File(path) as other:
        assert other["a"].dtype == array.dtype
        assert other["a"].chunks == LAYOUTS[layout].get("chunks")
        assert other["a"][...].tobytes() == array.tobytes()
        alloc = other["a"].id.get_create_plist().get_alloc_time()
        assert (alloc == h5py.h5d.ALLOC_TIME_EARLY) == (layout == "early")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for layout, options in LAYOUTS.items():
        with Hdf5File.create(folder / layout, "a", SHAPE, "f8", **options) as file:
            file.access("write", [[0, 0]], SHAPE, None, values("f8"))
    with h5py.File(folder / "deflated", "w") as file:
        file.create_dataset("a", data=values("f8"), chunks=(4, 5), compression=1, shuffle=True)
    return folder


@settings(max_examples=25)
@given(data=st.data())
def test_any_accesses_read_what_h5py_reads(files, data):
    chosen = []
    for _ in range(data.draw(st.integers(1, 4))):
        axes = []
        for size in SHAPE:
            start, step = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, 4))
            count = data.draw(st.integers(1, (size - start - 1) // step + 1))
            axes.append((start, count, step))
        chosen.append(tuple(zip(*axes, strict=True)))
    starts, counts, steps = (np.array(part) for part in zip(*chosen, strict=True))
    keep = data.draw(st.booleans())
    out = np.empty(counts.prod(axis=1).sum())
    path = files / data.draw(st.sampled_from([*LAYOUTS, "deflated"]))
    with Hdf5File.open(path, "a") as file:
        assert (file.shape, file.dtype) == (SHAPE, np.dtype("f8"))
        file.access("read", starts, counts, steps, out, keep_spaces=keep, keep_list=not keep)
    with h5py.File(path) as other:
        wanted = [
            other["a"][tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(*one))].tobytes()  # noqa: B905
            for one in chosen
        ]
    assert out.tobytes() == b"".join(wanted)


def test_it_reads_what_the_kernel_wrote_through_netcdf(tmp_path):
    path, array = tmp_path / "a.nc", values("i4")
    with NetcdfFile.create(path, "netcdf4", "a", ("y", "x"), SHAPE, "i4") as file:
        file.access("write", [[0, 0]], SHAPE, None, array)
    out, each = np.zeros(SHAPE[1], "i4"), np.full(SHAPE[0], np.nan)
    with Hdf5File.open(path, "a") as file:
        rows = [[i, 0] for i in range(SHAPE[0])]
        file.access("read", rows, [1, SHAPE[1]], None, out, reuse=True, each=each)
    assert out.tobytes() == array[-1].tobytes()
    assert (each >= 0).all()


def test_the_chunk_cache_and_the_sieve_buffer_are_set(tmp_path):
    path, array = tmp_path / "a.h5", np.arange(2**16, dtype="f8").reshape(2**10, -1)
    with Hdf5File.create(path, "a", array.shape, "f8") as file:
        file.access("write", [[0, 0]], array.shape, None, array)
    for sieve, calls in ((None, 8), (0, 1024)):
        out, rows = np.zeros_like(array), [[i, 0] for i in range(len(array))]
        with Hdf5File.open(path, "a", sieve_bytes=sieve) as file:
            before = read_calls()
            file.access("read", rows, [1, array.shape[1]], None, out)
            assert read_calls() - before in (calls, calls + 1, 0)  # 0: not counted here
        assert out.tobytes() == array.tobytes()
    with Hdf5File.create(path, "a", SHAPE, "i4", chunks=(2, 2), cache_bytes=4321) as file:
        assert file.chunk_cache_bytes() == 4321


def read_calls():
    """Read calls of this process so far, this one's own not counted; 0 where nobody counts."""
    path = Path("/proc/self/io")
    if not path.exists():
        return 0
    with path.open("rb", buffering=0) as handle:
        table = dict(line.split(": ") for line in handle.read(512).decode().splitlines())
    return int(table["syscr"])


def test_errors_name_what_fails_and_print_nothing(tmp_path, capfd):
    path = tmp_path / "a.h5"
    with pytest.raises(LibraryError, match=r"H5Fopen fails on .*a\.h5"):
        Hdf5File.open(path, "a")
    with Hdf5File.create(path, "a", SHAPE, "i4"):
        pass
    with pytest.raises(LibraryError, match="H5Dopen2 fails on b"):
        Hdf5File.open(path, "b")
    with Hdf5File.open(path, "a") as file:
        with pytest.raises(LibraryError, match="HDF5 cannot write, call 0 of 1"):
            file.access("write", [[0, 0]], SHAPE, None, values("i4"))
        with pytest.raises(ValueError, match="the buffer is float64"):
            file.access("read", [[0, 0]], SHAPE, None, values("f8"))
        assert file.close() >= 0 and file.close() == 0
        with pytest.raises(ValueError, match="is closed"):
            file.sync()
    with pytest.raises(ValueError, match="alloc='never': give one of default, early"):
        Hdf5File.create(path, "a", SHAPE, "i4", alloc="never")
    with pytest.raises(ValueError, match="dtype=complex128"):
        Hdf5File.create(path, "a", SHAPE, "c16")
    with h5py.File(path, "w") as other:
        other["text"] = "words"
    with pytest.raises(ValueError, match="holds no numbers"):
        Hdf5File.open(path, "text")
    assert capfd.readouterr().err == ""


@contextmanager
def nothing_left():
    """Check that what the block opens in HDF5 it closes: identifiers count up, kind by kind."""
    before, held = list(numbers()), objects()
    yield
    assert objects() == held
    for first, last in zip(before, numbers(), strict=True):
        assert first < last
        left = [each for each in range(first + 1, last) if function("H5Iis_valid")(Id(each)) > 0]
        assert not left


def objects():
    """How many files, groups, datasets, attributes and named types are open, in any file."""
    return got("H5Fget_obj_count", Id(ALL_KINDS), ctypes.c_uint(ALL_KINDS), kind=ctypes.c_ssize_t)


def numbers():
    """The next identifiers of a dataspace, a property list and a datatype, closed again."""
    prepare()
    for close, made in (
        ("H5Sclose", got("H5Screate", NULL_SPACE)),
        ("H5Pclose", got("H5Pcreate", Id(variable("H5P_CLS_DATASET_CREATE_ID_g")))),
        ("H5Tclose", got("H5Tcopy", Id(variable("H5T_NATIVE_INT32_g")))),
    ):
        got(close, Id(made), kind=ctypes.c_int)
        yield made


def test_nothing_stays_open_in_hdf5(tmp_path):
    path = tmp_path / "a.h5"

    def work():
        with Hdf5File.create(path, "a", SHAPE, "f8", cache_bytes=4321, **LAYOUTS["early"]) as file:
            file.access("write", [[0, 0]], SHAPE, None, values("f8"), keep_list=False)
        with Hdf5File.open(path, "a", cache_bytes=4321, sieve_bytes=0) as file:
            file.chunk_cache_bytes()
            file.access("read", [[0, 0]], SHAPE, None, values("f8"))

    work()
    with nothing_left():
        work()


def test_a_refused_dataset_leaves_nothing_open(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as other:
        other["text"] = "words"
        other["half"] = np.zeros(3, "f2")
    for name in ("text", "half", "absent"):
        with nothing_left(), pytest.raises((ValueError, LibraryError)):
            Hdf5File.open(path, name, cache_bytes=100, sieve_bytes=0)
    with nothing_left(), pytest.raises(LibraryError, match="H5Dcreate2 fails on a"):
        Hdf5File.create(tmp_path / "c.h5", "a", SHAPE, "i4", chunks=(99, 1), cache_bytes=100)
    with nothing_left(), pytest.raises(LibraryError, match="H5Fcreate fails"):
        Hdf5File.create(tmp_path / "no" / "c.h5", "a", SHAPE, "i4", cache_bytes=100)
