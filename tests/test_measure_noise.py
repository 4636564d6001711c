"""A run that was disturbed says so."""

from itertools import product

import pandas as pd
import pytest

from hyperslab.measure.noise import judge
from hyperslab.measure.records import frame_of


def records(ratio, cache_state="warm", others=0.0, blocks=7):
    row = {"experiment": "e", "case": "a", "cache_state": cache_state, "phase": "read"}
    pair = (row | {"aa": "A", "wall_s": ratio}, row | {"aa": "B", "wall_s": 1.0})
    both = product(range(blocks), pair)
    return frame_of({**one, "block": block, "others_cpu": others} for block, one in both)


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


def test_a_centred_pair_that_strays_is_called_wide():
    apart = [factor for ratio in (1.3, 1 / 1.3, 1, 1, 1, 1.3, 1 / 1.3) for factor in (ratio, 1)]
    frame = records(1.0)
    [item] = judge(frame.assign(wall_s=frame["wall_s"] * apart))
    assert item.state == "wide" and abs(item.ratio.value - 1) < 0.05


def test_only_phases_that_move_data_count_where_there_are_any():
    frame = records(1.0)
    opened = records(2.0).assign(phase="open")
    both = pd.concat([frame, opened], ignore_index=True)
    assert [item.state for item in judge(both)] == ["clean"]
    assert [item.state for item in judge(opened)] == ["void"]


def test_a_pair_that_may_be_apart_by_chance_is_not_void():
    strays = [factor for ratio in (0.9, *4 * [1.2], 1.0, 1.0) for factor in (ratio, 1)]
    frame = records(1.0)
    [item] = judge(frame.assign(wall_s=frame["wall_s"] * strays))
    assert item.state == "marked" and item.guard == 1 + item.away > 1.05


def test_the_phases_of_a_copied_file_count_as_moving_data():
    for phase in ("data_write", "pattern:map"):
        frame, small = records(1.2).assign(phase=phase), records(1.0).assign(phase="close")
        assert judge(pd.concat([frame, small]))[0].ratio.value == pytest.approx(1.2)


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
