"""Experiments on the paper of Penard here: local files, indexes, the page that sums up."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_claims import COMMON, timed, verdicts
from made_layouts import in_layouts

from data_gen.dataset_variable import variable
from hyperslab.analysis import places
from hyperslab.experiments import penard_subchunk as inside
from hyperslab.experiments.penard_local import ReadHere
from hyperslab.io.indexed import BUDGET, BY_HYPERSLAB, CHUNKINDEX, Points, runs
from hyperslab.io.indexed import index as write_indexes
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of, save
from hyperslab.study import begin as study_begin

SERIES, MAP, AT = np.s_[:, 0, 3, 5], np.s_[0, 0], (35, 63)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A step of the temperature on a coarse grid, without shuffle and with it, and its indexes."""
    data = variable("gfs", "air_temperature", steps=1, nlat=90, nlon=180)
    plain = Layout("netcdf4", chunks=data.step_shape, codec="deflate", level=4)
    layouts = {"temperature": plain, "temperature, shuffle": replace(plain, shuffle=True)}
    files = in_layouts(tmp_path_factory.mktemp("run"), data, layouts)
    for file, index in product(files.values(), (CHUNKINDEX, BUDGET)):
        index.build(file)
    write_indexes(files.values())
    return files


@pytest.mark.parametrize("reader", ["subchunk", "chunkindex_layout"])
def test_an_index_goes_with_its_file(files, reader):
    file = files["temperature, shuffle"]
    warm, cold = (ReadHere(file, MAP, reader).parts(state) for state in ("warm", "cold"))
    for parts in (warm, cold):
        path, beside = parts["files"]
        assert beside.exists() and beside.name.startswith(path.name)
    assert warm["files"][0].stat().st_mtime_ns == file.path.stat().st_mtime_ns
    assert not {p.resolve() for p in warm["files"]} & {p.resolve() for p in cold["files"]}


def test_a_chunk_cache_is_recorded(files):
    file = files["temperature, shuffle"]
    parts = ReadHere(file, SERIES, "netcdf4", 2**20).parts("warm")
    assert parts["columns"]["cache_bytes"] == 2**20 and parts["columns"]["predicted_reads"] == 1
    assert "cache_bytes" not in ReadHere(file, SERIES, "netcdf4").parts("warm")["columns"]


def reads(cached=1.0, chunkindex=1.0, profile="full"):
    """Made-up records: as long as the document has it, but for what is given."""
    layouts = ("netCDF-4", "netCDF-4, shuffle")
    ways = list(product(layouts, ("netcdf4", "h5py", "xarray-netcdf4", "xarray-h5netcdf")))
    ways += [*product(layouts, ("chunkindex", "subchunk")), ("Zarr, Blosc", "zarr")]
    ways += [("Zarr, deflate", "zarr"), ("NCZarr", "nczarr")]
    shares = {"nczarr": 0.08, "subchunk": 0.02, "xarray-netcdf4": 1.2, "xarray-h5netcdf": 1.2}
    common = {"cache_state": "warm", "predicted_reads": 1, "phase": "read", "profile": profile}
    for kind, stages in (("ocean", 72), ("temperature", 13)):
        for what, (layout, reader) in product(("series", "map"), ways):
            inside = 3 if what == "map" else 2 if kind == "ocean" else 0.25
            share = shares | {"chunkindex": chunkindex * inside}
            share["zarr"] = 0.1 if layout == "Zarr, Blosc" else 1
            read = {"read": f"{kind} {what}", "layout": layout, "reader": reader, "stages": stages}
            seconds, pair = share.get(reader, 1), reader == "h5py"
            yield from timed(seconds, pair=pair, experiment="reads", **common, **read)
        for size, seconds in (("16 MiB", cached), ("256 MiB", 1)):
            read = {"read": f"{kind} series", "layout": layouts[1], "reader": "netcdf4"}
            read |= {"chunk_cache": size, "stages": stages}
            pair = size == "16 MiB"
            yield from timed(seconds, pair=pair, experiment="cache", **common, **read)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"penard-8a": "holds", "penard-8b": "holds", "penard-8b-why": "refuted",
              "penard-8c": "holds", "penard-xarray": "holds"}),
        ({"cached": 4.0}, {"penard-8b-why": "holds"}),
        ({"chunkindex": 0.1}, {"penard-8c": "refuted"}),
        ({"profile": "quick"}, {"penard-8c": "not measured", "penard-8a": "holds"}),  # short files
    ],
)  # fmt: skip
def test_verdicts_on_local_reads_follow_the_records(tmp_path, changes, expected):
    names = ["read", "layout", "reader", "chunk_cache"]
    claims = verdicts(tmp_path, "penard_local", reads(**changes), names)
    assert {name: claims[name].verdict for name in expected} == expected


@given(st.data(), st.booleans())
def test_runs_are_the_bytes_of_a_box(data, shuffled):
    chunk = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    box = []
    for length in chunk:
        start = data.draw(st.integers(0, length - 1))
        box.append(range(start, data.draw(st.integers(start + 1, length))))
    inside_box = np.zeros(chunk, bool)
    inside_box[np.ix_(*box)] = True
    bytes_ = np.repeat(inside_box.reshape(-1), 4)
    if shuffled:
        bytes_ = bytes_.reshape(-1, 4).T.reshape(-1)
    edges = np.diff(np.concatenate([[0], bytes_.astype(int), [0]]))
    begins, ends = runs(tuple(box), chunk, shuffled)
    assert begins.tolist() == np.flatnonzero(edges == 1).tolist()
    assert ends.tolist() == np.flatnonzero(edges == -1).tolist()


@given(st.data())
def test_sections_hold_what_is_wanted_and_begin_at_points(data):
    out = np.array(sorted(data.draw(st.sets(st.integers(1, 99), max_size=12)) | {0}))
    starts = np.array([True, *(data.draw(st.booleans()) for _ in out[1:])])
    cuts = sorted(data.draw(st.sets(st.integers(0, 100), min_size=2, max_size=12)))
    begins, ends = np.array(cuts[:-1:2]), np.array(cuts[1::2])
    sections = Points(out, out * 2, starts, 100, 200).sections(begins, ends)
    assert set(sections[:, 0]) <= set(out[starts])
    assert (sections[1:, 0] > sections[:-1, 1]).all()
    for begin, end in zip(begins, ends, strict=True):
        assert ((sections[:, 0] <= begin) & (end <= sections[:, 1])).sum() == 1


def test_what_lies_inside_of_chunks_adds_up(files):
    for file, index in product(files.values(), (CHUNKINDEX, BUDGET)):
        points = frame_of(inside.points(file, index))
        assert (points["out_at"].diff().dropna() > 0).all()
        assert points["phase"].tolist() == ["point"] * (len(points) - 1) + ["end"]
        plans = {row["request"]: row for row in inside.pieces(file, index, AT)}
        assert {row["useful_bytes"] for row in plans.values()} == {4 * 180}
        assert plans["row"]["predicted_reads"] == (4 if file.layout.shuffle else 1)
        assert plans["row"]["predicted_bytes"] >= plans["row"]["useful_bytes"]
    held = {row["phase"]: row["file_bytes"] for row in inside.windows(files["temperature"])}
    assert held["sparse"] < held["packed"] and held["referred"] < held["whole"]


def indexes(scale=1.0, shard=2e4, blosc=8e5):
    """Made-up records: indexes take so many milliseconds, and parts of chunks so many bytes."""
    times = {BUDGET.name: 0.5, BY_HYPERSLAB.name: 4.0, CHUNKINDEX.name: 8.0 * scale}
    times["chunkindex, 8 MiB apart"] = 16.0
    for index, ms in times.items():
        row = {"experiment": "spacing", "phase": "read", "file": "temperature", "read": "series"}
        row |= {"index": index, "index_size": "up to chunkindex's", "cache_state": "warm"}
        yield from timed(ms / 1e3, pair=True, **row)
    parts = {"Zarr 3, zstd": 8e5, "Zarr 3, zstd, shards": shard, "Zarr 2, Blosc": blosc}
    for stored, size in parts.items():
        row = {"experiment": "partial", "phase": "read", "stored": stored}
        yield {**row, "rchar": size, "useful_bytes": 1600}
    row = {"experiment": "index-size", "phase": "size", "window": "whole"}
    yield {**row, "file_bytes": 5 * 32768, "useful_bytes": 2**20}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["holds", "holds", "holds", "obsolete"]),
        ({"scale": 0.05}, ["holds", "reversed", "holds", "obsolete"]),
        ({"scale": 4.0, "blosc": 1e5}, ["reversed", "holds", "holds", "holds"]),
    ],
)
def test_verdicts_on_indexes_follow_the_records(tmp_path, changes, expected):
    labels = ["file", "read", "index", "index_size", "stored", "window"]
    claims = verdicts(tmp_path, "penard_subchunk", indexes(**changes), labels)
    apart, ours, (whole, parts, _) = (
        claims[f"penard-{name}"].parts for name in ("index", "index-ours", "partial")
    )
    assert [part.verdict for part in (apart[0], ours[0], whole, parts)] == expected


REMEDIES = {
    ("netCDF-4", "h5py"): "leave it as it is",
    ("netCDF-4", "h5py, 64 KiB read-ahead"): "tune the cache",
    ("netCDF-4", "subchunk"): "index it",
    ("Zarr, Blosc", "zarr"): "convert it",
}
EXPERIMENTS = {"penard_local": ["reads"], "penard_link": ["delay", "observed"], "penard_s3": ["s3"]}


def records(notebook, profile="quick", left_out=(), **seconds):
    """Made-up records: a second each, but for what is given by the reader; 1 MB in 5 stages."""
    rows, experiments = [], [name for name in EXPERIMENTS[notebook] if name not in left_out]
    linked = {"latency_s": 0.1, "stages": 5, "handshakes": 1, "idle_stages": 5, "requests": 5}
    linked |= {"connections": 1, "wire_bytes": 1e6}
    for name, read, (layout, reader) in product(experiments, places.READS, REMEDIES):
        row = {**COMMON, "profile": profile, "notebook": notebook, "experiment": name}
        row |= {"case": f"{read} {reader}", "read": read, "layout": layout, "reader": reader}
        row |= {"predicted_reads": 1, "user_s": 0.0, "sys_s": 0.0, "cache_state": "warm"}
        if notebook != "penard_local":
            row |= {**linked, "link": name, "cache_state": ""}
        half_s = seconds.get(reader.split(",")[-1].strip()[:2], 1.0) / 2
        rows += timed(half_s, **row, phase="open")
        rows += timed(half_s, **row, phase="read")
    return frame_of(rows, list(places.LABELS))


def test_times_are_of_opening_and_reading_in_order():
    table = places.everywhere({name: records(name, za=0.5) for name in EXPERIMENTS})
    expected = [places.DISK, places.DELAY, places.LINK, places.STATED, "S3 server here"]
    assert list(table.index.unique("place")) == expected
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
    remedies = places.chosen(table, REMEDIES, 1.5).sort_index().loc["S3 server here", "ocean map"]
    assert remedies.index.get_level_values("reader")[remedies["chosen"]].tolist() == [chosen]
    assert best in remedies.index.get_level_values("reader")[remedies["best"]]


def test_more_work_is_not_chosen_where_less_was_not_measured():
    every = records("penard_s3", **{"h5": 10, "64": 10})
    some = every[(every["read"] != "ocean map") | (every["reader"] != "subchunk")]
    choices = places.chosen(places.everywhere({"penard_s3": some}), REMEDIES, 1.5)
    picked = choices[choices["chosen"]]["remedy"].droplevel(["place", "layout", "reader"])
    assert picked.to_dict() == dict.fromkeys(set(places.READS) - {"ocean map"}, "index it")


def test_the_page_gathers_what_there_is_and_names_what_is_missing(tmp_path, capsys):
    (tmp_path / "machine.json").write_text("{}")
    run = study_begin("penard_summary", profile="quick", records=str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no records of penard_local"):
        run.gather()
    save(records("penard_local"), tmp_path / "penard_local.parquet")
    save(records("penard_link", profile="full"), tmp_path / "penard_link.parquet")
    gathered = run.gather()
    assert list(gathered) == ["penard_local", "penard_link"] and len(gathered["penard_link"])
    printed = capsys.readouterr().out
    assert "- No records of penard_s3: `hyperslab run penard_s3 --profile quick`" in printed
    assert "- The records of penard_link are of the profile full" in printed
