"""Files that the cost model and the advice are tried on."""

import numpy as np

from hyperslab.experiments import advise_evaluation
from hyperslab.experiments.cost_model import Trials, cases, cut, held_out, patterns
from hyperslab.io.layout import Layout
from hyperslab.tune.source import open_source


def test_trial_files_hold_what_is_read(tmp_path):
    layouts = {
        "ocean": {"deflate": Layout("netcdf4", (1, 40, 80), "deflate"), "plain": Layout("netcdf4")},
        "radar": {"binary": Layout("binary")},
    }
    trials = Trials(tmp_path, 2, 1, thin=16, layouts=layouts)
    assert trials.digests == {} and held_out(trials, ("h5py",)) == []
    trials.make()
    made = trials.files()
    assert [one.name for one in made] == ["ocean: deflate", "ocean: plain", "radar: binary"]
    assert all(one.path.exists() for one in made)
    assert [one.chunk_bytes is None for one in made] == [False, True, True]
    reads = held_out(trials, ("h5py", "plain"))
    assert {one.read.cache for one in reads} == {"warm", "cold"}
    assert sum(case.aa for case in cases(reads)) == 2
    assert len(trials.digests) == 5 + 5 + 4


def test_patterns_lie_inside():
    for shape in ((24, 380, 1287), (2, 13, 721, 1440), (1501, 2001)):
        empty = np.lib.stride_tricks.as_strided(np.zeros(1, "i1"), shape, (0,) * len(shape))
        assert all(empty[chosen].size for chosen in patterns(shape).values())
    assert cut((24, 380, 1287), 1, 12, 12) == (24, 32, 108)


def test_files_of_every_kind_have_reads(tmp_path):
    made = advise_evaluation.make(tmp_path, steps=8, mib=1)
    assert sum(map(len, advise_evaluation.mixes(made).values())) >= 20
    assert {path.suffix for path in made.values()} == {".nc", ".zarr"}
    for path in made.values():
        with open_source(path) as source:
            field = max(source.variables.values(), key=lambda one: one.nbytes)
            assert 2**18 < field.nbytes <= 2**20, path
