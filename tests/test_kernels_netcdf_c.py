"""What the kernel reads and writes through netCDF-C is what netCDF4-python reads and writes."""

import h5py
import netCDF4
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab.kernels import LibraryError, NetcdfFile, library
from hyperslab.kernels.netcdf_c import NoNumbersError, names

SHAPE = (13, 17)
DIMS = ("y", "x")
DTYPES = ("i2", "i4", "f4", "f8")
LAYOUTS = {
    "netcdf3": ("netcdf3", {}),
    "netcdf3-64bit": ("netcdf3-64bit", {}),
    "cdf5": ("cdf5", {}),
    "netcdf4": ("netcdf4", {}),
    "netcdf4-chunked": ("netcdf4", {"chunks": (5, 4)}),
    "netcdf4-one-chunk": ("netcdf4", {"chunks": SHAPE, "fill": False}),
    "netcdf4-classic": ("netcdf4-classic", {"chunks": (13, 1), "cache_bytes": 4096}),
}
# Types by themselves in one layout of each model, and the shortest and the longest in all.
CASES = [
    (layout, dtype)
    for layout in LAYOUTS
    for dtype in (DTYPES if layout in ("netcdf3", "netcdf4-chunked") else ("i2", "f8"))
]
MODELS = {
    "netcdf3": "NETCDF3_CLASSIC",
    "netcdf3-64bit": "NETCDF3_64BIT_OFFSET",
    "cdf5": "NETCDF3_64BIT_DATA",
    "netcdf4": "NETCDF4",
    "netcdf4-classic": "NETCDF4_CLASSIC",
}


def values(dtype):
    array = np.random.default_rng(5).integers(-9999, 9999, SHAPE).astype(dtype)
    if dtype[0] == "f":
        array.flat[:4] = (np.nan, -0.0, np.inf, np.finfo(dtype).smallest_subnormal)
    return array


def create(path, layout, dtype):
    format, options = LAYOUTS[layout]
    return NetcdfFile.create(path, format, "a", DIMS, SHAPE, dtype, **options)


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def written(request, tmp_path_factory):
    """A file written by netCDF4-python, in the layout that the kernel gives it."""
    layout, dtype = request.param
    path = tmp_path_factory.mktemp("file") / "a.nc"
    create(path, layout, dtype).close()
    with netCDF4.Dataset(path, "a") as file:
        assert file.data_model == MODELS[LAYOUTS[layout][0]]
        file.set_auto_maskandscale(False)
        file["a"][:] = values(dtype)
    return path, values(dtype)


@st.composite
def selections(draw):
    """Start, count and step of one access along each axis."""
    axes = []
    for size in SHAPE:
        start = draw(st.integers(0, size - 1))
        step = draw(st.integers(1, 6))
        axes.append((start, draw(st.integers(1, (size - start - 1) // step + 1)), step))
    return tuple(zip(*axes, strict=True))


def taken(array, starts, counts, steps):
    return array[
        tuple(
            slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, counts, steps, strict=True)
        )
    ]


RELAXED = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@RELAXED
@given(chosen=st.lists(selections(), min_size=1, max_size=5), strided=st.booleans())
def test_any_accesses_read_what_netcdf4_python_reads(written, chosen, strided):
    path, array = written
    if not strided:
        chosen = [
            (starts, [min(n, size - a) for a, n, size in zip(starts, counts, SHAPE, strict=True)],
             [1, 1])
            for starts, counts, _ in chosen
        ]  # fmt: skip
    starts, counts, steps = (np.array(part) for part in zip(*chosen, strict=True))
    out = np.empty(counts.prod(axis=1).sum(), array.dtype)
    with NetcdfFile.open(path, "a") as file:
        assert (file.shape, file.dtype) == (SHAPE, array.dtype)
        seconds = file.access("read", starts, counts, steps if strided else None, out)
    assert seconds > 0
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        whole = file["a"][:]
    wanted = b"".join(taken(whole, *one).tobytes() for one in chosen)
    assert out.tobytes() == wanted == b"".join(taken(array, *one).tobytes() for one in chosen)


@pytest.mark.parametrize("by", ["rows", "columns", "one", "strided"])
@pytest.mark.parametrize(("layout", "dtype"), CASES, ids=lambda part: part)
def test_what_it_writes_is_read_by_netcdf4_python(tmp_path, layout, dtype, by):
    array = values(dtype)
    rows, columns = SHAPE
    starts, counts, steps, pieces = {
        "rows": ([[i, 0] for i in range(rows)], [1, columns], None, array),
        "columns": ([[0, j] for j in range(columns)], [rows, 1], None, array.T),
        "one": ([[0, 0]], SHAPE, None, array),
        "strided": (
            [[0, 0], [1, 0]], [[7, columns], [6, columns]], [2, 1],
            np.concatenate([array[::2], array[1::2]]),
        ),
    }[by]  # fmt: skip
    path = tmp_path / "a.nc"
    with create(path, layout, dtype) as file:
        file.access("write", starts, counts, steps, np.ascontiguousarray(pieces))
        assert file.sync() > 0
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        assert file["a"][:].tobytes() == array.tobytes()
        chunks = LAYOUTS[layout][1].get("chunks")
        if layout.startswith("netcdf4"):
            assert file["a"].chunking() == (list(chunks) if chunks else "contiguous")


def test_it_runs_on_the_library_that_netcdf4_python_loaded():
    """h5py's own HDF5, which has the same names, is not the one."""
    assert library.versions() == (netCDF4.__netcdf4libversion__, netCDF4.__hdf5libversion__)


def test_a_buffer_may_be_used_again_for_every_call(written):
    path, array = written
    out = np.empty(SHAPE[1], array.dtype)
    each = np.full(SHAPE[0], np.nan)
    starts = [[i, 0] for i in range(SHAPE[0])]
    with NetcdfFile.open(path, "a") as file:
        total = file.access("read", starts, [1, SHAPE[1]], None, out, reuse=True, each=each)
    assert out.tobytes() == array[-1].tobytes()
    assert (each >= 0).all() and each.sum() <= total


def test_the_chunk_cache_is_said_and_set(tmp_path):
    path = tmp_path / "a.nc"
    with create(path, "netcdf4-chunked", "i4") as file:
        assert file.chunks() == (5, 4)
        default = file.chunk_cache_bytes()
    with NetcdfFile.open(path, "a", cache_bytes=12345) as file:
        assert file.chunk_cache_bytes() == 12345
    with NetcdfFile.open(path, "a") as file, netCDF4.Dataset(path) as other:
        assert file.chunk_cache_bytes() == default == other["a"].get_var_chunk_cache()[0]
    with create(path, "netcdf4", "i4") as file:
        assert file.chunks() is None


@pytest.mark.parametrize("format", ["netcdf3", "netcdf4"])
def test_storage_is_filled_or_not(tmp_path, format):
    written = {}
    for fill in (True, False):
        path = tmp_path / f"{fill}.nc"
        with NetcdfFile.create(path, format, "a", DIMS, SHAPE, "i4", fill=fill) as file:
            file.access("write", [[0, 0]], [1, 1], None, np.zeros(1, "i4"))
        with netCDF4.Dataset(path) as other:
            other.set_auto_maskandscale(False)
            written[fill] = other["a"][:].ravel()[1:]
        if format == "netcdf4":
            with h5py.File(path) as plain:
                when = plain["a"].id.get_create_plist().get_fill_time()
                assert (when == h5py.h5d.FILL_TIME_NEVER) == (not fill)
    assert (written[True] == netCDF4.default_fillvals["i4"]).all()
    assert not (written[False] == netCDF4.default_fillvals["i4"]).any()


@pytest.mark.parametrize("format", MODELS)
def test_the_last_file_of_netcdf4_python_does_not_choose_the_format(tmp_path, format):
    for last in MODELS.values():
        netCDF4.Dataset(tmp_path / "last.nc", "w", format=last).close()
        NetcdfFile.create(tmp_path / "a.nc", format, "a", DIMS, SHAPE, "i4").close()
        with netCDF4.Dataset(tmp_path / "a.nc") as file:
            assert file.data_model == MODELS[format]


def test_errors_come_in_the_librarys_words(tmp_path):
    path = tmp_path / "a.nc"
    with pytest.raises(LibraryError, match=r"^nc_open: No such file"):
        NetcdfFile.open(path, "a")
    create(path, "netcdf3", "i4").close()
    with pytest.raises(LibraryError, match=r"^nc_inq_varid: .*[Vv]ariable not found"):
        NetcdfFile.open(path, "b")
    read_only = pytest.raises(LibraryError, match=r"nc_put_vara, call 0: .* Write to read only")
    with NetcdfFile.open(path, "a") as file, read_only:
        file.access("write", [[0, 0]], [1, 4], None, np.zeros(4, "i4"))


@pytest.mark.parametrize(
    ("format", "dtype", "options", "said"),
    [
        ("zarr2", "i4", {}, "format='zarr2': give one of netcdf3"),
        ("netcdf4", "c16", {}, "dtype='c16'"),
        ("netcdf3", "i4", {"chunks": (1, 1)}, "chunks and cache_bytes need netcdf4, not 'netcdf3'"),
        ("netcdf4", "i4", {"chunks": (99, 1)}, "nc_def_var_chunking"),
    ],
)
def test_what_cannot_be_created_is_refused(tmp_path, format, dtype, options, said):
    with pytest.raises((ValueError, LibraryError), match=said):
        NetcdfFile.create(tmp_path / "a.nc", format, "a", DIMS, SHAPE, dtype, **options)


OUT = np.zeros(SHAPE, "i4")


@pytest.mark.parametrize(
    ("where", "buffer", "error", "said"),
    [
        (([[0, 0], [13, 0]], [1, 17], None), OUT, IndexError, r"call 1: start \(13, 0\).* 17\)"),
        (([[0, 0]], [3, 1], [7, 1]), OUT, IndexError, r"stride \(7, 1\) leaves"),
        (([[0, 0]], [1, 1], [0, 1]), OUT, IndexError, "stride"),
        (([[14, 0]], [0, 17], None), OUT, IndexError, r"start \(14, 0\)"),
        (([[0.7, 0]], [1, 17], None), OUT, TypeError, "starts must be integers, not float64"),
        (([[0, 0]], [1, 1.5], None), OUT, TypeError, "counts must be integers, not float64"),
        (([[0, 0]], [1, 1], [True, True]), OUT, TypeError, "strides must be integers, not bool"),
        (([0], [1], None), OUT, ValueError, r"give \(calls, 2\)"),
        (([[0, 0]] * 2, SHAPE, None), OUT, ValueError, "has 884 bytes, the calls need 1768"),
        (([[0, 0]], SHAPE, None), OUT.astype("f8"), ValueError, "is float64, the variable int32"),
        (([[0, 0]], SHAPE, None), OUT.T, ValueError, "C-contiguous"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_read(tmp_path, where, buffer, error, said):
    with create(tmp_path / "a.nc", "netcdf4", "i4") as file, pytest.raises(error, match=said):
        file.access("read", *where, buffer)


def test_groups_scalars_and_text(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("group/inner/deep", "u2", ())[...] = 7
        file.createVariable("text", "S1", ("x",))
        file.createVariable("words", str, ("x",))
    assert set(names(path)) == {"text", "words", "group/inner/deep"}
    out = np.zeros((), "u2")
    with NetcdfFile.open(path, "/group/inner/deep") as file:
        file.access("read", np.empty((1, 0)), (), None, out)
    assert out == 7
    for name in ("text", "words"):
        with pytest.raises(NoNumbersError, match=f"'{name}' holds no numbers"):
            NetcdfFile.open(path, name)
