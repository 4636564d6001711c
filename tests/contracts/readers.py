"""What every reader must do with every file it takes.

A test file inherits `ReaderContract` and gives two fixtures, at least of class scope: `reader`,
and `truth`, a `Truth`. A new library joins the suite by its card alone.
"""

import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = 4
WITHOUT_CACHE = ("plain", "zarr", "subchunk", "chunkindex", "kerchunk", "virtualizarr", "hidefix",
                 "pyfive")  # fmt: skip


@dataclass(frozen=True)
class Truth:
    """A file, and what each variable of it holds."""

    path: Path  # the file or directory store
    values: dict[str, np.ndarray]  # every variable by name, as stored, in native byte order
    main: str  # the one with the most axes, for selections
    empty: Path = Path()  # a folder without any data in it, and a file that is no data


def slices(size):
    """Any slice with a positive step, with ends inside, outside or absent."""
    end = st.none() | st.integers(-size - 3, size + 3)
    return st.builds(slice, end, end, st.none() | st.integers(1, size + 2))


@st.composite
def selections(draw, shape):
    """Anything a reader takes for an array of this shape."""
    axes = [slices(n) | (st.integers(-n, n - 1) if n else slices(n)) for n in shape]
    given_axes = draw(st.integers(0, len(shape)))
    after = draw(st.integers(0, len(shape) - given_axes))
    head = [draw(axes[i]) for i in range(given_axes)]
    tail = [draw(axes[i]) for i in range(len(shape) - after, len(shape))]
    if tail or draw(st.booleans()):
        return (*head, ..., *tail)
    return head[0] if len(head) == 1 and draw(st.booleans()) else tuple(head)


@st.composite
def selected(draw, most):
    """A shape of one to three axes of at most so many elements, and an index or slice of each."""
    shape = tuple(draw(st.integers(1, most)) for _ in range(draw(st.integers(1, 3))))
    selection = []
    for n in shape:
        start = draw(st.integers(0, n - 1))
        if draw(st.booleans()):
            selection.append(start)
        else:
            selection.append(slice(start, draw(st.integers(start + 1, n)), draw(st.integers(1, 3))))
    return shape, tuple(selection)


def assert_same(got, wanted):
    """The same values to the bit, in a plain C-contiguous array of native byte order."""
    assert type(got) is np.ndarray
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    assert got.dtype.isnative
    assert got.flags.c_contiguous
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes()


class ReaderContract:
    """Inherited by every test of readers; see the module."""

    def test_every_variable_is_read_to_the_bit(self, reader, truth):
        assert reader.name and reader.library and reader.formats
        for name, values in truth.values.items():
            with reader.open(truth.path, name) as opened:
                assert (opened.shape, opened.dtype) == (values.shape, values.dtype), name
                assert_same(opened.read(), values)
        sent = pickle.loads(pickle.dumps(reader))  # to another process
        with sent.open(str(truth.path), "/" + truth.main) as opened:
            assert_same(opened.read(...), truth.values[truth.main])

    @settings(
        max_examples=EXAMPLES,
        suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
    )
    @given(data=st.data())
    def test_selections_are_numpys(self, reader, truth, data):
        values = truth.values[truth.main]
        with reader.open(truth.path, truth.main) as opened:
            for _ in range(4):
                selection = data.draw(selections(values.shape))
                assert_same(opened.read(selection), values[selection])

    def test_integers_drop_their_axis_and_empty_selections_have_a_shape(self, reader, truth):
        values = truth.values[truth.main]
        with reader.open(truth.path, truth.main) as opened:
            for selection in ((-1,) * values.ndim, 0, np.int64(0), (..., 0), slice(2, 2),
                              (..., slice(3, 1)), (0, ..., slice(0, 0))):  # fmt: skip
                assert_same(opened.read(selection), np.asarray(values[selection]))
            with pytest.raises(IndexError, match=f"{truth.main}: index {values.shape[-1]} is out"):
                opened.read((..., values.shape[-1]))

    def test_what_is_opened_and_read_is_the_callers_own(self, reader, truth):
        values = truth.values[truth.main]
        with reader.open(truth.path, truth.main) as one:
            with reader.open(truth.path, truth.main) as other:
                first = other.read(0)
                assert_same(first, np.asarray(values[0]))
                assert first.flags.writeable
                first[...] = 0
                assert_same(other.read(0), np.asarray(values[0]))
            assert_same(one.read(), values)
            one.close()
            with pytest.raises(ValueError, match="is closed"):
                one.read()

    def test_what_is_not_there_is_named(self, reader, truth):
        for unknown in ("absent", "absent/group/name"):
            with pytest.raises(KeyError) as caught:
                reader.open(truth.path, unknown)
            for part in (str(truth.path), repr(unknown), truth.main):
                assert part in str(caught.value)
        with pytest.raises(FileNotFoundError, match=r"absent\.nc does not exist; .* takes "):
            reader.open(truth.empty / "absent.nc", truth.main)
        for wrong in (truth.empty / "text.nc", truth.empty / "folder"):
            with pytest.raises(OSError) as caught:
                reader.open(wrong, truth.main)
            assert f"{wrong} cannot be read by {reader.name}" in str(caught.value)
            assert all(format in str(caught.value) for format in reader.formats)

    def test_a_chunk_cache_is_taken_or_refused_by_name(self, reader, truth):
        try:
            opened = reader.open(truth.path, truth.main, chunk_cache_bytes=2**22)
        except ValueError as refused:
            assert f"{reader.name} has no chunk cache" in str(refused)
            assert reader.name.removeprefix("xarray-").startswith(WITHOUT_CACHE)
        else:
            with opened:
                assert_same(opened.read(), truth.values[truth.main])
