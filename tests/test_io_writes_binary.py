"""Plain binary files and the description beside them."""

import json

import numpy as np
from contracts.readers import selections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab.io import Layout, Variable, create, write_array


def test_the_file_is_the_bytes_and_nothing_else(tmp_path):
    values = np.arange(12, dtype="f8").reshape(3, 4)
    for order, sign in (("little", "<"), ("big", ">")):
        path = tmp_path / f"{order}.bin"
        assert write_array(path, values, Layout("binary", byteorder=order)) == values.nbytes
        assert path.read_bytes() == values.astype(f"{sign}f8").tobytes()
        described = json.loads((tmp_path / f"{order}.bin.json").read_text())
        assert described["variables"] == {
            "data": {"dtype": f"{sign}f8", "shape": [3, 4], "offset": 0}
        }


def test_variables_lie_one_after_the_other_at_multiples_of_eight(tmp_path):
    first = Variable("a", ("x",), (3,), "i1")
    second = Variable("b", ("y",), (2,), "f8")
    with create(tmp_path / "a.bin", [first, second], Layout("binary")) as writer:
        writer.write("a", ..., np.array([1, 2, 3], "i1"))
        writer.write("b", ..., np.array([4.0, 5.0]))
    content = (tmp_path / "a.bin").read_bytes()
    assert content[:8] == b"\x01\x02\x03\0\0\0\0\0"
    assert np.frombuffer(content, "f8", offset=8).tolist() == [4, 5]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_selection_is_written_where_numpy_writes_it(tmp_path, data):
    wanted = np.zeros((4, 5, 6), "i4")
    path = tmp_path / "a.bin"
    grid = Variable("a", ("z", "y", "x"), (4, 5, 6), "i4")
    with create(path, [grid], Layout("binary"), overwrite=True) as writer:
        for value in range(1, 4):
            selection = data.draw(selections(wanted.shape))
            part = np.arange(wanted[selection].size).reshape(wanted[selection].shape) + 1000 * value
            wanted[selection] = part
            writer.write("a", selection, part)
    assert path.read_bytes() == wanted.tobytes()


def test_a_view_that_is_not_contiguous_is_written_in_its_order(tmp_path):
    values = np.arange(20, dtype="i4").reshape(4, 5)
    write_array(tmp_path / "a.bin", values.T, Layout("binary"))
    assert (tmp_path / "a.bin").read_bytes() == values.T.tobytes()
