"""A run that was disturbed says so."""

import pandas as pd
import pytest

from hyperslab.measure.noise import judge
from hyperslab.measure.records import frame_of


def records(ratio, cache_state="warm", others=0.0, blocks=7):
    return frame_of(
        {
            "experiment": "e",
            "case": "a",
            "cache_state": cache_state,
            "aa": aa,
            "block": block,
            "phase": "read",
            "wall_s": ratio if aa == "A" else 1.0,
            "others_cpu": others,
        }
        for block in range(blocks)
        for aa in "AB"
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
        ("void", 1.00, {"others": 0.5, "cache_state": "cold"}),
        ("marked", 1.5, {"blocks": 5}),
        ("void", 1.5, {"blocks": 6}),
    ],
)
def test_bounds(state, ratio, how):
    assert [item.state for item in judge(records(ratio, **how))] == [state]


def strayed(*ratios):
    """The noise of a pair with these ratios, one a block."""
    frame = records(1.0, blocks=len(ratios))
    [item] = judge(frame.assign(wall_s=[s for r in ratios for s in (r, 1)]), widths=True)
    return item


def test_how_well_times_are_known_is_half_an_interval_beside_the_others():
    item = strayed(1 / 2, 1.1 / 2, 1 / 2.1, 1 / 2, 1.1 / 2.2, 1 / 2)
    assert item.half_width == pytest.approx(0.0367, abs=5e-5)


def test_a_centred_pair_that_strays_is_called_wide():
    item = strayed(1.3, 1 / 1.3, 1, 1, 1, 1.3, 1 / 1.3)
    assert item.state == "wide" and abs(item.ratio.value - 1) < 0.05


@pytest.mark.parametrize("phase", ["read", "data_write", "pattern:map"])
def test_only_phases_that_move_data_count_where_there_are_any(phase):
    opened = records(2.0).assign(phase="open")
    both = pd.concat([records(1.0).assign(phase=phase), opened], ignore_index=True)
    assert [item.state for item in judge(both)] == ["clean"]
    assert [item.state for item in judge(opened)] == ["void"]


def test_a_pair_that_may_be_apart_by_chance_is_not_void():
    item = strayed(0.9, *4 * [1.2], 1.0, 1.0)
    assert item.state == "marked" and item.guard == 1 + item.away > 1.05


@pytest.mark.parametrize(
    ("phases", "state"), [(("write",), "marked"), (("write", "sync"), "clean")]
)
def test_a_write_has_the_disks_bound_only_where_it_reaches_the_disk(phases, state):
    one = records(1.02, cache_state="")
    frame = pd.concat([one.assign(phase=phase) for phase in phases], ignore_index=True)
    assert [item.state for item in judge(frame)] == [state]


def test_samples_cut_by_a_limit_are_compared_by_their_time_a_byte():
    same = records(1.0)
    assert judge(same.assign(useful_bytes=1e6))[0].ratio.value == 1
    less = same.assign(useful_bytes=(same["aa"] == "A") * -2e5 + 1e6)
    (noise,) = judge(less)
    assert noise.ratio.value == pytest.approx(1.25) and noise.state == "void"
    half = less.assign(useful_bytes=less["useful_bytes"].where(less["aa"] == "A"))
    assert judge(half)[0].ratio.value == 1  # where one does not say, times are compared
