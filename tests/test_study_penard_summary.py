"""The page that sums up: times from five places, Table 3, remedies, words and figures."""

import json
import math
from itertools import product

import matplotlib.pyplot as plt
import pytest

from hyperslab.measure.records import frame_of, save
from hyperslab.study.penard import (
    summary,
    summary_caption_words,
    summary_choice,
    summary_figures,
    summary_seconds,
    summary_words,
)
from hyperslab.study.style import STYLES, styled

PANELS = [f"{kind}/{read}" for kind in ("cmems", "gfs") for read in ("series", "frame")]
THEIRS = ("h5py-off", "h5py-on", "chunkindex-off", "chunkindex-on", "zarr", "nczarr", "netcdf4-off")
BESIDE = ("subchunk-off", "h5py-off-nocache", "h5py-off-64k", "h5py-paged", "zarr-deflate")
CACHED = ("h5py-off-nocache", "h5py-off-64k")
SHAPES = {"cmems": "1x380x1287", "gfs": "1x13x721x1440"}
FRAMES = {"cmems": 6, "gfs": 1}


def records(where, frames=None, profile="quick", **seconds):
    """Made-up records: a second each, but for what is given by the way's name; 1 MB in 5 stages."""
    frames = frames or FRAMES
    notebook, experiments = summary_seconds.EXPERIMENTS[where]
    if where == "link":
        experiments = (*summary_seconds.LINKS["delay"], *experiments)
    measured = zip(experiments, (THEIRS, BESIDE) * 2, strict=False)
    for panel, (experiment, ways), block, phase in product(
        PANELS, measured, range(6), ("open", "read")
    ):
        kind, _, read = panel.partition("/")
        for way in ways:
            if where == "local" and way in CACHED:
                continue  # a disk has no cache of requests
            today = "-today" if way == "subchunk-off" else ""
            yield {
                "run_id": "run-1", "profile": profile, "notebook": notebook, "status": "ok",
                "experiment": experiment, "case": f"{panel}{today}/{way}", "phase": phase,
                "block": block, "cache_state": "warm" if where == "local" else "",
                "wall_s": (seconds.get(way.replace("-", "_"), 1.0) + block / 1e3) / 2,
                "format": "netcdf4" if "zarr" not in way else "zarr2", "chunks": SHAPES[kind],
                "predicted_reads": 1 if read == "frame" else frames[kind],
                "user_s": 0.0, "sys_s": 0.0,
                **({"link": experiment.split("-")[0], "latency_s": 0.1,
                    "stages": 5, "handshakes": 1, "idle_stages": 5, "requests": 5,
                    "wire_bytes": 1e5 if way == "subchunk-off" else 1e6}
                   if where != "local" else {}),
            }  # fmt: skip


def table(*places, frames=None, **seconds):
    return summary_seconds.seconds(
        {
            where: frame_of(records(where, frames, **seconds))
            for where in places or summary_seconds.EXPERIMENTS
        }
    )


def choice(found, where, panel):
    rows = summary_choice.compared(found)
    mine = rows[(rows["place"] == where) & (rows["panel"] == panel)]
    [best], [chosen] = (mine[mine[what]]["way"] for what in ("best", "chosen"))
    return best, chosen


def test_times_are_of_opening_and_reading():
    found = table(zarr=0.5)
    row = found[(found["place"] == "s3") & (found["way"] == "zarr")].iloc[0]
    assert row["seconds"] == pytest.approx(0.5, abs=0.01) and row["n"] == 6 and row["ranked"]
    assert not found[found["way"] == "subchunk-off"]["ranked"].any()
    assert set(found[found["panel"] == "gfs/frame"]["chunk_bytes"]) == {13 * 721 * 1440 * 4}
    assert not found["whole"].any()
    assert table(frames={"cmems": 72, "gfs": 13})["whole"].all()


def test_links_that_were_not_timed_are_by_the_model():
    made = [row for row in records("link") if not row["experiment"].startswith("observed")]
    found = summary_seconds.seconds({"link": frame_of(made)}).set_index(["place", "panel", "way"])
    stated = found.loc["stated", "gfs/series", "zarr"]
    assert stated["seconds"] == pytest.approx(6 * 0.1 + 1e6 / 1e5) and stated["n"] == 0
    assert math.isnan(stated["low"]) and not stated["ranked"]
    assert stated["label"] == "100 kB/s and 100 ms"
    observed = found.loc["link", "gfs/series", "zarr"]
    assert observed["label"] == "100 Mbit/s and 100 ms" and observed["n"] == 0
    assert found.loc["delay", "gfs/series", "zarr"]["n"] == 6
    both = table("link").set_index(["place", "panel", "way"]).loc["link", "gfs/series", "zarr"]
    assert both["n"] == 6 and both["ranked"]


def test_what_was_timed_over_such_a_link_is_taken_as_timed():
    timed = [
        {**row, "experiment": "stated", "link": "stated", "wall_s": 7.0}
        for row in records("link")
        if row["case"] == "gfs/series/zarr" and row["experiment"] == "delay"
    ]
    found = summary_seconds.seconds({"link": frame_of([*records("link"), *timed])})
    mine = found[(found["place"] == "stated") & (found["way"] == "zarr")].set_index("panel")
    assert mine.loc["gfs/series", "seconds"] == 14 and mine.loc["gfs/series", "n"] == 6
    assert mine.loc["gfs/frame", "n"] == 0 and len(mine) == 4


def test_the_least_work_that_is_near_the_quickest_is_chosen():
    slow = {"h5py_off": 10.0, "h5py_paged": 9.0, "zarr_deflate": 9.0}
    near = table("s3", subchunk_off=0.9, h5py_off_64k=1.3, zarr=0.95, h5py_off_nocache=1.4, **slow)
    assert choice(near, "s3", "gfs/series") == ("subchunk-off", "h5py-off-64k")
    far = table("s3", subchunk_off=0.9, h5py_off_64k=1.5, zarr=0.7, h5py_off_nocache=3, **slow)
    assert choice(far, "s3", "gfs/series") == ("zarr", "subchunk-off")
    alone = table("s3", subchunk_off=3, h5py_off_64k=3, zarr=0.7, h5py_off_nocache=3, **slow)
    assert choice(alone, "s3", "gfs/series") == ("zarr", "zarr")
    even = table("s3")
    assert choice(even, "s3", "gfs/series")[1] == "h5py-off"


def test_what_a_tuned_cache_saves_is_a_share_of_what_an_index_saves():
    found = summary_choice.compared(table("s3", h5py_off=10, subchunk_off=1, h5py_off_64k=2.8,
                                          h5py_off_nocache=20))  # fmt: skip
    saved = summary_choice.saved(found)
    assert saved["share"].to_list() == pytest.approx([0.8] * 4, abs=0.01)
    assert saved["times"].to_list() == pytest.approx([2.8] * 4, abs=0.02)
    assert summary_choice.saved(summary_choice.compared(table("s3"))).empty
    assert summary_choice.saved(summary_choice.compared(table("local", subchunk_off=0.1))).empty


def test_words_are_of_the_records():
    found = table(h5py_off=10.0, subchunk_off=0.1, zarr=0.2, nczarr=0.3, chunkindex_off=0.4,
                  h5py_off_64k=0.14)  # fmt: skip
    assert [*summary_seconds.fastest(found, "s3", "gfs/frame")["way"]] == [
        "zarr",
        "nczarr",
        "chunkindex-off",
    ]
    told = summary_words.summary(found)
    assert "8 of 12 (S3 server here)" in told and "tune the cache, 12" in told
    assert (
        "saves 50 % or more in 12 of 16 cases: a delay of 100 ms, the ocean's series 100 %" in told
    )
    shown = summary_words.table_3(found)
    assert len(shown) == 12 and "Zarr, Blosc 0.57" in shown.iloc[-1]["document, s"]
    advice = summary_words.advice(found)
    tuned = "Tune the cache (64 KiB ahead): a delay of 100 ms (1.4 times hyper"
    assert f"**A map out of a chunk of 54 MB.** {tuned}" in advice
    assert "S3 server here (1.4 times hyperslab.subchunk)" in advice
    assert "index it (hyperslab.subchunk): this machine's disk, 100 kB/s and 100 ms*" in advice
    assert "A star: by the model." in advice
    assert "A star" not in summary_words.advice(table("s3"))
    rows = summary_words.table_choice(found).set_index(["from", "read"])
    assert len(rows) == 20
    s3 = rows.loc[("S3 server here", "ocean, frame")]
    assert s3["64 KiB ahead, s"].startswith("0.143 [")
    assert rows.loc[("100 kB/s and 100 ms", "ocean, frame")]["as it is, s"] == "10.6*"
    assert rows.loc[("this machine's disk", "ocean, frame")]["64 KiB ahead, s"] == "–"


def test_captions_say_where_numbers_come_from():
    found = table()
    assert "6 interleaved blocks" in summary_caption_words.caption_times(found, 0.1)
    caption = summary_caption_words.caption_choice(found, 0.1)
    assert "off by 10 % at most" in caption and "behind 1 Gbit/s and 20 ms" in caption
    only = table("local")
    assert "model" not in summary_caption_words.caption_choice(only, math.nan)
    assert "this machine's disk across" in summary_caption_words.alt_choice(only)
    assert "this machine's disk; hollow" in summary_caption_words.alt_times(only)


@pytest.mark.parametrize(
    ("style", "places"),
    [(STYLES[0], ()), (STYLES[1], ()), *((STYLES[0], (one,)) for one in ("local", "link", "s3"))],
)
def test_the_figures_are_drawn_from_any_of_the_records(style, places):
    found = table(*places, frames={"cmems": 72, "gfs": 13}, h5py_off=10.0)
    with styled(style):
        times = summary_figures.figure_times(found)
        told = [text.get_text() for text in times.legends[0].get_texts()]
        assert ("by the model" in told) == (places in ((), ("link",)))
        assert "the document's" in told
        cells = summary_figures.figure_choice(found)
        assert len(cells.axes[0].texts) == len(summary_choice.compared(found)) / 4
        plt.close(times)
        plt.close(cells)


def test_the_page_draws_from_what_there_is_and_names_what_is_missing(tmp_path):
    (tmp_path / "machine.json").write_text(json.dumps({}))
    with pytest.raises(FileNotFoundError, match="no records of penard_local"):
        summary.drawn(profile="quick", records=str(tmp_path))
    save(frame_of(records("local")), tmp_path / "penard_local.parquet")
    save(frame_of(records("link", profile="full")), tmp_path / "penard_link.parquet")
    found = summary.drawn(profile="quick", records=str(tmp_path))
    assert found.missing == ("penard_s3",) and found.others == {"penard_link": "full"}
    assert found.off == pytest.approx(0.4, abs=0.01)  # 6 round trips of 0.1 s against 1 s
    told = summary_words.absent(found.missing, found.others, found.profile)
    assert "- No records of penard_s3: `hyperslab run penard_s3 --profile quick`" in told
    assert "- The records of penard_link are of the profile full" in told
    assert "S3" not in summary_words.summary(found.seconds)
    assert summary_words.absent((), {}, "quick") == ""
