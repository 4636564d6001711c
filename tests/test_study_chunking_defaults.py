"""The page on default chunks: the library asked, files read, sentences from made-up records."""

from functools import partial

import matplotlib.pyplot as plt
import pytest

from hyperslab.measure.records import frame_of
from hyperslab.storage import region
from hyperslab.study.chunking import defaults, defaults_figures, defaults_words, slabs
from hyperslab.study.style import STYLES, styled

SHAPE = (10, 40, 80)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the library says, as the notebook keeps it."""
    folder = tmp_path_factory.mktemp("asked")
    return {
        "constants": frame_of(defaults.constants(folder)),
        "picked": frame_of({"run_id": "r"} | row for row in picks(defaults.variables(), folder)),
        "growing": frame_of(picks(defaults.growing(), folder)),
        "series": frame_of(defaults.short_names(picks(defaults.series(), folder))),
    }


def picks(items, folder):
    return defaults.picked(items, folder)


def read_rows(milliseconds, states=("warm", "cold"), counted=True):
    """Slabs that take so long, by chunk shape and axis."""
    for state in states:
        for name in slabs.STORED:
            for axis, ms in zip(slabs.AXES, milliseconds[name], strict=True):
                for block in range(7):
                    yield {
                        "run_id": "r", "experiment": "slabs", "case": f"{name}/{axis}",
                        "cache_state": state, "phase": "read", "block": block, "status": "ok",
                        "wall_s": ms / 1000 * (1 + block / 100), "chunks": "1x2x3",
                        "useful_bytes": 100.0, "predicted_reads": 4.0, "n": 7,
                        "rchar": 1e6 * ms if counted else float("nan"),
                        "read_bytes": 2e6 * ms if counted and state == "cold" else float("nan"),
                    }  # fmt: skip


def frame(rows):
    return frame_of({key: row[key] for key in row if key != "n"} for row in rows)


EVEN = {"default": (4, 4, 4), "unlimited": (1, 50, 50), "balanced": (5, 5, 5)}
ODD = {"default": (1, 9, 9), "unlimited": (5, 5, 5), "balanced": (20, 20, 20)}


def test_the_model_equals_the_library_for_all_that_is_tried(asked):
    for name in ("picked", "growing", "series"):
        agree, tried = defaults.agreement(asked[name])
        assert agree == tried
    assert len(asked["picked"]) >= 200
    assert asked["picked"]["case"].is_unique
    assert {len(item.shape) for item in defaults.variables()} == set(range(1, 7))
    assert {item.itemsize for item in defaults.variables()} == {1, 2, 4, 8}


def test_what_is_shown_is_tried(asked):
    assert set(defaults.SHOWN) <= set(asked["picked"]["case"])
    assert len(defaults_words.table(asked["picked"])) == len(defaults.SHOWN)


def test_names_are_read_back():
    for item in defaults.variables():
        assert defaults.named(item.name) == item


def test_filters_do_not_change_what_is_picked_beside_an_unlimited_dimension(tmp_path):
    import netCDF4

    [chunks] = defaults.library_chunks([defaults.named("f4 *x721x1440")], tmp_path)
    with netCDF4.Dataset(tmp_path / "plain.nc", "w") as file:
        for name, n in (("t", None), ("y", 721), ("x", 1440)):
            file.createDimension(name, n)
        assert tuple(file.createVariable("v", "f4", ("t", "y", "x")).chunking()) == chunks
    assert [path.name for path in tmp_path.iterdir()] == ["plain.nc"]


def test_the_summary_counts(asked):
    text = defaults_words.summary(
        asked["picked"], asked["growing"], asked["series"], asked["constants"]
    )
    total = sum(len(asked[name]) for name in ("picked", "growing", "series"))
    assert f"{total} of {total} cases" in text
    wrong = asked["picked"].copy()
    wrong.loc[3, "predicted_chunks"] = "1"
    other = defaults_words.summary(wrong, asked["growing"], asked["series"], asked["constants"])
    assert f"{total - 1} of {total} cases" in other


def test_the_sentences_follow_what_the_library_picks(asked):
    growing = asked["growing"]
    partly = (growing["mode"] == "some").sum()
    assert f"{partly} of the {partly} variables" in defaults_words.earlier(growing)
    longer = growing.copy()
    longer.loc[longer["mode"] == "some", "chunks"] = "7x8"
    assert f"Here 0 of the {partly}" in defaults_words.earlier(longer)
    assert "longer in others" in defaults_words.earlier(longer)
    assert "differ" in defaults_words.asked(asked["picked"])
    same = asked["picked"].copy()
    same["chunks"] = "1024"
    assert "are the same" in defaults_words.asked(same)
    assert defaults_words.asked(same[:0]) == ""
    assert "contiguously" in defaults_words.unfiltered(asked["constants"])
    chunked = asked["constants"].assign(mode="[1000, 1000]")
    assert defaults_words.unfiltered(chunked) == ""
    assert "100.0 MB" not in defaults_words.too_large(asked["picked"], asked["constants"])
    none = asked["picked"].assign(useful_bytes=1.0)
    assert defaults_words.too_large(none, asked["constants"]) == ""


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [(EVEN, ("50.0 times", "1.0 times", "less")), (ODD, ("1.0 times", "more"))],
)
def test_directions_come_from_the_records(asked, milliseconds, said):
    records = frame(read_rows(milliseconds))
    timed = slabs.times(records)
    text = defaults_words.advice(asked["picked"], asked["growing"], records, timed)
    assert all(part in text for part in said)
    assert "times in memory and" in text and "times from the disk" in text
    warm = records[records["cache_state"] == "warm"]
    text = defaults_words.advice(asked["picked"], asked["growing"], warm, slabs.times(warm))
    assert "from the disk" not in text


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("states", "counted"), [(("warm", "cold"), True), (("warm",), False)])
def test_the_page_draws_whatever_was_measured(asked, style, states, counted):
    records = frame(read_rows(EVEN, states, counted))
    timed = slabs.times(records)
    assert len(timed) == 9 * len(states)
    with styled(style):
        for draw in (
            partial(defaults_figures.figure_slabs, timed),
            partial(defaults_figures.figure_picked, asked["picked"], 2.0**24),
        ):
            figure = draw()
            figure.canvas.draw()
            assert all(axes.get_xlabel() for axes in figure.axes)
            plt.close(figure)
    text = defaults_words.balance(timed, records)
    assert ("read-ahead" in text) == counted
    assert "4 across time" in text
    assert defaults_words.caption_slabs(timed, records)
    assert defaults_words.caption_picked(asked["picked"])
    assert defaults_words.caption_table()


def test_slabs_are_read_from_files_in_the_chunks_they_should_have(tmp_path):
    import netCDF4

    variable = slabs.stored(SHAPE, 2**14)
    slabs.make_files(variable, tmp_path / "warm")
    cases = slabs.cases(variable, slabs.folders(tmp_path, cold=0))
    assert len(cases) == 9
    for case in cases:
        name = case.name.split("/")[0]
        with netCDF4.Dataset(case.files[0]) as file:
            assert tuple(file["data"].chunking()) == variable.chunks[name]
            assert file.dimensions["time"].isunlimited() == (name != "default")
            found = file["data"][region(case.run.selection, SHAPE).indices]
        assert case.check(found.data)
    assert set(slabs.folders(tmp_path, cold=1)) == {"warm", "cold"}


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_balanced_chunks_are_touched_alike(axis):
    variable = slabs.stored((100, 400, 800), 2**24)
    assert variable.touched("balanced", axis) == 25
    assert variable.touched("default", axis) == 4
    assert variable.touched("unlimited", axis) == (1, 100, 100)[axis]
