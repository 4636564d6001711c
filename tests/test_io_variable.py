"""Variables: their parts fit each other."""

import numpy as np
import pytest

from hyperslab.io import DTYPES, Variable


def test_types_by_any_name_and_fill_values_of_integers_are_whole():
    for dtype in DTYPES:
        names = (dtype, np.dtype(dtype).name, np.dtype(dtype), ">" + dtype)
        assert {Variable("a", ("x",), (3,), name).dtype for name in names} == {dtype}
    assert Variable("a", (), (), "u8", fill_value=2**64 - 1).fill_value == 2**64 - 1
    whole = Variable("a", (), (), "i2", fill_value=-5.0).fill_value
    assert (whole, type(whole)) == (-5, int)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "give a name"),
        ({"name": "../b"}, "give a name"),
        ({"dims": ("x", "y")}, "one name for each axis"),
        ({"dims": ("x", "x"), "shape": (3, 3)}, "each once"),
        ({"dims": "x"}, "dims='x'; give a tuple"),
        ({"unlimited": "x"}, "unlimited='x'; give a tuple"),
        ({"unlimited": ("y",)}, "must be among"),
        ({"shape": (-3,)}, "negative length"),
        ({"dtype": "f2"}, "give one of i1, i2"),
        ({"attrs": {"_FillValue": 1}}, "give fill_value instead"),
        ({"dtype": "u1", "fill_value": 256}, "give an integer from 0 to 255"),
        ({"dtype": "i2", "fill_value": 1.5}, "is not a value of int16"),
        ({"dtype": "i2", "fill_value": float("nan")}, "is not a value of int16"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    parts = {"name": "a", "dims": ("x",), "shape": (3,), "dtype": "f4"} | given
    with pytest.raises(ValueError, match=said):
        Variable(**parts)
