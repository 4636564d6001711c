"""The page that sums up: times from several places, remedies, and what is missing."""

import json
import math
from itertools import product

import pytest

from hyperslab.analysis import places
from hyperslab.measure.records import frame_of, save
from hyperslab.study import begin

LABELS = list(places.LABELS)
REMEDIES = {
    ("netCDF-4", "h5py"): "leave it as it is",
    ("netCDF-4", "h5py, 64 KiB read-ahead"): "tune the cache",
    ("netCDF-4", "subchunk"): "index it",
    ("Zarr, Blosc", "zarr"): "convert it",
}
EXPERIMENTS = {
    "penard_local": ("reads",),
    "penard_link": ("delay", "observed"),
    "penard_s3": ("s3",),
}


def records(notebook, profile="quick", left_out=(), **seconds):
    """Made-up records: a second each, but for what is given by the reader; 1 MB in 5 stages."""
    rows = [
        {
            "run_id": "r", "profile": profile, "notebook": notebook, "status": "ok",
            "experiment": experiment, "case": f"{read} {reader}", "phase": phase, "block": block,
            "read": read, "layout": layout, "reader": reader, "predicted_reads": 1, "aa": "",
            "wall_s": (seconds.get(reader.split(",")[-1].strip()[:2], 1.0) + block / 1e3) / 2,
            "cache_state": "warm" if notebook == "penard_local" else "", "user_s": 0.0,
            "sys_s": 0.0,
            **({"link": "s3" if experiment == "s3" else experiment, "latency_s": 0.1, "stages": 5,
                "handshakes": 1, "idle_stages": 5, "requests": 5, "connections": 1,
                "wire_bytes": 1e6} if notebook != "penard_local" else {}),
        }
        for experiment in EXPERIMENTS[notebook] if experiment not in left_out
        for read, (layout, reader), block, phase in product(
            places.READS, REMEDIES, range(6), ("open", "read")
        )
    ]  # fmt: skip
    return frame_of(rows, LABELS)


def test_times_are_of_opening_and_reading_in_order():
    table = places.everywhere({name: records(name, za=0.5) for name in EXPERIMENTS})
    assert list(table.index.unique("place")) == [
        places.DISK, places.DELAY, places.LINK, places.STATED, "S3 server here",
    ]  # fmt: skip
    assert list(table.index.unique("read")) == list(places.READS)
    row = table.loc["S3 server here", "ocean map", "netCDF-4", "h5py"]
    assert row["value"].value == pytest.approx(1, abs=0.01) and row["value"].n == 6
    assert row["timed"] and row["ranked"]
    ranks = places.rank(table)
    assert "subchunk" not in ranks.index.unique("reader")  # which the document had not
    assert ranks.min() == 1


def test_links_that_were_not_timed_are_by_the_model():
    links = records("penard_link", left_out=["observed"])
    table = places.everywhere({"penard_link": links})
    stated = table.loc[places.STATED, "ocean map", "Zarr, Blosc", "zarr"]
    assert stated["value"].value == pytest.approx(6 * 0.1 + 1e6 / 1e5)
    assert not stated["timed"] and not stated["ranked"]
    assert not table.loc[places.LINK, "ocean map", "Zarr, Blosc", "zarr"]["timed"]
    both = records("penard_link")
    timed = places.everywhere({"penard_link": both})
    assert timed.loc[places.LINK]["timed"].all() and len(timed) == len(table)
    assert places.off(timed, both).max() == pytest.approx(abs(0.68 / 1 - 1), abs=0.01)


@pytest.mark.parametrize(
    ("seconds", "best", "chosen"),
    [
        ({"h5": 10, "64": 1.3, "su": 0.9, "za": 0.95}, "subchunk", "h5py, 64 KiB read-ahead"),
        ({"h5": 10, "64": 3, "su": 3, "za": 0.7}, "zarr", "zarr"),
        ({}, "h5py", "h5py"),
    ],
)
def test_the_least_work_that_is_near_the_quickest_is_chosen(seconds, best, chosen):
    table = places.everywhere({"penard_s3": records("penard_s3", **seconds)})
    found = places.chosen(table, REMEDIES, 1.5).sort_index().loc["S3 server here", "ocean map"]
    assert found.index.get_level_values("reader")[found["chosen"]].tolist() == [chosen]
    assert best in found.index.get_level_values("reader")[found["best"]]


def test_the_page_gathers_what_there_is_and_names_what_is_missing(tmp_path, capsys):
    (tmp_path / "machine.json").write_text(json.dumps({}))
    run = begin("penard_summary", profile="quick", records=str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no records of penard_local"):
        run.gather()
    save(records("penard_local"), tmp_path / "penard_local.parquet")
    save(records("penard_link", profile="full"), tmp_path / "penard_link.parquet")
    found = run.gather()
    assert list(found) == ["penard_local", "penard_link"] and len(found["penard_link"])
    said = capsys.readouterr().out
    assert "- No records of penard_s3: `hyperslab run penard_s3 --profile quick`" in said
    assert "- The records of penard_link are of the profile full" in said
    assert math.isnan(places.off(places.everywhere(found), found["penard_link"]).min()) is False
