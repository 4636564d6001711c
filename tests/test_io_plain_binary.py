"""Plain binary files, the description beside them, strides, and what is not as described."""

import json

import numpy as np
import pytest
from contracts.readers import assert_same

from hyperslab.io import Layout, Variable, create, reader, write_array
from hyperslab.io.plain_binary import SPAN_BYTES, WIDE_STEP_BYTES


def test_strides_across_spans_and_wide_ones_and_a_file_cut_off(tmp_path):
    path, values = tmp_path / "long.bin", np.arange(2**19, dtype="f8")
    write_array(path, values, Layout("binary"))
    assert values.nbytes > 2 * SPAN_BYTES
    with reader("plain").open(path, "data") as opened:
        for step in (2, 3, 1000, WIDE_STEP_BYTES // 8, WIDE_STEP_BYTES // 8 + 1, 2**18):
            assert_same(opened.read(slice(5, None, step)), values[5::step])
        with path.open("r+b") as file:
            file.truncate(800)
        assert_same(opened.read(slice(0, 100)), values[:100])
        with pytest.raises(OSError, match="data: the file ends at byte 800; it was cut off"):
            opened.read()
    with pytest.raises(OSError, match=r"it has 800 bytes where 'data'"):
        reader("plain").open(path, "data")


def test_a_file_made_elsewhere_is_read_by_its_description(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"head" + np.arange(6, dtype=">i2").tobytes())
    described = {"variables": {"x": {"dtype": ">i2", "shape": [2, 3], "offset": 4}}}
    (tmp_path / "a.bin.json").write_text(json.dumps(described))
    with reader("plain").open(tmp_path / "a.bin", "x") as opened:
        assert_same(opened.read((1, slice(None))), np.array([3, 4, 5], "i2"))
    (tmp_path / "a.bin.json").write_text("{}")
    with pytest.raises(OSError, match="cannot be read by plain"):
        reader("plain").open(tmp_path / "a.bin", "x")
    (tmp_path / "a.bin.json").unlink()
    with pytest.raises(OSError, match=r"there is no a\.bin\.json beside it; write"):
        reader("plain").open(tmp_path / "a.bin", "x")


def test_the_file_is_the_bytes_in_their_order_each_variable_at_a_multiple_of_eight(tmp_path):
    values = np.arange(12, dtype="f8").reshape(4, 3).T  # in its order, contiguous or not
    for order, sign in (("little", "<"), ("big", ">")):
        path = tmp_path / f"{order}.bin"
        assert write_array(path, values, Layout("binary", byteorder=order)) == values.nbytes
        assert path.read_bytes() == values.astype(f"{sign}f8").tobytes()
        described = json.loads((tmp_path / f"{order}.bin.json").read_text())["variables"]
        assert described == {"data": {"dtype": f"{sign}f8", "shape": [3, 4], "offset": 0}}

    first = Variable("a", ("x",), (3,), "i1")
    second = Variable("b", ("y",), (2,), "f8")
    with create(tmp_path / "a.bin", [first, second], Layout("binary")) as writer:
        writer.write("a", ..., np.array([1, 2, 3], "i1"))
        writer.write("b", ..., np.array([4.0, 5.0]))
    content = (tmp_path / "a.bin").read_bytes()
    assert content[:8] == b"\x01\x02\x03\0\0\0\0\0"
    assert np.frombuffer(content, "f8", offset=8).tolist() == [4, 5]
