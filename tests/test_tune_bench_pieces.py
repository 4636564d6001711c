"""A large selection in pieces reads what it reads whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selections import lengths, selections

from hyperslab.io import Layout
from hyperslab.io.selection import region
from hyperslab.tune.bench import reads as module
from hyperslab.tune.bench.reads import PIECE_BYTES, pieces
from hyperslab.tune.copy_plan import call_bytes, touched
from hyperslab.tune.sources.base import SourceVariable


@given(st.data(), selections(30), st.integers(8, 4000))
def test_pieces_read_what_the_selection_reads(data, chosen, most):
    shape, selection = chosen
    chunks = data.draw(st.none() | lengths(shape))
    values = np.arange(np.prod(shape)).reshape(shape)
    wanted = values[selection]
    variable = SourceVariable("a", tuple("xyz"[: len(shape)]), shape, "i8")
    module.PIECE_BYTES = most
    try:
        cut = list(pieces(selection, variable, Layout("netcdf4", chunks)))
    finally:
        module.PIECE_BYTES = PIECE_BYTES
    got = [values[piece] for piece in cut]
    assert all(part.nbytes <= most or part.size == wanted.size for part in got)
    assert sorted(np.concatenate([np.ravel(part) for part in got])) == sorted(np.ravel(wanted))


def test_a_selection_that_fits_is_left_alone():
    variable = SourceVariable("a", ("x",), (100,), "i8")
    assert list(pieces((slice(3, 9),), variable, Layout())) == [(slice(3, 9),)]


@pytest.mark.parametrize("format", ["netcdf4", "hdf5", "zarr3"])
@pytest.mark.parametrize(
    "selection", [(slice(0, 4000), slice(0, 4000)), (slice(3, 3999, 7), 5), (5, slice(0, 4000))]
)
def test_no_piece_has_more_chunks_than_a_library_has_memory_for(format, selection):
    variable = SourceVariable("a", ("y", "x"), (4000, 4000), "f4")
    layout = Layout(format, (4, 4))
    cut = list(pieces(selection, variable, layout, 2**20))
    most = 2**20 // call_bytes(format)
    values = 0
    for piece in cut:
        chosen = region(piece, variable.shape, "a")
        values += chosen.size
        assert touched(chosen.counts, layout.chunks, variable.shape, chosen.steps) <= most
    assert values == region(selection, variable.shape, "a").size
