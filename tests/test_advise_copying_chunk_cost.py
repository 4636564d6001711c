"""How many chunks a block touches, against counting them."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.advise.copying.chunk_cost import call_bytes, index_bytes, touched

AXIS = st.tuples(st.integers(1, 25), st.integers(1, 9), st.integers(1, 25), st.integers(1, 4))


@given(AXIS)
def test_no_block_touches_more(axis):
    n, chunk, length, step = axis
    most = touched((length,), (chunk,), (n,), (step,))
    for start in range(n):
        taken = np.arange(start, n, step)[:length]
        assert len(set(taken // chunk)) <= most
    if length % chunk == 0:
        whole = touched((length,), (chunk,), (n,), aligned=True)
        counts = [len(set(np.arange(i, min(i + length, n)) // chunk)) for i in range(0, n, length)]
        assert max(counts) == whole


@given(st.lists(AXIS, max_size=3))
def test_axes_are_multiplied(axes):
    shape, chunks, lengths, steps = ([axis[i] for axis in axes] for i in range(4))
    each = [touched((b,), (c,), (n,), (s,)) for n, c, b, s in axes]
    assert touched(lengths, chunks, shape, steps) == math.prod(each)


def test_contiguous_data_has_no_chunks():
    assert touched((10,), None, (10,)) == index_bytes("hdf5", (10,), None) == 0
    assert call_bytes("netcdf3") == index_bytes("zarr3", (10,), (1,)) == 0
    assert index_bytes("hdf5", (10**9,), (1,)) == 32 * 2**20
