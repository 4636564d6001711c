"""Files that the cost model and the advice are tried on."""

import numpy as np

from hyperslab.experiments.cost_model import cut, patterns


def test_patterns_lie_inside():
    for shape in ((24, 380, 1287), (2, 13, 721, 1440), (1501, 2001)):
        empty = np.lib.stride_tricks.as_strided(np.zeros(1, "i1"), shape, (0,) * len(shape))
        assert all(empty[chosen].size for chosen in patterns(shape).values())
    assert cut((24, 380, 1287), 1, 12, 12) == (24, 32, 108)
