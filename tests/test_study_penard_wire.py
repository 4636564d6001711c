"""The page on the wire: counts from real servers, words, figures and verdicts."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import pytest

from hyperslab.measure.records import frame_of, save
from hyperslab.study import claims
from hyperslab.study.penard import wire, wire_figures, wire_ways, wire_why_words, wire_words
from hyperslab.study.penard.local_files import LocalFiles
from hyperslab.study.style import STYLES, styled

SHAPES = {"cmems": "1x380x1287", "gfs": "1x13x721x1440"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Toys: one frame of each, the temperature on a sixteenth of its grid."""
    made = LocalFiles(
        tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("run"), "smoke", 1, 1
    )
    made.make()
    return made


def rows(**changed):
    """Made-up records: each way moves 10 MB, but for what is given by the way's name."""
    for place, kind, read, way, store in wire_ways.cells("paper"):
        name = way.way(store)
        yield {
            "run_id": "run-1", "profile": "quick", "notebook": "penard_wire", "link": place,
            "experiment": "wire" if place == "http" else "wire-s3", "phase": "all", "block": 0,
            "case": way.case(kind, read, store), "status": "ok", "verified": True,
            "requests": 5, "connections": 2, "stages": 4, "chunks": SHAPES[kind],
            "wire_bytes": changed.get(name.replace("-", "_"), 10e6), "file_bytes": 50e6,
            "predicted_reads": 1 if read == "frame" else 12 if kind == "cmems" else 1,
        }  # fmt: skip


def http(**changed):
    frame = frame_of(rows(**changed))
    return frame[frame["experiment"] == "wire"]


def ranges():
    return frame_of(
        {"run_id": "run-1", "experiment": "touched", "case": f"{kind}/{read}/{way}",
         "stored_at": start, "chunk_bytes": 1e3, "file_bytes": 2e7, "status": "ok"}
        for kind, read, way in product(SHAPES, ("series", "frame"), wire_ways.DRAWN)
        for start in (0, 5e6)
    )  # fmt: skip


def test_two_runs_count_the_same_and_every_read_is_true(files):
    wanted = {("http", "h5py-off"), ("http", "h5py-off-nocache"), ("http", "subchunk-off"),
              ("s3", "subchunk-off")}  # fmt: skip
    cells = [
        cell
        for cell in wire_ways.cells("paper")
        if (cell[0], cell[3].way(cell[4])) in wanted and cell[1:3] == ("gfs", "series")
    ]
    seen = wire.Seen(files, [*cells, *cells], 0.02)  # each in a process of its own
    counted = [*seen.counts("http"), *seen.counts("s3")]
    assert [row["status"] for row in counted] == ["ok"] * 8
    columns = ("link", "case", "requests", "wire_bytes", "predicted_bytes", "stages")
    exact = [tuple(row[name] for name in columns) for row in counted]
    assert exact[:3] == exact[3:6] and exact[6] == exact[7]
    cached, bare, ours = (row["predicted_bytes"] for row in counted[:3])
    assert counted[6]["predicted_bytes"] == ours < bare <= cached <= counted[0]["file_bytes"]
    sent = list(seen.ranges())
    assert {row["case"] for row in sent} == {row["case"] for row in counted}
    drawn = [row["chunk_bytes"] for row in sent if row["case"].endswith("subchunk-off")]
    assert sum(drawn) == 2 * ours


def test_what_nobody_can_read_over_http_is_said_without_an_address(files):
    wanted = {"nczarr-deflate", "zarr3-shards-obstore", "xarray-zarr"}
    cells = [
        cell
        for cell in wire_ways.cells("paper")
        if cell[3].way(cell[4]) in wanted and cell[:3] == ("http", "gfs", "series")
    ]
    found = {row["case"]: row for row in wire.Seen(files, cells, 0.02).counts("http")}
    assert {name for name, row in found.items() if row["status"] == "ok"} == {
        "gfs/series/zarr3-shards-obstore", "gfs/series/xarray-zarr",
    }  # fmt: skip
    said = found["gfs/series/nczarr-deflate"]["status"]
    assert "http://server/gfs-nczarr-deflate.zarr cannot be read" in said
    assert "127.0.0.1" not in said
    table = wire_words.table(frame_of(found.values()))
    assert "failed" in set(table["temperature, series"])


def test_a_read_that_fails_is_told_and_ends_nothing(files):
    found = frame_of(
        {"experiment": "wire", "case": name, "status": status}
        for name, status in (("gfs/frame/zarr", "ok"), ("gfs/frame/h5py-on", "OSError: gone"))
    )
    assert "wire: `h5py-on`: 1 read: OSError: gone" in wire_words.lost(found)
    assert "`h5py-on`: 2 reads, of which the first: OSError: gone" in wire_words.lost(
        frame_of([*found.to_dict("records"), {**found.iloc[1], "case": "gfs/series/h5py-on"}])
    )
    assert "zarr" not in wire_words.lost(found)
    assert wire_words.lost(http()) == ""


def test_cases_are_those_that_the_claims_name():
    names = [(place, way.case(kind, read, store))
             for place, kind, read, way, store in wire_ways.cells("paper")]  # fmt: skip
    assert len(set(names)) == len(names)
    smallest = [cell for cell in wire_ways.cells("smoke") if cell[0] == "http"]
    assert len(smallest) == len(wire_ways.CLAIMED)
    assert set(wire_ways.DRAWN) <= set(wire_figures.labels())
    quick = wire_ways.cells("quick")
    assert not [cell for cell in quick if cell[1] == "gfs" and cell[3].name == "netcdf4"]


def test_words_and_figures_are_of_the_records():
    found = http(subchunk_off=1e6, h5py_off_64k=2e6, h5py_off_nocache=20e6)
    words = wire_words.summary(found)
    assert "sent 10 MB in 5 requests; our index 1 MB in 5 requests, 10× fewer bytes" in words
    assert "10 MB against h5py's 20 MB without" in words
    assert "12 of the ocean's 72" in wire_words.taken(found)
    asked = wire_words.bandwidth(found)
    assert "without read-ahead 20 MB (12 of the 72 chunks: at least that), 1.21 MB/s" in asked
    assert "0.363 MB/s, and 100 s at 100 kB/s" in asked
    assert "2.0× more" in wire_words.advice(found) and "5.0× fewer" in wire_words.advice(found)
    why = wire_why_words.why(found)
    assert "our index" in why and "Points of ours" not in why
    assert "its map took 10 MB in 5 requests, 4 of them one after another; from" in why
    on = found["case"].str.endswith("subchunk-on")
    apart = found.assign(spacing_bytes=2.0**18, predicted_bytes=9e5)
    closer = apart.assign(spacing_bytes=apart["spacing_bytes"].mask(on, 2**16))
    said = "lie 65.54 kB apart with shuffle, and 262.1 kB without: the index may take 2 % of"
    assert said in wire_why_words.why(closer)
    assert "Points of ours" not in wire_why_words.why(apart)
    table = wire_words.table(found)
    assert set(table.columns) >= {"reader", "shuffle", "ocean, series"}
    assert table["ocean, series"].iloc[0] == "5 / 10 / 2 / 4"
    assert wire_words.caption_touched(found) and wire_words.caption_moved(found)
    for style, draw in product(
        STYLES,
        (
            partial(wire_figures.figure_moved, found),
            partial(wire_figures.figure_touched, ranges()),
        ),
    ):
        with styled(style):
            plt.close(draw())


def test_page_stands_with_what_the_smallest_profile_reads():
    kept = {"/".join(names) for names in wire_ways.CLAIMED}
    few = http()[lambda frame: frame["case"].isin(kept)]
    assert wire_words.summary(few) and wire_words.advice(few) and wire_words.table(few).size
    plt.close(wire_figures.figure_moved(few))
    plt.close(wire_figures.figure_touched(ranges().iloc[:1]))


@pytest.mark.parametrize(("moved", "verdict"), [(250e6, "refuted"), (2e6, "holds")])
def test_rate_implied_is_judged(tmp_path, moved, verdict):
    save(frame_of(rows(h5py_on_nocache=moved)), tmp_path / "penard_wire.parquet")
    (claim,) = [claim for claim in claims.load() if claim.id == "penard-9"]
    (judged,) = claims.evaluate([claim], tmp_path)
    assert judged.parts[0].verdict == verdict
