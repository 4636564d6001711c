"""What patterns must read, picked out of the pieces of a copy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selections import lengths, selections

from hyperslab.io import Layout
from hyperslab.tune.bench.reads import Truth
from hyperslab.tune.report.compare import WrongValuesError
from hyperslab.tune.sources.base import SourceVariable


def shown(truth, values, lengths):
    """Show the pieces of an array, as a copy does."""
    see = truth.watcher("a")
    for corner in np.ndindex(*(-(-n // k) for n, k in zip(values.shape, lengths, strict=True))):
        slab = tuple(
            slice(i * k, min((i + 1) * k, n))
            for i, k, n in zip(corner, lengths, values.shape, strict=True)
        )
        see(slab, values[slab])


@given(st.data(), selections(9))
def test_what_was_shown_in_pieces_is_known_whole(data, chosen):
    shape, selection = chosen
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    variable = SourceVariable("a", tuple("xyz"[: len(shape)]), shape, "i4")
    truth = Truth({"p": {"a": [selection]}}, {"a": variable}, 10**6)
    shown(truth, values, data.draw(lengths(shape)))
    got = np.asarray(values[selection])
    truth.check("p", "a", 0, selection, got, Layout())
    assert truth.nbytes == got.nbytes
    with pytest.raises(WrongValuesError, match=f"p of a was read wrong: {got.size} of {got.size}"):
        truth.check("p", "a", 0, selection, got + 1, Layout())


def test_smaller_selections_after_one_that_is_too_large_are_compared():
    variable = SourceVariable("a", ("x",), (100,), "i4")
    whole, some = (slice(0, 100),), (slice(3, 9),)
    truth = Truth({"whole": {"a": (whole,)}, "some": {"a": (some,)}}, {"a": variable}, 399)
    shown(truth, np.arange(100, dtype="i4"), (30,))
    truth.check("whole", "a", 0, whole, np.zeros(100, "i4"), Layout())
    with pytest.raises(WrongValuesError, match="some of a was read wrong: 6 of 6"):
        truth.check("some", "a", 0, some, np.zeros(6, "i4"), Layout())
