"""The predicted size of a file is the size of the file."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.io.chunk_shapes import (
    ceil_chunk,
    chunk_grid,
    floor_chunk,
    padded_bytes,
    predicted_bytes,
)
from hyperslab.io.creation import create, stored_bytes
from hyperslab.io.layout import Layout
from hyperslab.io.variable import Variable


def written_bytes(path, shape, chunks):
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    variable = Variable("data", ("y", "x"), shape, "i4")
    with create(path, [variable], Layout("netcdf4", chunks=chunks), overwrite=True) as writer:
        writer.write("data", ..., values)
    return stored_bytes(path)


@pytest.mark.parametrize(
    ("side", "size"), [(790, 62_418_760), (791, 40_052_344), (792, 40_153_656), (128, 40_997_536)]
)
def test_documents_sizes_to_the_digit(tmp_path, side, size):
    assert written_bytes(tmp_path / "e.nc", (3162, 3162), (side, side)) == size
    assert predicted_bytes((3162, 3162), (side, side), 4) == size


@settings(max_examples=15)
@given(st.integers(300, 1200), st.integers(2, 12), st.booleans())
def test_any_square_is_predicted_within_a_percent(tmp_path_factory, side, parts, up):
    """The index of chunks may be up to half empty: an array of a few megabytes shows it most."""
    shape, length = (side, side), ceil_chunk(side, parts) if up else floor_chunk(side, parts)
    path = tmp_path_factory.getbasetemp() / "any.nc"
    size = written_bytes(path, shape, (length, length))
    assert predicted_bytes(shape, (length, length), 4) == pytest.approx(size, abs=8192, rel=0.01)


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_ceil_covers_in_so_many_parts_and_floor_needs_as_many_or_more(length, parts):
    parts = min(parts, length)
    assert chunk_grid((length,), (ceil_chunk(length, parts),))[0] <= parts
    assert chunk_grid((length,), (floor_chunk(length, parts),))[0] >= parts
    assert padded_bytes((length,), (ceil_chunk(length, parts),), 1) < length + parts


def test_rank_mismatch_is_named():
    with pytest.raises(ValueError, match=r"chunks \(4,\) do not fit an array of shape \(3, 3\)"):
        chunk_grid((3, 3), (4,))
