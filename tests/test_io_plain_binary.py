"""Plain binary files that are not as described, and strides."""

import json

import numpy as np
import pytest
from contracts.readers import assert_same

from hyperslab.io import Layout, reader, write_array
from hyperslab.io.plain_binary import SPAN_BYTES, WIDE_STEP_BYTES


@pytest.fixture
def long(tmp_path):
    values = np.arange(2**19, dtype="f8")
    write_array(tmp_path / "long.bin", values, Layout("binary"))
    return tmp_path / "long.bin", values


def test_strides_across_spans_and_wide_ones(long):
    path, values = long
    assert values.nbytes > 2 * SPAN_BYTES
    with reader("plain").open(path, "data") as opened:
        for step in (2, 3, 1000, WIDE_STEP_BYTES // 8, WIDE_STEP_BYTES // 8 + 1, 2**18):
            assert_same(opened.read(slice(5, None, step)), values[5::step])


def test_a_file_made_elsewhere_is_read_by_its_description(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"head" + np.arange(6, dtype=">i2").tobytes())
    described = {"variables": {"x": {"dtype": ">i2", "shape": [2, 3], "offset": 4}}}
    (tmp_path / "a.bin.json").write_text(json.dumps(described))
    with reader("plain").open(tmp_path / "a.bin", "x") as opened:
        assert_same(opened.read((1, slice(None))), np.array([3, 4, 5], "i2"))


def test_a_file_cut_off_is_named_with_its_size(long):
    path, values = long
    with path.open("r+b") as file:
        file.truncate(values.nbytes - 8)
    with pytest.raises(OSError, match=rf"it has {values.nbytes - 8} bytes where 'data'"):
        reader("plain").open(path, "data")


def test_a_file_cut_off_after_opening_is_named(long):
    path, values = long
    with reader("plain").open(path, "data") as opened:
        with path.open("r+b") as file:
            file.truncate(800)
        assert_same(opened.read(slice(0, 100)), values[:100])
        with pytest.raises(OSError, match="data: the file ends at byte 800; it was cut off"):
            opened.read()


def test_a_missing_description_says_what_to_write(long):
    path, _ = long
    path.with_name("long.bin.json").unlink()
    with pytest.raises(OSError, match=r"there is no long\.bin\.json beside it; write"):
        reader("plain").open(path, "data")


def test_a_description_that_is_none_is_named(long):
    path, _ = long
    path.with_name("long.bin.json").write_text("{}")
    with pytest.raises(OSError, match="cannot be read by plain"):
        reader("plain").open(path, "data")
