"""Records and their journal, whole and typed; the statistics and the noise of what they hold."""

import numpy as np
import pandas as pd
import pytest

from hyperslab.measure.journal import Journal
from hyperslab.measure.noise import judge
from hyperslab.measure.records import COLUMNS, frame_of, load, save
from hyperslab.measure.stats import (
    BETWEEN_RUNS,
    Interval,
    geometric_mean_ratio,
    median_interval,
    middle_eight,
    over_runs,
    paired_ratio,
)


def test_round_trip_keeps_types_and_missing_values(tmp_path):
    frame = frame_of([{"case": "a", "wall_s": 1.5, "shuffle": True}, {"case": "b"}])
    save(frame, tmp_path / "x.parquet")
    again = load(tmp_path / "x.parquet")
    assert list(again.columns) == list(COLUMNS)
    assert again["wall_s"].tolist()[0] == 1.5 and np.isnan(again["wall_s"][1])
    assert again["shuffle"].tolist() == [True, False]
    assert again["library"].tolist() == ["", ""]


def test_what_is_no_whole_file_of_records_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=r"unknown record columns \['speed'\]"):
        frame_of([{"speed": 1}])
    path = tmp_path / "lee_access.parquet"
    with pytest.raises(FileNotFoundError, match="hyperslab run lee_access"):
        load(path)
    save(frame_of([{"case": "a"}]), path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"lee_access\.parquet is not a whole.*hyperslab run"):
        load(path)


def test_any_cut_and_a_damaged_line_leave_a_usable_journal(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, {"v": 1}, "first")
    for block in range(3):
        journal.add("e", "p", block, [{"x": float(block)}])
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]  # a line without its end
    cuts = [whole[:cut] for cut in (*range(0, len(whole), 29), *ends, *(end + 1 for end in ends))]
    lines = whole.splitlines(keepends=True)
    damaged = b"".join([*lines[:2], lines[2][:9] + lines[3], lines[3]])
    for left in (*cuts, damaged):
        path.write_bytes(left)
        Journal(path, {"v": 1}, "second").add("e", "p", 7, [])
        found = Journal(path, {"v": 1}, "third").blocks("e", "p")
        assert found.pop(7) == []
        assert found == {block: [{"x": float(block)}] for block in range(len(found))}
        assert len(found) >= (1 if left == damaged else max(0, left.count(b"\n") - 1))


def test_missing_numbers_survive_and_another_machine_starts_anew(tmp_path):
    path = tmp_path / "j"
    Journal(path, {"cpu": "a"}, "first").add("e", "p", 0, [{"x": float("nan")}])
    value = Journal(path, {"cpu": "a"}, "second").blocks("e", "p")[0][0]["x"]
    assert value != value
    journal = Journal(path, {"cpu": "b"}, "third")
    assert (journal.run_id, journal.resumed) == ("third", 0)


def test_pairing_removes_what_a_block_shares():
    rng = np.random.default_rng(0)
    drift = rng.lognormal(0, 1, 9)
    found = paired_ratio(2 * drift, drift)
    assert [found.low, found.value, found.high] == pytest.approx([2, 2, 2])
    apart = paired_ratio(2 * drift, rng.permutation(drift))
    assert apart.high / apart.low > 2


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (8, 1), (9, 2), (12, 3), (15, 4), (25, 8)])
def test_the_ends_are_the_order_statistics_of_the_sign_test(n, rank):
    found = median_interval(np.arange(1, n + 1))
    assert (found.low, found.value, found.high) == (rank, (n + 1) / 2, n + 1 - rank)


@pytest.mark.parametrize("blocks", [6, 7, 9, 12, 15])
def test_intervals_cover_the_truth_as_often_as_they_say(blocks):
    """Of ratios and of means over groups whose blocks share their noise; 95 % within chance."""
    rng = np.random.default_rng(blocks)
    tries, one, several, median = 1000, 0, 0, 0
    for _ in range(tries):
        shared = rng.normal(0, 0.05, blocks)
        logs = [1 + group + shared + rng.normal(0, 0.05, blocks) for group in (-0.5, 0, 0.5)]
        sides = [(np.exp(each), np.ones(blocks)) for each in logs]
        one += paired_ratio(*sides[1]).contains(np.e)
        several += geometric_mean_ratio(sides).contains(np.e)
        median += median_interval(logs[1]).contains(1)
    for inside in (one, several, median):
        assert 0.935 * tries <= inside


def test_the_interval_of_a_ratio_of_times_holds_over_runs():
    """Of two runs that differ by more than their blocks do, and of 100 blocks each."""
    rng = np.random.default_rng(0)
    runs = [np.exp(at + rng.normal(0, 0.01, 100)) for at in rng.normal(0, BETWEEN_RUNS, 400)]
    alone = [paired_ratio(run, np.ones(100)) for run in runs]
    wider = [over_runs(each) for each in alone]
    inside = [
        np.mean([a.contains(b.value) for a, b in zip(of[::2], of[1::2], strict=True)])
        for of in (alone, wider)
    ]
    assert inside[0] < 0.2 and inside[1] >= 0.75
    assert np.mean([each.contains(1) for each in wider]) > 0.93


@pytest.mark.parametrize(
    "known", [Interval(2, 1, 3, 5), Interval(2, 2, 2, 9), Interval(0, -1, 1, 9)]
)
def test_ranges_counts_and_differences_stay_as_they_are(known):
    assert over_runs(known) == known


def test_where_one_end_is_unknown_the_other_is_made_wider():
    low, high = (over_runs(Interval(1, *ends, 7)) for ends in ((0, 1.01), (0.99, np.inf)))
    assert low.low == 0 and low.high == pytest.approx(1.026, abs=1e-3)
    assert high.high == np.inf and high.low == pytest.approx(0.975, abs=1e-3)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (lambda: geometric_mean_ratio([([1.0] * n,) * 2 for n in (2, 3)]), r"\[2, 3\] blocks"),
        (lambda: middle_eight([1.0, 2.0]), "at least 3"),
        (lambda: median_interval([float("nan")]), "every sample is missing"),
        (lambda: paired_ratio([1.0], [1.0, 2.0]), "one length"),
    ],
)
def test_what_cannot_be_counted_is_an_error(count, told):
    with pytest.raises(ValueError, match=told):
        count()


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
    assert item.half_width == pytest.approx(0.0523, abs=5e-5)
    assert item.guard == 1 and records(1.02).pipe(judge)[0].guard == pytest.approx(1.02)


def test_what_fills_a_given_time_is_known_as_well_as_its_bytes():
    same = records(1.0)
    moved = 1e6 * (1 + 0.2 * ((same["block"] + (same["aa"] == "A")) % 2))
    [steady], [scattered] = (
        judge(same.assign(useful_bytes=bytes_), widths=True) for bytes_ in (1e6, moved)
    )
    assert steady.half_width == 0 and scattered.half_width == pytest.approx(0.1376, abs=5e-4)


def test_a_pair_of_several_cases_is_of_those_that_have_both_samples_in_a_block():
    both = pd.concat([records(1.0), records(1.0).assign(case="b")])
    lost = (both["case"] == "b") & (both["aa"] == "B") & (both["block"] < 4)
    assert judge(both[~lost])[0].ratio == judge(both)[0].ratio


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
