"""The page on the synthetic datasets: survey, sentences, figures, physics."""

import dataclasses
from pathlib import Path

import pytest

from hyperslab.measure.records import frame_of
from hyperslab.study.penard import datasets, datasets_figures, datasets_words, fields, survey
from hyperslab.study.profile import entry
from hyperslab.study.style import STYLES, styled

ROOT = Path(__file__).parents[1]

MIB = 2**20


def files(share=1.01, stages=None):
    stages = stages or datasets.FRAMES
    return frame_of(
        {
            "case": f"{name}/{kind}",
            "phase": "size",
            "experiment": "table1",
            "profile": "quick",
            "file_bytes": share * size * MIB,
            "useful_bytes": 700 * MIB,
            "stages": stages[name],
        }
        for name, kinds in datasets.TABLE_1.items()
        for kind, size in kinds.items()
    )


def tiles(levels=(1, 9), gain=0.1):
    return frame_of(
        {
            "case": f"{tile}/deflate-{level}",
            "phase": "size",
            "level": level,
            "file_bytes": 72e6 / ratio * (1 if level == 1 else 1 - gain),
            "useful_bytes": 72e6,
        }
        for tile, ratio in datasets.TABLE_5.items()
        for level in levels
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A survey of very small grids, its jobs run in this process."""
    plan = survey.Plan(cmems=1, gfs=1, levels=(1, 9), shrink=16)
    found = survey.Survey(plan, tmp_path_factory.mktemp("survey"))
    found.done = tuple(job() for job in found.jobs())
    return found


def test_a_survey_gives_each_file_of_table_1_once(tiny):
    rows = frame_of(tiny.table_1())
    assert rows["case"].tolist() == [
        f"{name}/{kind}" for name, kinds in datasets.TABLE_1.items() for kind in kinds
    ]
    assert (rows["phase"] == "size").all()
    assert set(rows["stages"]) == {1}
    whole = {"cmems": 2 * 72 * 380 * 1287 * 4, "gfs": 13 * 13 * 721 * 1440 * 4}
    for name, size in whole.items():
        assert (rows["useful_bytes"][rows["case"].str.startswith(name)] == size).all()
    by_case = rows.set_index("case")
    assert by_case.loc["gfs/on", "shuffle"]
    assert by_case.loc["cmems/zarr", "codec"] == "blosc-lz4"
    assert by_case.loc["cmems/nczarr-zip", "file_bytes"] < by_case.loc["cmems/nczarr", "file_bytes"]


def test_ocean_sizes_scale_from_one_frame_to_table_1(tiny):
    table = datasets.sized(frame_of(tiny.table_1()))
    assert table[table["name"] == "cmems"]["off"].abs().max() < 0.03


def test_a_survey_gives_each_tile_at_each_level(tiny):
    rows = frame_of(tiny.all_levels())
    assert sorted(rows["case"]) == sorted(
        f"{tile}/deflate-{level}" for tile in datasets.TABLE_5 for level in (1, 9)
    )
    assert set(frame_of(tiny.table_5())["case"]) == {
        f"{tile}/deflate-1" for tile in datasets.TABLE_5
    }
    assert (rows["useful_bytes"] == 12 * 1501 * 2001 * 2).all()


def test_a_survey_leaves_no_files(tiny):
    tiny.done  # noqa: B018
    assert list(tiny.scratch.iterdir()) == []


def test_costs_have_a_drawing_and_a_writing_row_each(tiny):
    rows = frame_of(tiny.cost())
    assert {"cmems/off", "gfs/off", "tile1/deflate-1"} <= set(rows["case"])
    for _, pair in rows.groupby("case"):
        assert sorted(pair["phase"]) == ["draw", "write"]
    assert (rows["user_s"] >= 0).all()


def test_a_failed_job_leaves_no_files(tiny):
    broken = dataclasses.replace(tiny.plan, seed=-1)
    with pytest.raises(ValueError, match="seed=-1"):
        dataclasses.replace(tiny.jobs()[0], plan=broken)()
    assert list(tiny.scratch.iterdir()) == []


@pytest.mark.parametrize("profile", ["smoke", "quick", "full", "paper"])
def test_a_profile_decides_levels_and_grids(profile):
    settings = entry("penard_datasets", ROOT).settings[profile]
    plan = survey.plan(profile, settings["ocean_frames"], settings["gfs_frames"], seed=5)
    assert (plan.cmems, plan.gfs) == (settings["ocean_frames"], settings["gfs_frames"])
    assert (plan.levels[0], plan.levels[-1], plan.seed) == (1, 9, 5)
    assert plan.shrink == (4 if profile == "smoke" else 1)


@pytest.mark.parametrize(
    ("ocean", "gfs", "said"), [(73, 1, "ocean_frames is 73"), (1, 0, "gfs_frames is 0")]
)
def test_frames_that_the_document_has_not_are_refused(ocean, gfs, said):
    with pytest.raises(ValueError, match=said):
        survey.plan("quick", ocean, gfs)


def test_differences_are_fractions_of_the_document():
    assert datasets.sized(files(0.98))["off"].tolist() == pytest.approx([-0.02] * 10)
    assert datasets.compressed(tiles(levels=(1,)))["off"].tolist() == pytest.approx([0] * 3)
    gained = datasets.gains(tiles(gain=0.07))
    assert gained[gained["level"] == 9]["gain"].tolist() == pytest.approx([0.07] * 3)
    assert gained[gained["level"] == 1]["gain"].tolist() == [0] * 3


def test_the_summary_names_the_worst_cell():
    rows = files(1.0)
    rows.loc[rows["case"] == "gfs/zarr", "file_bytes"] *= 1.04
    said = datasets_words.summary(rows, tiles(levels=(1,)), tiles(gain=0.11))
    assert "at most 4.0 % (temperature, Zarr: 327 MiB for 314)" in said
    assert "21.0, 14.0 and 23.0 times" in said
    assert "11 to 11 %" in said
    assert "scaled" not in said


def test_the_page_says_when_not_all_frames_were_written():
    said = datasets_words.written(files(stages={"cmems": 26, "gfs": 13}))
    assert "26 of the 72 frames of the ocean file and scaled" in said
    assert "temperature" not in said
    assert "toys" not in said
    toy = files(stages={"cmems": 4, "gfs": 1}).assign(profile="smoke")
    assert "1 of the 13 frames of the temperature file" in datasets_words.written(toy)
    assert "toys" in datasets_words.written(toy)


def test_tables_put_the_document_beside_ours():
    table = datasets_words.table_1(files(1.01))
    assert table["document, MiB"].tolist()[:5] == ["117", "106", "114", "117", "269"]
    assert set(table["difference"]) == {"+1.0 %"}
    assert datasets_words.table_5(tiles(levels=(1,)), tiles())["document, ratio"].tolist() == [
        "21",
        "14",
        "23",
    ]
    assert "document: 0.906" in datasets_words.shuffled(files())


def test_the_cost_table_has_a_line_for_each_file(tiny):
    table = datasets_words.cost(frame_of(tiny.cost()))
    assert "gfs/off" in set(table["file"])
    assert len(set(table["file"])) == len(table)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_physics_hold(seed):
    broken = [check for check in fields.checks(seed) if not check.holds]
    assert broken == []


def test_a_check_that_fails_says_so():
    assert not fields.Check("ocean", "speed", 3.0, 0, 2).holds
    assert fields.Check("ocean", "speed", 2.0, 0, 2).holds


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["currents", "eddies", "temperature", "reflectivity"])
def test_pictures_have_units(name, style):
    import matplotlib.pyplot as plt

    with styled(style):
        figure = getattr(datasets_figures, name)(0)
        labels = {text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())}
        plt.close(figure)
    assert "longitude, °E" in labels
    assert labels & {"m/s", "°C", "dBZ"}


def test_figures_of_sizes_draw_the_document_beside_ours():
    import matplotlib.pyplot as plt

    figure = datasets_figures.sizes(datasets.sized(files()))
    for axes, kinds in zip(figure.axes, datasets.TABLE_1.values(), strict=True):
        assert axes.lines[0].get_xdata().tolist() == list(kinds.values())
        assert [bar.get_width() for bar in axes.patches] == pytest.approx(
            [1.01 * size for size in kinds.values()]
        )
    plt.close(figure)


def test_the_figure_of_levels_has_a_line_for_each_tile():
    import matplotlib.pyplot as plt

    figure = datasets_figures.levels(datasets.gains(tiles(gain=0.12)))
    ends = [line.get_ydata()[-1] for line in figure.axes[0].lines]
    assert ends == pytest.approx([12, 12, 12])
    plt.close(figure)
