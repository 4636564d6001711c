"""The kernel is compiled once, and moves what it is told: of plain files, of netCDF-C and HDF5."""

import ctypes
import os
import subprocess
import sys

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab.kernels import Hdf5File, LibraryError, NetcdfFile, PlainFile, library
from hyperslab.kernels import kernel_build as build
from hyperslab.kernels.kernel_build import FLAGS, KernelError
from hyperslab.measure.counters import Counters

PROGRAM = "from hyperslab.kernels.kernel_build import kernel; print(bool(kernel().hs_plain))"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of our own, and no kernel kept from before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build.kernel.cache_clear()
    yield tmp_path / "hyperslab"
    build.kernel.cache_clear()


def test_it_is_compiled_once_for_a_compiler_and_its_flags(cache, monkeypatch):
    build.kernel()
    times = [path.stat().st_mtime_ns for path in cache.iterdir()]
    for number, (flag, compiler) in enumerate((("", "cc"), ("-DX=1", "cc"), ("", "cc -g0")), 1):
        build.kernel.cache_clear()
        monkeypatch.setattr(build, "FLAGS", (*FLAGS, *flag.split()))
        monkeypatch.setenv("CC", compiler)
        assert build.kernel().hs_plain
        assert len(list(cache.iterdir())) == number
    assert times[0] in [path.stat().st_mtime_ns for path in cache.iterdir()]


def test_first_builds_at_once_are_safe_and_a_broken_entry_is_made_again(cache):
    words = [sys.executable, "-W", "error", "-c", PROGRAM]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == [b"True\n"] * 3
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    for broken in (b"\x7fELF no library", whole[: len(whole) // 2]):
        path.write_bytes(broken)
        assert subprocess.run(words, capture_output=True).stdout == b"True\n"
        assert list(cache.iterdir()) == [path] and path.read_bytes() == whole


def test_without_a_compiler_that_works_it_says_what_to_do(cache, monkeypatch, tmp_path):
    script = tmp_path / "cc"
    for text, message in (
        ('[ "$1" = --version ] && exit 0; echo "reads.c:12: error: no stdio.h" >&2; exit 1',
         r"error: no stdio\.h; a whole compiler is needed"),
        ('for a in "$@"; do [ "$b" = -o ] && echo text > "$a"; b=$a; done', "does not load"),
    ):  # fmt: skip
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setenv("CC", str(script))
        with pytest.raises(KernelError, match=message):
            build.kernel()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KernelError, match=r"no C compiler: 'cc'.*apt-get install gcc.*macOS.*CC"):
        build.kernel()
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert build.cache_folder() == tmp_path / ".cache" / "hyperslab"
    monkeypatch.setenv("XDG_CACHE_HOME", str(script))  # a file
    with pytest.raises(KernelError, match=r"cannot be written .*XDG_CACHE_HOME") as caught:
        build.kernel()
    assert str(tmp_path) not in str(caught.value)


def test_the_source_compiles_without_a_warning(tmp_path):
    command = [*build.compiler(), *build.FLAGS, "-Werror", "-o", os.devnull, str(build.SOURCE)]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


PRELOADED = "import hyperslab.kernels.preloaded as p; print(p.kernel.cache_info().currsize)"


@pytest.mark.parametrize(("compiler", "loaded"), [("cc", "1"), ("no-such-compiler", "0")])
def test_importing_preloaded_loads_the_kernel_and_is_silent_where_there_is_none(compiler, loaded):
    words, env = [sys.executable, "-c", PRELOADED], os.environ | {"CC": compiler}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == (loaded, "")


SIZE = 70_000
BYTES = np.random.default_rng(3).integers(0, 256, SIZE, "u1")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "a.bin"
    path.write_bytes(BYTES.tobytes())
    return path


@pytest.mark.parametrize("stdio", [False, True], ids=["pread", "fread"])
@settings(max_examples=25)
@given(pieces=st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, 9000)), max_size=8))
def test_any_pieces_are_those_of_the_file_and_its_end_is_named(path, stdio, pieces):
    pieces = [(offset, min(length, SIZE - offset)) for offset, length in pieces]
    offsets, lengths = np.array(pieces, "i8").reshape(-1, 2).T
    out = np.empty(lengths.sum(), "u1")
    with PlainFile(path, stdio=stdio) as file:
        file.access("read", offsets, lengths, out)
    assert out.tobytes() == b"".join(BYTES[a : a + n].tobytes() for a, n in pieces)
    message = r"call 1, 100 bytes at 69950: the file ends"
    with PlainFile(path, stdio=stdio) as file, pytest.raises(LibraryError, match=message):
        file.access("read", [0, SIZE - 50], 100, np.empty(200, "u1"))


def test_what_is_written_stands_in_the_file(tmp_path):
    values, each = BYTES[:600], np.full(6, np.nan)
    with PlainFile(tmp_path / "new.bin", write=True) as file:
        backwards = [500, 400, 300, 200, 100, 0]
        assert file.access("write", backwards, 100, values, each=each) >= each.sum() > 0
        assert file.sync() > 0
        out = np.empty(100, "u1")
        file.access("read", [500, 0], 100, out, reuse=True)
    assert out.tobytes() == values[500:].tobytes()
    written = np.frombuffer((tmp_path / "new.bin").read_bytes(), "u1").reshape(6, 100)
    assert written[::-1].tobytes() == values.tobytes()


def test_what_cannot_be_is_refused(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        PlainFile(tmp_path / "absent.bin")
    out = np.empty(10, "u1")
    with PlainFile(path) as file:
        for action, offset, length, error, message in (
            ("read", -1, 5, ValueError, "numbers from 0"),
            ("read", 0.7, 5, TypeError, "offsets must be integers, not float64"),
            ("write", 0, 5, LibraryError, "Bad file descriptor"),
        ):
            with pytest.raises(error, match=message):
                file.access(action, [offset], length, out)
        with pytest.raises(ValueError, match="each must be float64"):
            file.access("read", [0], 5, out, each=np.zeros(2))


SHAPE, DIMS = (13, 17), ("y", "x")
OUT = np.zeros(SHAPE, "i4")
MODELS = {"netcdf3": "NETCDF3_CLASSIC", "netcdf4": "NETCDF4"}
# A format of netCDF, or HDF5 itself, and how the array is stored.
LAYOUTS = {
    **{name: (name, {}) for name in MODELS},
    "netcdf4-chunked": ("netcdf4", {"chunks": (5, 4)}),
    "netcdf4-one-chunk": ("netcdf4", {"chunks": SHAPE, "fill": False}),
    "netcdf4-cached": ("netcdf4", {"chunks": (13, 1), "cache_bytes": 4096}),
    "hdf5": ("hdf5", {}),
    "hdf5-chunked": ("hdf5", {"chunks": (4, 5), "cache_bytes": 100}),
    "hdf5-early": ("hdf5", {"chunks": SHAPE, "early": True}),
}
DTYPES = {"netcdf3": ("i2", "i4", "f4", "f8"), "netcdf4": ("u1", "i8", "f8"), "hdf5": ("i1", "i8")}
CASES = [(layout, dtype) for layout in LAYOUTS for dtype in DTYPES.get(layout, ("i4",))]


def values(dtype):
    array = np.random.default_rng(5).integers(0, 99, SHAPE).astype(dtype)
    if dtype[0] == "f":
        array.flat[:4] = (np.nan, -0.0, np.inf, np.finfo(dtype).smallest_subnormal)
    return array


def create(path, layout, dtype):
    format, options = LAYOUTS[layout]
    if format == "hdf5":
        return Hdf5File.create(path, "a", SHAPE, dtype, **options)
    return NetcdfFile.create(path, format, "a", DIMS, SHAPE, dtype, **options)


def opened(path, layout, **options):
    return (Hdf5File if layout.startswith("hdf5") else NetcdfFile).open(path, "a", **options)


@st.composite
def accesses(draw):
    """Start, count and step of one access along each axis."""
    axes = []
    for size in SHAPE:
        start, step = draw(st.integers(0, size - 1)), draw(st.integers(1, 6))
        axes.append((start, draw(st.integers(1, (size - start - 1) // step + 1)), step))
    return tuple(zip(*axes, strict=True))


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def written(request, tmp_path_factory):
    """A file that the kernel wrote: that others read the same of it is tested below."""
    layout, dtype = request.param
    path = tmp_path_factory.mktemp("file") / "a.nc"
    with create(path, layout, dtype) as file:
        file.access("write", [[0, 0]], SHAPE, None, values(dtype))
    return path, layout, values(dtype)


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(chosen=st.lists(accesses(), min_size=1, max_size=5), keep=st.booleans())
def test_any_accesses_read_what_is_there(written, chosen, keep):
    path, layout, array = written
    starts, counts, steps = (np.array(numbers) for numbers in zip(*chosen, strict=True))
    options = {"keep_spaces": keep, "keep_list": not keep} if layout.startswith("hdf5") else {}
    ends = starts + (counts - 1) * steps + 1
    boxes = [tuple(map(slice, *bounds)) for bounds in zip(starts, ends, steps, strict=True)]
    expected = b"".join(array[box].tobytes() for box in boxes)
    with opened(path, layout) as file:
        assert (file.shape, file.dtype) == (SHAPE, array.dtype)
        for reuse in (False, True):  # each access at the buffer's start: the last one is left
            out = np.empty(counts.prod(axis=1).sum(), array.dtype)
            strides = None if (steps == 1).all() else steps
            assert file.access("read", starts, counts, strides, out, **options, reuse=reuse) > 0
            last = array[boxes[-1]].tobytes()
            assert out.tobytes().startswith(last) if reuse else out.tobytes() == expected


@pytest.mark.parametrize(("layout", "dtype"), CASES, ids=lambda name: name)
def test_what_it_writes_is_read_by_others(tmp_path, layout, dtype):
    array, (rows, columns), path = values(dtype), SHAPE, tmp_path / "a.nc"
    format, stored = LAYOUTS[layout]
    chunks = stored.get("chunks")
    for starts, counts, steps, pieces in (
        ([[0, j] for j in range(columns)], [rows, 1], None, array.T),
        ([[0, 0]], SHAPE, None, array),
        ([[0, 0], [1, 0]], [[7, columns], [6, columns]], [2, 1],
         np.concatenate([array[::2], array[1::2]])),
    ):  # fmt: skip
        with create(path, layout, dtype) as file:
            file.access("write", starts, counts, steps, np.ascontiguousarray(pieces))
            assert format == "hdf5" or file.sync() > 0
        if format == "hdf5":
            with h5py.File(path) as other:
                alloc = other["a"].id.get_create_plist().get_alloc_time()
                assert (alloc == h5py.h5d.ALLOC_TIME_EARLY) == (layout == "hdf5-early")
                assert (other["a"].chunks, other["a"].dtype) == (chunks, array.dtype)
                assert other["a"][...].tobytes() == array.tobytes()
        else:
            with netCDF4.Dataset(path) as other:
                assert other.data_model == MODELS[format]
                other.set_auto_maskandscale(False)
                assert other["a"][:].tobytes() == array.tobytes()
                if format.startswith("netcdf4"):
                    assert other["a"].chunking() == (list(chunks) if chunks else "contiguous")


@pytest.mark.parametrize("layout", ["netcdf4", "hdf5"])
def test_the_end_of_the_block_closes_it_once_and_an_access_may_take_nothing(tmp_path, layout):
    out, whole = np.zeros(2, "i4"), ([[0, 0]], SHAPE, None, values("i4"))
    with create(tmp_path / "a", layout, "i4") as file:
        file.access("write", *whole)
        file.access("read", [[13, 0], [0, 3]], [[0, 0], [2, 1]], [3, 1], out)  # one at the end
        assert out.tolist() == values("i4")[:6:3, 3].tolist()
    assert file.close() == 0
    with pytest.raises(ValueError, match=r"a: the file is closed; open it again"):
        file.access("write", *whole)
    with pytest.raises(KeyError, match="mine"), create(tmp_path / "b", layout, "i4") as file:
        raise KeyError("mine")
    assert file.close() == 0


def test_it_runs_on_the_library_that_netcdf4_python_loaded_and_in_its_own_format(tmp_path):
    """h5py's own HDF5, which has the same names, is not the one."""
    version = (ctypes.c_uint * 3)()
    library.function("H5get_libversion")(*(ctypes.byref(version, 4 * index) for index in range(3)))
    assert ".".join(map(str, version)) == netCDF4.__hdf5libversion__
    for format, last in zip(MODELS, reversed(MODELS.values()), strict=True):
        netCDF4.Dataset(tmp_path / "last.nc", "w", format=last).close()
        NetcdfFile.create(tmp_path / "a.nc", format, "a", DIMS, SHAPE, "i4").close()
        with netCDF4.Dataset(tmp_path / "a.nc") as file:
            assert file.data_model == MODELS[format]


def test_chunk_caches_and_the_sieve_buffer_are_said_and_set(tmp_path):
    path = tmp_path / "a.nc"
    for layout, size in (("hdf5-chunked", 100), ("netcdf4-cached", 4096)):
        with create(path, layout, "i4") as file:
            assert file.chunk_cache_bytes() == size
    with opened(path, "netcdf4", cache_bytes=12345) as file:
        assert file.chunk_cache_bytes() == 12345
    array, rows = np.ones((2**10, 64), "i8"), [[i, 0] for i in range(2**10)]
    with Hdf5File.create(path, "a", array.shape, "i8") as file:
        file.access("write", [[0, 0]], array.shape, None, array)
    for sieve, calls in ((None, 8), (0, 1024)):
        with Hdf5File.open(path, "a", sieve_bytes=sieve) as file:
            counters = Counters()
            before = counters.start()
            file.access("read", rows, [1, 64], None, array)
            count = (counters.stop() - before).syscr
            assert count in (calls, calls + 1) or np.isnan(count)  # not counted here


def test_errors_name_what_fails_and_print_nothing(tmp_path, capfd):
    path = tmp_path / "a"
    for layout, missing, absent, refused in (
        ("netcdf3", "^nc_open: No such file", "^nc_inq_varid: .*[Vv]ariable not found",
         "nc_put_vara, call 0: .* Write to read only"),
        ("hdf5", "H5Fopen fails on .*a", "H5Dopen2 fails on b", "H5Dwrite, call 0: HDF5 cannot"),
    ):  # fmt: skip
        with pytest.raises(LibraryError, match=missing):
            opened(path, layout)
        with create(path, layout, "i4") as file, pytest.raises(LibraryError, match=absent):
            type(file).open(path, "b")
        with opened(path, layout) as file, pytest.raises(LibraryError, match=refused):
            file.access("write", [[0, 0]], SHAPE, None, OUT)
        path.unlink()
    with h5py.File(path, "w") as other:
        other["text"] = "words"
    with pytest.raises(ValueError, match="holds no signed integers"):
        Hdf5File.open(path, "text")
    with pytest.raises(LibraryError, match="H5Fcreate fails"):
        Hdf5File.create(tmp_path / "no" / "c.h5", "a", SHAPE, "i4")
    with pytest.raises(LibraryError, match="H5Dcreate2 fails on a"):
        Hdf5File.create(path, "a", SHAPE, "i4", chunks=(99, 1))
    with pytest.raises(LibraryError, match="nc_def_var_chunking"):
        NetcdfFile.create(path, "netcdf4", "a", DIMS, SHAPE, "i4", chunks=(99, 1))
    assert capfd.readouterr().err == ""
    xr.Dataset({"names": ("x", np.array(["one", "two"], object))}).to_netcdf(tmp_path / "d.nc")
    file, message = NetcdfFile.open(tmp_path / "d.nc", "names"), "the variable holds no numbers"
    with file, pytest.raises(ValueError, match=message):
        file.access("read", [[0]], [[2]], None, np.array([None] * 2))


@pytest.mark.parametrize(
    ("where", "buffer", "error", "text"),
    [
        (([[0, 0], [13, 0]], [1, 17], None), OUT, IndexError, r"call 1: start \(13, 0\).* 17\)"),
        (([[0, 0]], [3, 1], [7, 1]), OUT, IndexError, r"stride \(7, 1\) leaves"),
        (([[14, 0]], [0, 17], None), OUT, IndexError, r"start \(14, 0\)"),
        (([[0.7, 0]], [1, 17], None), OUT, TypeError, "starts must be integers, not float64"),
        (([0], [1], None), OUT, ValueError, r"give \(calls, 2\)"),
        (([[0, 0]] * 2, SHAPE, None), OUT, ValueError, "has 884 bytes, the calls need 1768"),
        (([[0, 0]], SHAPE, None), OUT.astype("f8"), ValueError, "is float64, the variable int32"),
        (([[0, 0]], SHAPE, None), OUT.T, ValueError, "C-contiguous"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_read(tmp_path, where, buffer, error, text):
    with create(tmp_path / "a.nc", "netcdf4", "i4") as file, pytest.raises(error, match=text):
        file.access("read", *where, buffer)
