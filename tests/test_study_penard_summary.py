"""The page that sums up: times of three places, Table 3, gains, words and the figure."""

import json
from itertools import product

import matplotlib.pyplot as plt
import pytest

from hyperslab.measure.records import frame_of, save
from hyperslab.study.penard import summary, summary_figures, summary_words
from hyperslab.study.style import STYLES, styled

PANELS = [f"{kind}/{read}" for kind in ("cmems", "gfs") for read in ("series", "frame")]
THEIRS = ("h5py-off", "h5py-on", "chunkindex-off", "chunkindex-on", "zarr", "nczarr", "netcdf4-off")
BESIDE = ("subchunk-off", "h5py-off-nocache", "h5py-paged", "zarr-deflate")


def records(where, **seconds):
    """Made-up records: a second each, but for what is given by the way's name."""
    notebook, experiments = summary.EXPERIMENTS[where]
    for panel, (experiment, ways), block, phase in product(
        PANELS, zip(experiments, (THEIRS, BESIDE), strict=True), range(6), ("open", "read")
    ):
        for way in ways:
            today = "-today" if way == "subchunk-off" else ""
            yield {
                "run_id": "run-1", "profile": "quick", "notebook": notebook, "status": "ok",
                "experiment": experiment, "case": f"{panel}{today}/{way}", "phase": phase,
                "block": block, "cache_state": "warm" if where == "local" else "",
                "wall_s": (seconds.get(way.replace("-", "_"), 1.0) + block / 1e3) / 2,
            }  # fmt: skip


def table(**seconds):
    return summary.seconds({where: frame_of(records(where, **seconds)) for where in summary.PLACES})


def test_times_are_of_opening_and_reading():
    found = table(zarr=0.5)
    row = found[(found["place"] == "s3") & (found["way"] == "zarr")].iloc[0]
    assert row["seconds"] == pytest.approx(0.5, abs=0.01) and row["n"] == 6 and row["ranked"]
    assert not found[found["way"] == "subchunk-off"]["ranked"].any()


def test_gains_are_over_h5py_as_it_comes():
    found = summary.gains(table(h5py_off=10.0, subchunk_off=0.1, zarr_deflate=20.0))
    gain = found.set_index(["place", "panel", "way"])["gain"]
    assert gain["local", "gfs/series", "subchunk-off"] == pytest.approx(100, rel=0.05)
    assert gain["link", "gfs/frame", "zarr-deflate"] == pytest.approx(0.5, rel=0.05)
    assert (found["low"] <= found["gain"]).all() and (found["gain"] <= found["high"]).all()


def test_words_are_of_the_records():
    found = table(h5py_off=10.0, subchunk_off=0.1, zarr=0.2, nczarr=0.3, chunkindex_off=0.4)
    assert [*summary.fastest(found, "s3", "gfs/frame")["way"]] == [
        "zarr",
        "nczarr",
        "chunkindex-off",
    ]
    assert "8 of 12 (S3 server here)" in summary_words.summary(found)
    shown = summary_words.table_3(found)
    assert len(shown) == 12 and "Zarr, Blosc 0.57" in shown.iloc[-1]["document, s"]
    advice = summary_words.advice(found)
    assert "leave the file and index it (hyperslab.subchunk), 9" in advice
    assert "rewrite it and convert (Zarr, Blosc), 4" in advice
    even = summary_words.advice(table())
    assert "nothing that would rewrite it gains much" in even
    assert "6 to 6 blocks" in summary_words.caption_gains(found)


@pytest.mark.parametrize("style", STYLES)
def test_the_figure_is_drawn(style):
    with styled(style):
        plt.close(summary_figures.figure_gains(table(h5py_off=10.0)))


def test_the_page_draws_from_a_folder_and_names_what_is_missing(tmp_path):
    for where in ("local", "link"):
        frame = frame_of(records(where))
        save(frame, tmp_path / f"{summary.EXPERIMENTS[where][0]}.parquet")
    (tmp_path / "machine.json").write_text(json.dumps({}))
    with pytest.raises(FileNotFoundError, match="no records of penard_s3"):
        summary.drawn(profile="quick", records=str(tmp_path))
    save(frame_of(records("s3")), tmp_path / "penard_s3.parquet")
    assert len(summary.drawn(profile="quick", records=str(tmp_path)).seconds)
