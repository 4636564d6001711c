"""Reads from afar: over links, what moves from a server, from S3 without its secrets, verdicts."""

import json
import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import yaml
from forked_servers import forking
from made_claims import COMMON, timed, verdicts
from made_claims import load as claims_of_study
from made_layouts import in_layouts
from made_store import KEY, SECRET, store, variables

from data_gen.dataset_variable import Repeated, variable
from hyperslab import claims
from hyperslab.analysis import cost
from hyperslab.experiments import penard_link as far
from hyperslab.experiments.penard_wire import Counting
from hyperslab.io import indexed, references
from hyperslab.io.experiment import Case
from hyperslab.io.far import ABROAD, NEAR, Place, ReadOver, serve
from hyperslab.io.layout import Layout
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import about, frame_of, load, save
from hyperslab.network import Endpoint, Link
from hyperslab.study import profile
from hyperslab.study.options import Options, executed_folder
from hyperslab.study.pictures import MapOfLinks
from hyperslab.study.run import run
from hyperslab.study.stale import Page

forked = pytest.fixture(scope="module", autouse=True)(forking)

LABELS = list(far.LABELS)
LINKS = {"delay": Link(np.inf, 0.02), "observed": Link(12.5e6, 0.02)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One step of the temperature, on a sixteenth of its grid, in a layout of each kind."""
    data = variable("gfs", "air_temperature", steps=1, nlat=180, nlon=360)
    plain = Layout("netcdf4", chunks=data.step_shape)
    packed = replace(plain, codec="deflate", level=4)
    odd = replace(packed, format="nczarr", shuffle=True)
    layouts = {"netCDF-4": packed, "NCZarr, deflate": odd, "uncompressed": plain}
    layouts["Zarr"] = Layout("zarr2", chunks=data.step_shape, codec="deflate")
    files = in_layouts(tmp_path_factory.mktemp("far"), data, layouts)
    indexed.index([files["netCDF-4"]])
    references.write(files["uncompressed"].path)
    return files


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
            datasets = [(file[name].id, name) for name in ("uo", "vo")]
            chunks = [(id.get_chunk_info(n), name) for id, name in datasets for n in range(5)]
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
        for phase, share, columns in (("open", 0.25, {}), ("read", 0.75, counted)):
            wall_s, columns = share * over.seconds(waits, 1, 1e6, 0.01), {**columns, "phase": phase}
            rows += timed(wall_s, pair=pair, **row, **columns, user_s=share * 0.01)
    return frame_of(rows, LABELS)


def test_what_is_judged_is_measured_and_of_the_rest_what_is_quick():
    place, ways = Place("observed", LINKS["observed"]), product(READS, WAYS)
    labels = [dict(zip(LABELS, (read, *way), strict=True)) for read, way in ways]
    cases = [Case(label, ReadOver(place, None, (0,), "h5py")) for label in labels]

    def chosen(*limit):
        moved = records(h5py_off=90, chunkindex_off=2)
        affordable = far.affordable(cases, moved, LINKS, *limit)
        return {tuple(case.labels.values()): (case.aa, case.most_blocks) for case in affordable}

    low, high = chosen(0, far.JUDGED, 1), chosen(1, far.JUDGED, 1)
    assert set(low) == far.JUDGED and {blocks for _, blocks in low.values()} == {0}
    assert [key[2] for key, (aa, _) in low.items() if aa] == ["chunkindex"]
    rest = set(high) - far.JUDGED
    assert rest and {high[key][1] for key in rest} == {1}
    assert ("ocean map", "netCDF-4", "h5py") not in rest
    assert any(aa for aa, _ in chosen(0).values())  # one at least is measured, as a pair
    assert len(chosen(1000)) == len(cases)


def test_many_links_take_what_each_of_them_takes():
    moved, rates = cost.moved(records(zarr_off=40), LABELS), np.array([1e4, 1e8])
    seconds = cost.over_links(moved, np.array([0.05]), rates)
    for n, rate in enumerate(rates):
        assert seconds[:, n].ravel() == pytest.approx(
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
    observed = records(h5py_on=3, chunkindex_off=stages)
    by_id = {claim.id: claim for claim in claims_of_study()}

    def judged(frame, *names):
        save(frame, tmp_path / "penard_link.parquet")
        return claims.evaluate([by_id[name] for name in names], tmp_path)

    assert judged(observed.assign(profile="full"), "penard-9b")[0].verdict == verdict
    smaller, other = judged(observed, "penard-9b", "penard-9")  # of smaller files
    assert smaller.verdict == other.parts[2].verdict == "not measured"
    long = records("undelayed", h5py_on=3, chunkindex_off=stages).assign(wall_s=0.5)
    (claim,) = judged(pd.concat([observed, long]), "penard-9b")
    assert (claim.verdict, claim.headline.name) == (verdict, "time by the model")
    assert claim.headline.measured == pytest.approx((1 + stages + 0.9) / 4.9)


def case(files, layout, reader, **options):
    place = Place("http", Link(np.inf, 0))
    read = ReadOver(place, files[layout], np.s_[:, 0, 69, 126], reader, options)
    named = f"{reader}, parts" if options else reader
    return Case({"read": "series", "layout": layout, "reader": named}, read)


def test_two_runs_count_the_same_of_true_reads(files):
    readers = ("h5py", "h5py-none", "subchunk")
    names = ("requests", "wire_bytes", "predicted_bytes", "file_bytes")
    cases, folder = [case(files, "netCDF-4", r) for r in readers], files["netCDF-4"].path.parent
    first, second = Counting(folder, 0.02), Counting(folder, 0.02)
    once, again = ({row["reader"]: row for row in of.counts(cases)} for of in (first, second))
    for reader in readers[:2]:  # of requests made together a late one finds a connection free
        assert once[reader]["connections"] == again[reader]["connections"]
    for reader in readers:
        assert once[reader]["status"] == "ok" and once[reader]["verified"]
        assert [once[reader][name] for name in names] == [again[reader][name] for name in names]
        ranges = [row for row in first.ranges(cases) if row["reader"] == reader]
        assert sum(row["chunk_bytes"] for row in ranges) == once[reader]["predicted_bytes"]
    ours, bare, cached = (once[name]["predicted_bytes"] for name in reversed(readers))
    assert 0 < ours < bare <= cached <= once["h5py"]["file_bytes"]
    assert once["subchunk"]["spacing_bytes"] > 0 and "spacing_bytes" not in once["h5py"]


def test_kerchunk_reads_parts_of_what_is_not_compressed_and_failures_say_no_address(files):
    cases = [case(files, "uncompressed", "kerchunk", **o) for o in ({}, {"parts": (13, 9)})]
    cases.append(case(files, "NCZarr, deflate", "zarr"))
    counting = Counting(files["netCDF-4"].path.parent, 0.02)
    whole, parts, failed = counting.counts(cases)
    assert whole["status"] == parts["status"] == "ok"
    few, all_ = parts["predicted_bytes"], whole["predicted_bytes"]
    assert few * 13 * 9 == all_ == 4 * 13 * 180 * 360
    (packed,) = counting.counts([case(files, "netCDF-4", "kerchunk", parts=(13, 9))])
    assert "decompressing" in packed["status"]
    assert "cannot be read by zarr" in failed["status"] and not failed["verified"]
    assert "127.0.0.1" not in failed["status"] + packed["status"]


@pytest.mark.parametrize(("moved", "verdict"), [(250e6, "refuted"), (2e6, "holds")])
def test_rate_implied_is_judged(tmp_path, moved, verdict):
    labels = {"read": "temperature series", "layout": "netCDF-4, shuffle"}
    row = {"experiment": "wire", "phase": "all", "wire_bytes": moved, **labels}
    rows = [{**row, "reader": reader} for reader in ("h5py", "h5py, no read-ahead")]
    judged = verdicts(tmp_path, "penard_wire", rows, [*labels, "reader"])
    assert judged["penard-9"].parts[0].verdict == verdict


ROOT = Path(__file__).parents[1]
BUCKET, FOLDER = "canary-bucket", "canary-top/canary-folder"
STORE = f"s3://{BUCKET}/{FOLDER}"
URL = "HYPERSLAB_S3_URL"


def leaked(text, server):
    """Which of the names that nobody may see stand in a text."""
    hidden = (KEY, SECRET, BUCKET, *FOLDER.split("/"), f"127.0.0.1:{server.port}")
    return [name for name in hidden if name.lower() in text.lower()]


def test_a_store_that_refuses_is_told_without_its_name_and_keys(tmp_path, monkeypatch):
    (tmp_path / "a.nc").write_bytes(b"a")
    with store(tmp_path, BUCKET) as server:
        for name, value in variables(server, key=f"{KEY}-not").items():
            monkeypatch.setenv(name, value)
        with (
            pytest.raises(OSError, match="access denied") as caught,
            serve(tmp_path, {"s3": Link(1e9, 0)}, "s3", STORE),
        ):
            pass
    assert not leaked(str(caught.value), server)


def test_a_real_store_gets_the_files_and_no_secret_is_kept(tmp_path, monkeypatch, capsys):
    served, work, top = (tmp_path / name for name in ("served", "work", "study"))
    served.mkdir()
    # The study, but for the reads that are as any other.
    (top / "notebooks").mkdir(parents=True)
    for name in ("_config.yml", "book", "notebooks/penard_s3.ipynb"):
        (top / name).symlink_to(ROOT / name)
    settings = {**profile.entry("penard_s3", ROOT).settings["smoke"], "ocean_steps": 1}
    settings["leave_out"] += [
        {"read": ["temperature series", "temperature map"]},
        {"reader": "chunkindex"},
        {"layout": "NCZarr"},
        {"experiment": "s3-today"},
        {"reader": ["h5py, 64 KiB read-ahead", "h5py, blocks of 1 MiB"]},
    ]
    entry = {"name": "penard_s3", "title": "", "profiles": {"smoke": settings}}
    (top / "notebooks/study.yml").write_text(yaml.safe_dump({"notebooks": [entry]}))
    monkeypatch.chdir(top)
    for name in (name for name in os.environ if name.startswith("AWS_")):
        monkeypatch.delenv(name)
    with store(served, BUCKET) as server:
        for name, value in (variables(server) | {URL: STORE}).items():
            monkeypatch.setenv(name, value)
        (done,) = run(["penard_s3"], Options("smoke", workdir=str(work), repeats=1))
        assert done.state == "done", done.message
        put = {request.path for request in server.requests() if request.method == "PUT"}
    assert put and all(path.startswith(f"/{BUCKET}/{FOLDER}/") for path in put)
    frame = load(work / "results/smoke/penard_s3.parquet")
    over_web, *tried = frame["status"][frame["experiment"] == "tries"]
    assert over_web == "ok"
    for status in tried:  # the library's own words, or the truth
        assert status == "ok" or ("NetCDF: " in status and "127.0.0.1" not in status)
    read = frame[frame["experiment"] == "s3"]
    assert (read["status"] == "ok").all() and (read["link"] == NEAR).all()
    assert np.isnan(read["requests"].astype(float)).all()
    executed = executed_folder(work, "smoke") / "penard_s3.ipynb"
    assert "this is no store's speed" in executed.read_text()
    written = {path for path in work.rglob("*") if path.is_file()}
    assert {path.suffix for path in written} >= {".ipynb", ".parquet", ".json", ".svg"}
    # Neither in the files nor in what a compressed page of a record holds.
    texts = {path: path.read_bytes().decode("latin-1") for path in written}
    texts |= {"printed": "".join(capsys.readouterr()), "records": frame.to_csv()}
    assert not {path: names for path, text in texts.items() if (names := leaked(text, server))}
    mark = Endpoint.of(STORE).mark
    assert mark in json.dumps(about(work / "results/smoke/penard_s3.parquet"))


def test_another_store_is_another_run(monkeypatch):
    for name in (URL, *(name for name in os.environ if name.startswith("AWS_"))):
        monkeypatch.delenv(name, raising=False)
    item, pages = profile.entry("penard_s3", ROOT), []
    for name, value in (
        (URL, "s3://canary/one"), (URL, "s3://canary/two"), ("AWS_REGION", "canary-2"),
        ("AWS_ENDPOINT_URL", "http://canary.example:9000"), ("AWS_ACCESS_KEY_ID", KEY),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET if name.endswith("ID") else "")
        pages.append(json.dumps(Page.of(item, Options(), ROOT).experiment))
    assert len(set(pages)) == 4 and pages[-1] == pages[-2]  # other keys are the same store
    assert "canary" not in str(pages)


@pytest.mark.parametrize(("moved", "link", "expected"), [
    (40, "s3", ["holds", "holds", "holds", "holds"]),
    (400, "s3", ["refuted", "refuted", "refuted", "holds"]),
    (40, ABROAD, ["holds", "holds", "not measured", "not measured"]),
])  # fmt: skip
def test_the_order_of_magnitude_is_judged(tmp_path, moved, link, expected):
    ways = [("s3", "netCDF-4, shuffle", "h5py", moved), ("s3", "Zarr, Blosc", "zarr", 10)]
    ways += [("s3-today", "netCDF-4", "h5py, no read-ahead", 10)]
    rows = []
    for name, layout, reader, size in ways:
        row = {"experiment": name, "link": link, "phase": "read", "user_s": 0.0, "sys_s": 0.0}
        row |= {"read": "ocean map", "layout": layout, "reader": reader}
        row |= {"wire_bytes": size * 1e6} if link == "s3" else {}
        rows += timed(size / 200, pair=True, **row)
    judged = verdicts(tmp_path, "penard_s3", rows, ["read", "layout", "reader"])
    assert [part.verdict for part in judged["penard-10"].parts] == expected
