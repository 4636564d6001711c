"""A run that was disturbed says so."""

import numpy as np
import pandas as pd
import pytest

from hyperslab.measure.noise import judge
from hyperslab.measure.records import frame_of


def records(ratio, cache_state="warm", others=0.0, blocks=7):
    """Records of a pair with this ratio, or with one for each block."""
    row = {"experiment": "e", "case": "a", "cache_state": cache_state, "phase": "read"}
    ratios = np.broadcast_to(ratio, np.shape(ratio) or blocks)
    return frame_of(
        row | {"aa": aa, "wall_s": seconds, "block": block, "others_cpu": others}
        for block, ratio in enumerate(ratios)
        for aa, seconds in (("A", ratio), ("B", 1.0))
    )


@pytest.mark.parametrize(
    ("state", "ratio", "how"),
    [
        ("clean", 1.014, {}),
        ("marked", 1.02, {}),
        ("marked", 1 / 1.02, {}),
        ("clean", 1.02, {"cache_state": "cold"}),
        ("marked", 1.04, {"cache_state": "cold"}),
        ("void", 1.06, {"cache_state": "cold"}),
        ("void", 1 / 1.06, {}),
        ("marked", 1.00, {"others": 0.15}),
        ("marked", 1.00, {"others": np.nan}),  # as where there is no /proc/stat
        ("void", 1.00, {"others": 0.5, "cache_state": "cold"}),
        ("marked", 1.5, {"blocks": 5}),
        ("void", 1.5, {"blocks": 6}),
        ("wide", (1.3, 1 / 1.3, 1, 1, 1, 1.3, 1 / 1.3), {}),  # centred
        ("marked", (0.9, 1.2, 1.2, 1.2, 1.2, 1.0, 1.0), {}),  # apart by chance
    ],
)
def test_bounds(state, ratio, how):
    assert [item.state for item in judge(records(ratio, **how))] == [state]


def test_how_well_times_are_known_is_half_an_interval_beside_the_others():
    [item] = judge(records((1 / 2, 1.1 / 2, 1 / 2.1, 1 / 2, 1.1 / 2.2, 1 / 2)), widths=True)
    assert item.half_width == pytest.approx(0.0367, abs=5e-5)
    assert item.guard == 1 and records(1.02).pipe(judge)[0].guard == pytest.approx(1.02)


def phases(cache_state="warm", **ratios):
    """Records of phases in which the pair is so far apart."""
    each = [records(ratio, cache_state).assign(phase=phase) for phase, ratio in ratios.items()]
    return pd.concat(each, ignore_index=True)


@pytest.mark.parametrize(
    ("state", "frame"),
    [
        ("clean", phases(read=1.0, open=2.0)),  # only phases that move data count
        ("void", phases(open=2.0)),  # where there are any
        ("void", phases(data_write=1.06, close=1.0)),  # as those of a copied file do
        ("void", phases(**{"pattern:map": 1.06, "close": 1.0})),
        ("marked", phases("", write=1.02)),
        ("clean", phases("", write=1.02, sync=1.02)),  # it reaches the disk, and has its bound
    ],
)
def test_phases_that_move_data_count(state, frame):
    assert [item.state for item in judge(frame)] == [state]


def test_samples_cut_by_a_limit_are_compared_by_their_time_a_byte():
    same = records(1.0)
    assert judge(same.assign(useful_bytes=1e6))[0].ratio.value == 1
    less = same.assign(useful_bytes=(same["aa"] == "A") * -2e5 + 1e6)
    (noise,) = judge(less)
    assert noise.ratio.value == pytest.approx(1.25) and noise.state == "void"
    half = less.assign(useful_bytes=less["useful_bytes"].where(less["aa"] == "A"))
    assert judge(half)[0].ratio.value == 1  # where one does not say, times are compared
