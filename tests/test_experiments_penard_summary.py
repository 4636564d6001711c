"""The page that sums up: times from several places, remedies, and what is missing."""

from itertools import product

import pytest
from made_claims import COMMON, timed

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
EXPERIMENTS = {"penard_local": ["reads"], "penard_link": ["delay", "observed"], "penard_s3": ["s3"]}


def records(notebook, profile="quick", left_out=(), **seconds):
    """Made-up records: a second each, but for what is given by the reader; 1 MB in 5 stages."""
    rows, there = [], [one for one in EXPERIMENTS[notebook] if one not in left_out]
    linked = {"latency_s": 0.1, "stages": 5, "handshakes": 1, "idle_stages": 5, "requests": 5}
    linked |= {"connections": 1, "wire_bytes": 1e6}
    for name, read, (layout, reader) in product(there, places.READS, REMEDIES):
        row = {**COMMON, "profile": profile, "notebook": notebook, "experiment": name}
        row |= {"case": f"{read} {reader}", "read": read, "layout": layout, "reader": reader}
        row |= {"predicted_reads": 1, "user_s": 0.0, "sys_s": 0.0, "cache_state": "warm"}
        if notebook != "penard_local":
            row |= {**linked, "link": name, "cache_state": ""}
        half_s = seconds.get(reader.split(",")[-1].strip()[:2], 1.0) / 2
        rows += timed(half_s, **row, phase="open")
        rows += timed(half_s, **row, phase="read")
    return frame_of(rows, LABELS)


def test_times_are_of_opening_and_reading_in_order():
    table = places.everywhere({name: records(name, za=0.5) for name in EXPERIMENTS})
    found = [places.DISK, places.DELAY, places.LINK, places.STATED, "S3 server here"]
    assert list(table.index.unique("place")) == found
    assert list(table.index.unique("read")) == list(places.READS)
    row = table.loc["S3 server here", "ocean map", "netCDF-4", "h5py"]
    assert row["value"].value == pytest.approx(1, abs=0.01) and row["timed"] and row["ranked"]
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
    observed = places.everywhere({"penard_link": both})
    assert observed.loc[places.LINK]["timed"].all() and len(observed) == len(table)
    assert places.off(observed, both).max() == pytest.approx(abs(0.68 / 1 - 1), abs=0.01)


@pytest.mark.parametrize(
    ("seconds", "best", "chosen"),
    [
        ({"h5": 10, "64": 1.3, "su": 0.9, "za": 0.95}, "subchunk", "h5py, 64 KiB read-ahead"),
        ({}, "h5py", "h5py"),
    ],
)
def test_the_least_work_that_is_near_the_quickest_is_chosen(seconds, best, chosen):
    table = places.everywhere({"penard_s3": records("penard_s3", **seconds)})
    found = places.chosen(table, REMEDIES, 1.5).sort_index().loc["S3 server here", "ocean map"]
    assert found.index.get_level_values("reader")[found["chosen"]].tolist() == [chosen]
    assert best in found.index.get_level_values("reader")[found["best"]]


def test_the_page_gathers_what_there_is_and_names_what_is_missing(tmp_path, capsys):
    (tmp_path / "machine.json").write_text("{}")
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
