"""Square chunks: their lengths for other arrays, and files whose size is foretold."""

from functools import partial

import pytest

from data_gen import arrays
from hyperslab.experiments import lee_chunk_size as square
from hyperslab.io.chunk_shapes import ceil_chunk, floor_chunk
from hyperslab.io.experiment import Array

ARRAY = Array(partial(arrays.values, (200, 200)), (200, 200), "i4")


@pytest.mark.parametrize("side", [200, 512, 1000])
def test_a_smaller_array_has_chunks_on_both_sides_of_each_part(side):
    found = square.scaled((8, 128, 632, 790, 3072, 3162), side)
    assert list(found) == sorted(set(found)) and found[0] == 8 and found[-1] == side
    for n in (ceil_chunk(square.SIDE, length) for length in (632, 790)):
        assert {ceil_chunk(side, n), floor_chunk(side, n)} <= set(found)


def test_files_are_as_large_as_predicted_and_nothing_stays(tmp_path):
    rows = list(square.divided(ARRAY, 25, tmp_path))
    assert [(row["rounded"], row["parts"]) for row in rows[:2]] == [("ceil", "2"), ("floor", "2")]
    assert len(rows) == 2 * len(range(2, 9))
    rows += square.sizes(ARRAY, (8, 60, 200), tmp_path)
    assert [row["side"] for row in rows[-3:]] == ["8", "60", "200"]
    assert all(abs(row["file_bytes"] - row["predicted_bytes"]) < 8192 for row in rows)
    assert {row["useful_bytes"] for row in rows} == {ARRAY[...].nbytes}
    assert not list(tmp_path.iterdir())
