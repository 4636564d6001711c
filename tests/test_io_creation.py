"""Creating files and streaming into them, whatever the format."""

import itertools
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import (
    CODECS,
    FORMATS,
    Layout,
    Variable,
    blocks,
    create,
    reader,
    readers,
    write_array,
)
from hyperslab.io.opening import open_source

VALUES = np.arange(12 * 20, dtype="f4").reshape(12, 20)
FIELD = Variable("field", ("y", "x"), VALUES.shape, "f4", fill_value=-1)


def every_codec():
    """All layouts with a codec, shuffled and not, and those with what only some formats have."""
    for format, codec, shuffle in itertools.product(FORMATS, CODECS, (False, True)):
        with suppress(ValueError):
            yield Layout(format, chunks=(100, 105), codec=codec, shuffle=shuffle)
    for format in ("hdf5", "netcdf4"):
        yield Layout(format, (100, 105), "deflate", 7, shuffle=True, fletcher32=True)
        yield Layout(format, byteorder="big")
    yield Layout("nczarr", (100, 105))
    yield Layout("zarr2", (100, 105), "deflate", shuffle=True, byteorder="big")
    yield Layout("zarr3", (100, 105), "deflate", byteorder="big")
    yield Layout("zarr3", (50, 105), "zstd", 3, shards=(150, 210))


def read(path, layout, name="data", selection=...):
    """Read with the first reader that can."""
    with reader(readers(layout)[0]).open(path, name) as opened:
        return opened.read(selection)


@pytest.fixture(params=FORMATS)
def layout(request):
    return Layout(request.param)


@pytest.mark.parametrize("layout", list(every_codec()), ids=str)
def test_what_is_written_is_smaller_described_as_its_layout_and_given_back(tmp_path, layout):
    values = np.arange(200 * 210, dtype="i4").reshape(200, 210) // 100
    path = tmp_path / f"a{layout.suffix}"
    size = write_array(path, values, layout, dims=("y", "x"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert size == sum(path.stat().st_size for path in files)
    assert size < values.nbytes or not layout.codec
    assert np.array_equal(read(path, layout), values)
    with open_source(path) as source:
        variable = source.variables["data"]
    if layout.format != "nczarr" or not layout.codec:  # which is not described
        order = sys.byteorder if layout.byteorder == "native" else layout.byteorder
        expected = replace(layout, level=layout.effective_level, byteorder=order)
        assert (replace(variable.layout, byteorder=order), variable.byteorder) == (expected, order)
    assert (source.format, variable.dtype) == (layout.format, "i4")
    assert variable.dims == (("dim_200", "dim_210") if layout.format == "hdf5" else ("y", "x"))


@pytest.mark.parametrize("shape", [(3, 24, 20), (3, 20, 24)])
def test_any_pieces_are_written_as_numpy_assigns_them_wherever_chunks_lie(tmp_path, layout, shape):
    """Values may have leading axes of one, or lack some."""
    values = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    chunked = layout.format not in ("binary", "netcdf3", "netcdf3-64bit", "cdf5")
    layout = Layout(layout.format, (1, 8, 5) if chunked else None)
    path = str(tmp_path / f"with space é{layout.suffix}")
    expected = np.zeros(shape, "f4")
    with create(path, [Variable("a", ("t", "y", "x"), shape, "f4", fill_value=0)], layout) as w:
        for selection, piece in (
            (0, values[:1]),
            ((1, slice(4, 21)), values[:1, 4:21]),
            ((2, ..., slice(3, 9)), values[2, 0, 3:9]),
            ((2, 3, slice(0, 20, 2)), values[2, 3, :20:2]),
            ((2, 3, slice(1, 20, 2)), values[2, 3, 1:20:2]),
            ((1, 3, 3), np.array(5, "f4")),
        ):
            expected[selection] = piece
            w.write("a", selection, piece)
    assert np.array_equal(read(path, layout, "a"), expected)


def test_a_synced_file_can_be_read_before_it_is_closed(tmp_path, layout):
    (tmp_path / "made").mkdir()
    with create(tmp_path / "made" / "a", [FIELD], layout) as writer:
        writer.write("field", ..., VALUES)
        writer.sync()
        copied = shutil.copytree(tmp_path / "made", tmp_path / "copied") / "a"
    if layout.format == "nczarr":  # netCDF-C writes the arrays' metadata only when it closes
        assert (copied / "field" / "0.0").stat().st_size == VALUES.nbytes
    else:
        assert np.array_equal(read(copied, layout, "field"), VALUES)


def test_what_a_writer_and_create_refuse_is_named(tmp_path, layout):
    path = tmp_path / "a"
    with create(path, [FIELD], layout) as writer:
        with pytest.raises(KeyError, match="no variable 'other' here; there are field"):
            writer.write("other", ..., VALUES)
        writer.write("field", ..., VALUES)
    writer.close()
    with pytest.raises(ValueError, match="the file is closed"):
        writer.write("field", ..., VALUES)
    with pytest.raises(FileExistsError, match="exists; remove it"):
        write_array(path, VALUES + 1, layout)
    assert np.array_equal(read(path, layout, "field"), VALUES)
    write_array(path, VALUES[:6], layout, overwrite=True)
    assert np.array_equal(read(path, layout), VALUES[:6])
    with pytest.raises(FileNotFoundError, match="absent is not a directory"):
        write_array(tmp_path / "absent" / "a", VALUES, layout)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("")
    with pytest.raises(FileExistsError, match="no Zarr store: it is left alone"):
        write_array(tmp_path / "thesis", VALUES, layout, overwrite=True)
    assert (tmp_path / "thesis" / "chapter1.tex").exists()


def test_a_definition_that_fails_and_a_body_that_raises_leave_nothing(tmp_path, layout):
    if layout.format != "binary":
        odd = Variable("field", ("y", "x"), VALUES.shape, "f4", {"odd": {"a": object()}})
        with pytest.raises((TypeError, ValueError, KeyError)):
            create(tmp_path / "a", [odd], layout)
        assert list(tmp_path.iterdir()) == []
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), create(tmp_path / "a", [FIELD], layout) as writer:
            writer.write("field", ..., VALUES)
            raise error
        assert list(tmp_path.iterdir()) == []


LIMITED = """
import os, resource, sys
import numpy as np
from hyperslab.io import Layout, Variable, create
resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, resource.RLIM_INFINITY))
noise = np.random.default_rng(0).integers(0, 2**31, (300, 300), "i4")
grid = Variable("a", ("y", "x"), noise.shape, "i4")
for layout in (Layout("hdf5", (90, 90), "deflate"), Layout("zarr3", (90, 90), "zstd")):
    for where in ("finish", "sync", "close"):
        try:
            with create(sys.argv[1], [grid], layout) as writer:
                writer.write("a", ..., noise)
                {"finish": lambda: writer.finish("a"), "sync": writer.sync}.get(where, int)()
        except OSError:
            print(where, os.path.exists(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits are Linux's")
def test_what_cannot_be_written_is_an_error_wherever_it_shows_and_leaves_nothing(tmp_path):
    """In HDF5 that is where chunks leave its cache; in Zarr others are on their way then."""
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "a")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (2 * "finish False\nsync False\nclose False\n", "")


@pytest.mark.parametrize("layout", FORMATS[1:], indirect=True)  # binary has no attributes
def test_coordinates_and_attributes_are_stored(tmp_path, layout):
    time = Variable("t", ("t",), (12,), "f8", {"units": "days since 2000-01-01"})
    field = Variable("field", ("t", "x"), VALUES.shape, "f4", {"flags": [1, 2]}, fill_value=0)
    beside = {"coordinates": {"t": (time, np.arange(12) / 2)}, "attrs": {"title": "é"}}
    with create(tmp_path / "a", [field], layout, **beside) as writer:
        writer.write("field", ..., VALUES)
    assert np.array_equal(read(tmp_path / "a", layout, "t"), np.arange(12) / 2)
    if layout.format == "nczarr":
        return  # xarray opens it through zarr, which has the test of its own
    store = layout.suffix == ".zarr"
    options = {"consolidated": layout.format == "zarr2", "engine": "zarr"} if store else {}
    with xr.open_dataset(tmp_path / "a", **{"engine": "netcdf4"} | options) as dataset:
        assert dataset.attrs == {"title": "é"}
        assert dataset.field.dims == ("t", "x")
        assert list(dataset.field.attrs["flags"]) == [1, 2]
        assert dataset.t.values[1] == np.datetime64("2000-01-01T12:00")
        assert np.isnan(dataset.field.values[0, 0])
        assert dataset.field.values[0, 1] == 1


class Slabs:
    """An array that is made as it is asked for, and notes the most that was asked at once."""

    shape, dtype, most = (64, 30, 40), np.dtype("f4"), 0

    def __getitem__(self, selection):
        lengths = [s.stop - s.start for s in selection]
        self.most = max(self.most, 4 * int(np.prod(lengths)))
        return np.full(lengths, selection[0].start, "f4")


def test_copying_holds_one_block_at_a_time(tmp_path, layout):
    if layout.format in ("netcdf4", "hdf5", "zarr3"):
        layout = Layout(layout.format, chunks=(8, 30, 40))
    slabs = Slabs()
    write_array(tmp_path / "a", slabs, layout, block_bytes=8 * 30 * 40 * 4)
    assert slabs.most == 8 * 30 * 40 * 4
    assert read(tmp_path / "a", layout, selection=(17, 3, 5)) == 16


@given(data=st.data())
def test_blocks_cover_everything_once_in_whole_chunks(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 12), max_size=3)))
    chunks = tuple(data.draw(st.integers(1, max(n, 1))) for n in shape)
    limit = data.draw(st.integers(1, 3000))
    covered = np.zeros(shape, int)
    for block in blocks(shape, chunks, 2, limit):
        covered[block] += 1
        lengths = [s.stop - s.start for s in block]
        assert 2 * np.prod(lengths, dtype=int) <= max(limit, 2 * np.prod(chunks, dtype=int))
        assert all(s.start % c == 0 for s, c in zip(block, chunks, strict=True))
    assert (covered == 1).all()
