"""The pages on a user's own file and on how good advice is: what they say follows from records."""

import matplotlib.pyplot as plt
import pytest

from hyperslab.advise.source import open_source
from hyperslab.measure.records import frame_of
from hyperslab.study.own import figures, files, gain_words, words


def judged(*pairs):
    """Records of pairs, each a rank and the time over that of the best."""
    found = []
    for n, (rank, off) in enumerate(pairs):
        for mode in ("advised", "predicted"):
            found.append({
                "case": f"file {n}, map", "mode": mode, "hints": "1x2", "gain_predicted": 2.0,
                "gain": 3.0, "gain_low": 2.9, "gain_high": 3.1, "rank": rank, "tried": 9,
                "weight": off,
            })  # fmt: skip
        found.append({
            "case": f"file {n}, map", "mode": "candidate", "gain_predicted": 2.0, "gain": 3.0,
        })  # fmt: skip
    return frame_of(found)


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ([(1, 1.0)] * 9 + [(4, 1.5)], "reached"),
        ([(1, 1.0)] * 8 + [(4, 1.5)] * 2, "missed"),
        ([(2, 1.05)] * 3, "reached"),
    ],
)
def test_the_aim_is_judged(pairs, says):
    said = words.verdict(judged(*pairs))
    assert f"is {says}." in said
    assert f"Of {len(pairs)} pairs" in said


def test_one_pair_and_none():
    assert "Of 1 pair of" in words.verdict(judged((1, 1.0)))
    none = frame_of([{"case": "a, map", "mode": "advised", "hints": "not asked: no time"}])
    assert "Of no pair" in words.verdict(none)
    assert words.unasked(none) == "Without an answer:\n\n- a, map: not asked: no time"
    assert words.unasked(judged((1, 1.0))) == ""


def candidates(blocks, left=(), pair="a, map"):
    """Records of candidates by the blocks that each was measured in, and of those that were not."""
    found = [{"case": pair, "mode": "candidate", "tried": n} for n in blocks]
    return found + [{"case": pair, "mode": "left", "note": why} for why in left]


def test_what_was_not_measured_is_said():
    said = words.judged(frame_of(candidates([2, 2, 2], ["", "", "no room for it"])), 2, 1.5)
    assert "measured, 3 of each." in said
    assert "Of all 6 candidates of these pairs 2 were not measured" in said
    assert "1 could not be measured." in said
    assert said.endswith("Each was measured in 2 blocks.")
    both = [*candidates([1], pair="a"), *candidates([1, 1], pair="b")]
    said = words.judged(frame_of(both), 2, 1.5)
    assert "netCDF-4 for classic files. These are all 3 that there are." in said
    assert said.endswith("Each was measured in 1 block.")
    assert words.judged(frame_of(candidates([], [""])), 2, 1.5) == "No candidate was measured."


def test_what_was_left_early_is_said():
    said = words.judged(frame_of(candidates([4, 3, 2, 2])), 2, 1.5)
    assert "After 2 blocks only those went on to 4 blocks" in said
    assert "no more than 1.5 times as long" in said
    assert "of all: 2 of 4. The others rank behind them." in said


def test_the_table_has_a_line_for_each_pair():
    table = words.table(judged((1, 1.0), (3, 1.2)))
    assert list(table["rank"]) == ["1 of 9", "3 of 9"]
    assert table["gain measured"].iloc[0] == "3.00 × (2.90 to 3.10)"


def evaluated(pair, advice, gains):
    """Records of one pair: its first advice, and all candidates by their two gains."""
    rows = [
        {"case": pair, "mode": "candidate", "hints": name, "gain_predicted": said, "gain": gain}
        for name, (said, gain) in gains.items()
    ]
    chosen = next(row for row in rows if row["hints"] == advice)
    return [*rows, {**chosen, "mode": "advised", "rank": 1, "tried": len(rows), "weight": 1.0}]


def test_how_well_a_gain_is_predicted_is_a_number():
    rows = evaluated("a, map", "1x2", {"as it is": (1, 1), "1x2": (2.0, 3.0), "2x1": (1.0, 1.5)})
    rows += evaluated("b, map", "as it is", {"as it is": (1.0, 1.0), "1x2": (1.0, 0.8)})
    said = gain_words.summary(frame_of(rows))
    assert "within a factor of 1.50 (range 1.50 to 1.50) as a median over 1 pair " in said
    assert "Over all 3 candidates that were measured" in said
    none = frame_of(evaluated("b, map", "as it is", {"as it is": (1.0, 1.0)}))
    assert gain_words.summary(none) == ""
    more = [row for pair in "abcdef" for row in evaluated(pair, "1x2", {"1x2": (2.0, 3.0)})]
    assert "within a factor of 1.50 (1.50 to 1.50)" in gain_words.summary(frame_of(more))


def test_the_worst_gain_has_its_cause():
    shared = evaluated("a, map", "1x2", {"as it is": (1, 1), "1x2": (2.0, 4.0), "2x1": (1.0, 1.8)})
    said = gain_words.details(frame_of(shared))
    assert "The first advice that is predicted worst: a, map, 1x2, predicted 2.00 ×" in said
    assert "the file as it is, which was read slower than predicted" in said
    own = {"as it is": (1, 1), "1x2": (2.0, 4.0), "2x1": (1.0, 1.0), "2x2": (1.0, 1.0)}
    said = gain_words.details(frame_of(evaluated("a, map", "1x2", own)))
    assert "Most of that lies in the prediction of its own reads" in said and "slower" not in said


@pytest.mark.parametrize(("gain", "says"), [(1.04, "less than the 1.1 ×"), (1.3, "in 1 the 1.1 ×")])
def test_pairs_that_are_left_as_they_are_are_told(gain, says):
    rows = evaluated("a, map", "as it is", {"as it is": (1.0, 1.0), "1x2": (1.0, gain)})
    said = gain_words.details(frame_of(rows))
    assert "In 1 pair the first advice is to leave the file as it is" in said
    assert says in said and "in 1 it is quicker" in said


def test_the_figure_holds_every_candidate():
    drawn = figures.gains(judged((1, 1.0), (2, 1.1)))
    assert len(drawn.axes[0].collections[0].get_offsets()) == 2
    plt.close(drawn)


def test_files_of_every_kind_have_reads(tmp_path):
    made = files.make(tmp_path, steps=8, mib=1)
    mixes = files.mixes(made)
    assert sum(map(len, mixes.values())) >= 20
    assert {path.suffix for path in made.values()} == {".nc", ".zarr"}
    for path in made.values():
        with open_source(path) as source:
            field = max(source.variables.values(), key=lambda one: one.nbytes)
            assert 2**18 < field.nbytes <= 2**20, path


def test_words_for_the_command():
    found = words.options("a.nc", "", "sst", "w", (2, 3, 8, 1))
    assert found[0] == "a.nc"
    assert found[-2:] == ["--variable", "sst"]
    assert "--formats" not in found, "a user's own file is asked about as the command asks"
    example = words.options("a.nc", "", "", "w", (2, 3, 8, 1), "netcdf4")
    assert example[-2:] == ["--formats", "netcdf4"]
