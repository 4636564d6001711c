import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.parallel.flash import flash
from hyperslab.parallel.mpiio import runs
from hyperslab.parallel.patterns import pattern
from hyperslab.parallel.plan import Part, SharedArray, WritePlan

PATTERNS = ("interleaved", "rows", "overhang", "within", "spanning")


@given(st.sampled_from(PATTERNS), st.integers(1, 5), st.integers(1, 5), st.integers(1, 9))
def test_each_rank_writes_as_much_in_contiguous_runs_and_no_cell_twice(name, rows, columns, ranks):
    plan = pattern(name, rows, columns, ranks)
    (dataset,) = plan.datasets
    flat, times = np.full(int(np.prod(dataset.shape)), -1.0), np.zeros(dataset.shape, dtype=int)
    for part in dataset.parts:
        times[part.region] += 1
        for at, run in runs(dataset, part, plan.values(0, part)):
            flat[at // 8 : at // 8 + run.size] = run.ravel()
    whole = plan.values(0, Part((0,) * 2, dataset.shape))
    assert times.max() == 1
    assert np.array_equal(flat.reshape(dataset.shape), np.where(times, whole, -1.0))
    assert plan.nbytes == 8 * rows * columns * ranks
    assert {plan.rank_bytes(rank) for rank in range(ranks)} == {8 * rows * columns}


def test_the_document_s_chunks_overhang_or_fit():
    overhang, within = (pattern(name, 16, 8, 8).datasets[0] for name in ("overhang", "within"))
    assert {part.start[1] // overhang.chunks[1] for part in overhang.parts} == {1}
    assert [part.start[1] // within.chunks[1] for part in within.parts] == [0] * 4 + [1] * 4
    spanning = pattern("spanning", 16, 8, 3).datasets[0]  # half of each of two chunks
    assert spanning.shape == (48, 16) and spanning.chunks == (48, 8)
    assert {(part.start[1], part.count[1]) for part in spanning.parts} == {(4, 8)}


def test_flash_writes_the_document_s_bytes_in_blocks_one_after_the_other():
    for file in ("checkpoint", "centres", "corners"):
        for dataset in flash(file, side=2, ranks=5, blocks=3).datasets:
            firsts = [(part.start[0], part.count[0]) for part in dataset.parts]
            assert firsts == [(0, 3), (3, 4), (7, 5), (12, 3), (15, 4)]
            assert all(part.count[1:] == dataset.shape[1:] for part in dataset.parts)
            assert dataset.shape[0] == 19
    for file, side, mb in (("checkpoint", 8, 31.8), ("centres", 16, 21), ("corners", 16, 25.4)):
        assert flash(file, side, ranks=4).nbytes / 1e6 == pytest.approx(mb, rel=0.02)
    assert flash("checkpoint", 16, 4).rank_bytes(0) / 1e6 == pytest.approx(60, rel=0.06)


def test_values_are_whole_in_each_type():
    plan = flash("checkpoint", side=2, ranks=1, blocks=1, as_bytes=True)
    values = plan.values(29, plan.datasets[29].parts[0])
    assert values.dtype == "i1" and values.min() >= 0 and len(np.unique(values)) > 60
    part = Part((990, 0), (5, 3000))
    plan = WritePlan(tuple(SharedArray(t, t, (1000, 3000), (part,)) for t in ("f8", "f4", "i4")))
    f8, f4, i4 = (plan.values(0, part).astype(t) for t in ("f8", "f4", "i4"))
    assert np.array_equal(f8, f4) and np.array_equal(f8, i4)
    assert len(np.unique(f8)) == f8.size
    assert f8[1, 2] == (991 * 3000 + 2) * 31 % 16_777_213
    with pytest.raises(ValueError, match="'f2', not one of"):
        SharedArray("x", "f2", (1000, 3000), (part,))
