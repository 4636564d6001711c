"""The page on slow links: reads over them, what is chosen, the model, the map, the verdicts."""

from itertools import product

import h5py
import numpy as np
import pandas as pd
import pytest
from forked_servers import forking
from made_claims import COMMON, load, timed
from made_layouts import in_layouts

from data_gen.variable import Repeated, variable
from hyperslab import claims
from hyperslab.analysis import cost
from hyperslab.experiments import penard_link as far
from hyperslab.io import indexed
from hyperslab.io.experiment import Case
from hyperslab.io.far import Place, ReadOver, serve
from hyperslab.io.layout import Layout
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of, save
from hyperslab.network import Link
from hyperslab.study.pictures import MapOfLinks

forked = pytest.fixture(scope="module", autouse=True)(forking)


LABELS = list(far.LABELS)
LINKS = {"delay": Link(np.inf, 0.02), "observed": Link(12.5e6, 0.02)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One step of the temperature, on a sixteenth of its grid, in a layout of each kind."""
    data = variable("gfs", "air_temperature", steps=1, nlat=180, nlon=360)
    plain = Layout("netcdf4", chunks=data.step_shape, codec="deflate", level=4)
    layouts = {"netCDF-4": plain, "Zarr": Layout("zarr2", chunks=data.step_shape, codec="deflate")}
    found = in_layouts(tmp_path_factory.mktemp("far"), data, layouts)
    indexed.index([found["netCDF-4"]])
    return found


@pytest.mark.parametrize(
    ("layout", "reader"), [("netCDF-4", "h5py"), ("netCDF-4", "subchunk"), ("Zarr", "zarr")]
)
def test_a_read_over_a_link_is_true_and_takes_what_the_model_says(files, layout, reader):
    with serve(files[layout].path.parent, LINKS) as places:
        read = ReadOver(places["delay"], files[layout], np.s_[:, 0, 69, 126], reader)
        case = Case({"read": "series", "layout": layout, "reader": reader}, read, aa=True).ready()
        for _ in range(2):  # what is imported at the first read is not the link's
            watch = Stopwatch()
            case.prepare()
            values = case.run(watch)
            assert case.check(values) and not case.check(values + 1)
    rows = [{**COMMON, **case.columns, **case.labels, **row} for row in watch.rows()]
    moved = cost.moved(frame_of(rows, LABELS), LABELS)
    assert (moved["stages"] >= 1).all() and (moved["wire_bytes"] > 0).all()
    taken = sum(row["wall_s"] for row in rows if row["phase"] != "close")
    waits = float((moved["stages"] + moved["handshakes"]).iloc[0])
    assert taken > 0.9 * LINKS["delay"].round_trip_s * waits  # fewer would be stages that are none


def test_a_plain_request_is_checked_and_a_link_without_waits_has_no_rate(files):
    with serve(files["netCDF-4"].path.parent, LINKS) as places:
        case = far.plain_request(places["delay"], files["netCDF-4"]).ready()
        read = case.run(Stopwatch())
    assert case.check(read) and not case.check(read[:-1])
    plain = {"phase": "read", "wall_s": 0.2, "user_s": 0.0, "sys_s": 0.1, "wire_bytes": 3e8}
    assert cost.rate(frame_of([COMMON | plain]), 0.2) == np.inf
    assert cost.rate(frame_of([COMMON | plain]), 0.05) == pytest.approx(6e9)


def test_what_is_repeated_is_written_as_what_is_drawn_whole(tmp_path):
    size = {"nlat": 19, "nlon": 64}
    drawn, whole = (variable("ocean", "vo", steps=steps, **size) for steps in (2, 5))
    repeated = Repeated(drawn, 5)
    layout = Layout("netcdf4", chunks=drawn.step_shape, codec="deflate", level=4)
    order = []
    for data, path in ((whole, tmp_path / "whole.nc"), (repeated, tmp_path / "repeated.nc")):
        data.write({path: layout}, tmp_path / "data")
        with h5py.File(path) as file:
            found = [(file[name].id, name) for name in ("uo", "vo")]
            chunks = [(id.get_chunk_info(n), name) for id, name in found for n in range(5)]
            chunks.sort(key=lambda chunk: chunk[0].byte_offset)
            order.append([(name, chunk.chunk_offset) for chunk, name in chunks])
            values = file["vo"][...]
    assert order[0] == order[1] and repeated.shape == whole.shape
    for selection in (np.s_[:, 3, 9], np.s_[4, :, :]):
        assert (values[selection] == repeated.part(selection, tmp_path)()).all()


READS = ("ocean series", "ocean map", "temperature series", "temperature map")
WAYS = (
    ("netCDF-4", "h5py"), ("netCDF-4, shuffle", "h5py"), ("netCDF-4", "chunkindex"),
    ("netCDF-4", "subchunk"), ("netCDF-4", "subchunk, obstore"), ("Zarr, Blosc", "zarr"),
    ("NCZarr", "zarr"),
)  # fmt: skip


def records(link="observed", **stages):
    """Made-up records: 5 + 1 round trips of 100 ms, 1 MB and 10 ms of CPU time, as the model."""
    over, rows = Link(12.5e6, 0.1), []
    for read, (layout, reader) in product(READS, WAYS):
        waits = stages.get(f"{reader}_{'on' if 'shuffle' in layout else 'off'}", 5)
        row = {**COMMON, "notebook": "penard_link", "experiment": link, "link": link, "sys_s": 0.0}
        row |= {"read": read, "layout": layout, "reader": reader}
        row |= {"case": f"{read}, {layout}, {reader}"}
        counted = {"stages": waits, "handshakes": 1, "idle_stages": waits, "wire_bytes": 1e6}
        counted |= {"requests": 9, "connections": 1}
        pair = (read, layout, reader) == ("ocean series", "netCDF-4", "h5py")
        for phase, share, told in (("open", 0.25, {}), ("read", 0.75, counted)):
            wall_s, told = share * over.seconds(waits, 1, 1e6, 0.01), {**told, "phase": phase}
            rows += timed(wall_s, pair=pair, **row, **told, user_s=share * 0.01)
    return frame_of(rows, LABELS)


def test_what_is_judged_is_measured_and_of_the_rest_what_is_quick():
    place, ways = Place("observed", LINKS["observed"]), product(READS, WAYS)
    labels = [dict(zip(LABELS, (read, *way), strict=True)) for read, way in ways]
    cases = [Case(one, ReadOver(place, None, (0,), "h5py")) for one in labels]

    def chosen(*limit):
        moved = records(h5py_off=90, chunkindex_off=2)
        found = far.affordable(cases, moved, LINKS, *limit)
        return {tuple(case.labels.values()): (case.aa, case.most_blocks) for case in found}

    low, high = chosen(0, far.JUDGED, 1), chosen(1, far.JUDGED, 1)
    assert set(low) == far.JUDGED and {blocks for _, blocks in low.values()} == {0}
    assert [one[2] for one, (aa, _) in low.items() if aa] == ["chunkindex"]
    rest = set(high) - far.JUDGED
    assert rest and {high[one][1] for one in rest} == {1}
    assert ("ocean map", "netCDF-4", "h5py") not in rest
    assert any(aa for aa, _ in chosen(0).values())  # one at least is measured, as a pair
    assert len(chosen(1000)) == len(cases)


def test_many_links_take_what_each_of_them_takes():
    moved, rates = cost.moved(records(zarr_off=40), LABELS), np.array([1e4, 1e8])
    found = cost.over_links(moved, np.array([0.05]), rates)
    for n, rate in enumerate(rates):
        assert found[:, n].ravel() == pytest.approx(
            cost.seconds(moved, Link(rate, 0.05)).to_numpy()
        )


def test_a_new_connection_waits_until_its_window_fills_the_link():
    late_s = [cost.slow_start_s(LINKS["observed"], size) for size in (14_600, 50_000)]
    assert late_s == pytest.approx([0, 0.036496])


def test_the_map_says_who_leads_and_where_another_is_near():
    moved = cost.moved(records(zarr_off=3), LABELS)
    assert MapOfLinks(moved, "").leads().loc["Zarr, Blosc: zarr"].tolist() == [1.0] * len(READS)
    same = moved[moved.index.isin(["subchunk", "subchunk, obstore"], level="reader")]
    best, near = MapOfLinks(same, "")._maps["ocean map"]
    assert len(np.unique(best)) == 1 and not near.any()  # it merely fetches otherwise


@pytest.mark.parametrize(("stages", "verdict"), [(5, "reversed"), (1, "holds")])
def test_verdicts_are_of_the_seconds_of_whole_files(tmp_path, stages, verdict):
    made = records(h5py_on=3, chunkindex_off=stages)
    known = {claim.id: claim for claim in load()}

    def judged(frame, *names):
        save(frame, tmp_path / "penard_link.parquet")
        return claims.evaluate([known[name] for name in names], tmp_path)

    assert judged(made.assign(profile="full"), "penard-9b")[0].verdict == verdict
    smaller, other = judged(made, "penard-9b", "penard-9")  # of smaller files
    assert smaller.verdict == other.parts[2].verdict == "not measured"
    long = records("undelayed", h5py_on=3, chunkindex_off=stages).assign(wall_s=0.5)
    (found,) = judged(pd.concat([made, long]), "penard-9b")
    assert (found.verdict, found.headline.name) == (verdict, "time by the model")
    assert found.headline.measured == pytest.approx((1 + stages + 0.9) / 4.9)
