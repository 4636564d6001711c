"""What every reader must do with every file it takes.

A test file inherits `ReaderContract` and gives two fixtures, at least of class scope: `reader`,
and `truth`, a `Truth`. A new library joins the suite by its card alone.
"""

import pickle
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = 6


@dataclass(frozen=True)
class Truth:
    """A file, and what each variable of it holds.

    Parameters
    ----------
    path
        The file or directory store.
    values
        Every variable by name, as stored, in native byte order.
    main
        Name of the one with the most axes, for selections.
    empty
        A folder without any data in it, and a file that is no data.
    """

    path: Path
    values: dict[str, np.ndarray]
    main: str
    empty: Path = field(default=Path())


@st.composite
def slices(draw, size):
    """Any slice with a positive step, with ends inside, outside or absent."""
    end = st.none() | st.integers(-size - 3, size + 3)
    return slice(draw(end), draw(end), draw(st.none() | st.integers(1, size + 2)))


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

    def test_takes_the_file_as_announced(self, reader, truth):
        assert reader.name and reader.library and reader.formats

    def test_survives_being_sent_to_another_process(self, reader, truth):
        sent = pickle.loads(pickle.dumps(reader))
        with sent.open(truth.path, truth.main) as opened:
            assert_same(opened.read(), truth.values[truth.main])

    def test_every_variable_is_read_to_the_bit(self, reader, truth):
        for name, values in truth.values.items():
            with reader.open(truth.path, name) as opened:
                assert opened.shape == values.shape, name
                assert opened.dtype == values.dtype, name
                assert opened.dtype.isnative
                assert_same(opened.read(), values)
                assert_same(opened.read(...), values)

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

    def test_an_integer_drops_its_axis(self, reader, truth):
        values = truth.values[truth.main]
        corner = (-1,) * values.ndim
        with reader.open(truth.path, truth.main) as opened:
            assert_same(opened.read(corner), np.asarray(values[corner]))
            assert_same(opened.read(0), np.asarray(values[0]))
            assert_same(opened.read(np.int64(0)), np.asarray(values[0]))
            assert_same(opened.read((..., 0)), np.asarray(values[..., 0]))

    def test_empty_selections_have_a_shape(self, reader, truth):
        values = truth.values[truth.main]
        with reader.open(truth.path, truth.main) as opened:
            assert_same(opened.read(slice(2, 2)), values[2:2])
            assert_same(opened.read((..., slice(3, 1))), values[..., 3:1])
            assert_same(opened.read((0, ..., slice(0, 0))), values[0, ..., 0:0])

    def test_what_is_read_is_the_readers_own(self, reader, truth):
        values = truth.values[truth.main]
        with reader.open(truth.path, truth.main) as opened:
            first = opened.read()
            assert first.flags.writeable
            first[...] = 0
            assert_same(opened.read(), values)

    def test_an_index_out_of_range_is_named(self, reader, truth):
        size = truth.values[truth.main].shape[-1]
        last = truth.values[truth.main].ndim - 1
        with reader.open(truth.path, truth.main) as opened:
            for index in (size, -size - 1):
                with pytest.raises(IndexError) as caught:
                    opened.read((..., index))
                for part in (truth.main, f"index {index} ", f"axis {last} ", f"size {size};"):
                    assert part in str(caught.value)

    def test_what_is_no_selection_is_refused(self, reader, truth):
        axes = truth.values[truth.main].ndim
        with reader.open(truth.path, truth.main) as opened:
            for selection in ((0,) * (axes + 1), (..., ...)):
                with pytest.raises(IndexError, match="does not fit shape"):
                    opened.read(selection)
            for selection in (None, True, [0, 1], "a", 1.0):
                with pytest.raises(TypeError, match="give an integer, a slice or Ellipsis"):
                    opened.read(selection)
            for step in (0, -1):
                with pytest.raises(ValueError, match=f"step {step} on axis 0"):
                    opened.read(slice(None, None, step))

    def test_an_unknown_variable_is_named_with_those_there_are(self, reader, truth):
        for unknown in ("absent", "absent/group/name"):
            with pytest.raises(KeyError) as caught:
                reader.open(truth.path, unknown)
            said = str(caught.value)
            assert str(truth.path) in said
            assert repr(unknown) in said
            assert truth.main in said

    def test_a_path_without_a_file_is_named(self, reader, truth):
        absent = truth.empty / "absent.nc"
        with pytest.raises(FileNotFoundError, match=r"absent\.nc does not exist; .* takes "):
            reader.open(absent, truth.main)

    def test_a_file_it_cannot_read_is_named_with_what_it_takes(self, reader, truth):
        for wrong in (truth.empty / "text.nc", truth.empty / "folder"):
            with pytest.raises(OSError) as caught:
                reader.open(wrong, truth.main)
            said = str(caught.value)
            assert f"{wrong} cannot be read by {reader.name}" in said
            assert all(format in said for format in reader.formats)

    def test_closing_twice_is_well_and_reading_then_is_not(self, reader, truth):
        opened = reader.open(truth.path, truth.main)
        opened.close()
        opened.close()
        with pytest.raises(ValueError, match="is closed"):
            opened.read()

    def test_one_file_opens_twice_at_once(self, reader, truth):
        values = truth.values[truth.main]
        with reader.open(truth.path, truth.main) as one:
            with reader.open(truth.path, truth.main) as other:
                assert_same(other.read(0), np.asarray(values[0]))
            assert_same(one.read(), values)

    def test_a_path_may_be_text_and_a_name_start_at_the_root(self, reader, truth):
        with reader.open(str(truth.path), "/" + truth.main) as opened:
            assert_same(opened.read(), truth.values[truth.main])

    def test_a_chunk_cache_is_taken_or_refused_by_name(self, reader, truth):
        try:
            opened = reader.open(truth.path, truth.main, chunk_cache_bytes=2**22)
        except ValueError as refused:
            assert f"{reader.name} has no chunk cache" in str(refused)
            without = (
                "plain",
                "zarr",
                "subchunk",
                "chunkindex",
                "kerchunk",
                "virtualizarr",
                "hidefix",
                "pyfive",
            )
            assert reader.name.removeprefix("xarray-").startswith(without)
        else:
            with opened:
                assert_same(opened.read(), truth.values[truth.main])
