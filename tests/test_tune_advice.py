"""Advice on real files: priced, measured, ranked, said as people ask, and nothing left behind."""

import html
import json
import math
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from forked_servers import forking
from made_advice import SHAPE, advice, as_if_measured, maps

from hyperslab.cli import main
from hyperslab.experiments.advise_evaluation import evaluate, judged, pairs
from hyperslab.io import Layout, Variable, create, write_array
from hyperslab.io.urls import shown
from hyperslab.measure.records import frame_of
from hyperslab.network import Link, serving
from hyperslab.text import Interval
from hyperslab.tune.advice import advice_page as page
from hyperslab.tune.advice import explain, rank
from hyperslab.tune.advice.advise_command import advised
from hyperslab.tune.advice.costs import ROUGH, Calibration
from hyperslab.tune.advice.explain import commands
from hyperslab.tune.advice.fetches import UncalibratedError
from hyperslab.tune.advice.question import Question
from hyperslab.tune.advice.rank import try_out

forked = pytest.fixture(scope="module", autouse=True)(forking)
LINK = Link(100e6, 0.02)
QUICK = ["--rough", "--no-measure", "--formats", "netcdf4", "--sample", "128KiB"]
ASKED = [*QUICK, "--budget", "any", "--codecs", "deflate"]


class Refusing(Calibration):
    """Typical costs, of one second, that some reads have not."""

    def predict(self, read):
        if self.versions["refuses"](read):
            raise UncalibratedError(f"{read.layout.codec} was not calibrated for {read.library}")
        return type("One", (), {"seconds": 1.0})


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return maps(tmp_path_factory.mktemp("your files") / "maps.nc")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def ranked(file, tmp_path_factory):
    return advice(file, tmp_path_factory.mktemp("work"), {"time_series": 0.7, "map": 0.3})


def test_what_reads_cost_now_is_counted_and_rows_come_by_gain_within_the_room_allowed(ranked):
    series, frame = (ranked.present.counts[name] for name in ("time_series", "map"))
    assert (series.chunks, series.useful_bytes) == (48, 48 * 4)
    assert series.decoded_bytes == math.prod(SHAPE) * 4
    assert (frame.chunks, frame.useful_bytes) == (1, 60 * 90 * 4)
    assert ranked.present.gain == 1
    assert (ranked.subject.twins, ranked.subject.letters) == (("sst", "ice"), ("T", "Y", "X"))
    gains = [row.gain for row in ranked.rows]
    assert gains == sorted(gains, reverse=True) and gains[0] > 2
    most = 1.25 * ranked.present.nbytes
    assert all(row.nbytes <= most or not row.candidate.rewrites for row in ranked.rows)
    assert all(row.nbytes > most for row in ranked.beyond)
    assert ranked.first is ranked.rows[0]
    assert {row.candidate.remedy for row in ranked.rows} >= {"h5py", "index"}


def test_the_best_are_measured_on_the_file(file, tmp_path):
    ranked = advice(
        file, tmp_path, {"time_series": 0.5, "map": 0.5}, measured=1, repeats=2,
        codecs=("deflate",), cache="warm",
    )  # fmt: skip
    measured = [row for row in ranked.rows if row.measured_gain]
    assert [row.candidate.rewrites for row in measured].count(True) == 1
    assert any(row.candidate.remedy for row in measured) and ranked.rows[0] in measured
    assert all(row.measured_gain.n == 2 for row in measured)
    assert all(row.status == "" for row in (ranked.present, *measured))
    assert set(ranked.present.measured) == {"time_series", "map"}
    assert list(tmp_path.iterdir()) == []


def test_what_no_layout_says_has_its_own_size_and_no_gain(tmp_path):
    path = tmp_path / "scaled.h5"
    values = np.sin(np.arange(48 * 60 * 90) / 999).reshape(48, 60, 90).astype("f4")
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset(
            "sst", data=values, chunks=(1, 60, 90), scaleoffset=2, compression="gzip"
        )
        size = dataset.id.get_storage_size()
    ranked = advice(path, tmp_path, {"map": 1.0}, measured=2, formats=())
    now = ranked.present
    assert now.nbytes == size < ranked.subject.variable.nbytes / 2
    assert now.counts["map"].stored_bytes == pytest.approx(size / 48)
    assert not now.seconds and now.measured is None and "scale-offset" in now.status
    assert ranked.beyond and all(row.nbytes <= 1.25 * size for row in ranked.rows)
    assert all(math.isnan(row.gain) for row in (*ranked.rows, *ranked.beyond))
    assert all(row.candidate.rewrites for row in ranked.rows)
    assert ranked.first is None
    by_time = [row.mean_s for row in ranked.rows]
    assert by_time == sorted(by_time)


def test_what_is_not_calibrated_is_named_and_a_guess_is_not_divided_by_the_model(file, tmp_path):
    refuses = {"refuses": lambda read: read.layout.chunks == (1, 60, 90)}
    costs = Refusing(ROUGH.costs, versions=refuses)
    ranked = advice(file, tmp_path, {"map": 1.0}, costs, budget="any")
    assert all(math.isnan(row.gain) for row in (ranked.present, *ranked.rows))
    assert any("what reads cost now is not predicted" in note for note in ranked.notes)
    refuses["refuses"] = lambda read: read.layout.codec == "zstd"
    ranked = advice(file, tmp_path, None, costs, budget="any")
    assert "zstd was not calibrated for netcdf4." in ranked.notes
    lost = [row for row in ranked.rows if row.status]
    assert {row.candidate.layout.codec for row in lost} == {"zstd"}
    assert lost == list(ranked.rows[-len(lost) :])


def test_nothing_is_advised_where_the_file_as_it_is_cannot_be_read(file, tmp_path, monkeypatch):
    def broken(candidates, *words, **options):
        frame = try_out(candidates, *words, **options)
        frame.loc[frame["mode"] == "as it is", "status"] = "its filter is not there"
        return frame

    monkeypatch.setattr(rank, "try_out", broken)
    ranked = advice(file, tmp_path, {"map": 1.0}, measured=1, repeats=1, codecs=("deflate",))
    assert any("could not be measured (its filter is not there)" in note for note in ranked.notes)
    assert ranked.first is None
    assert all(row.measured_gain is None for row in ranked.rows)


def test_sizes_are_those_of_the_file_where_the_sample_has_less_land(tmp_path):
    shape = (24, 120, 180)
    values = np.random.default_rng(4).normal(0, 1, shape).round(2).astype("f4")
    values[:, :40], values[:, 80:] = -999.0, -999.0  # sea is where the sample lies
    layout = Layout("netcdf4", (1, 120, 180), "deflate", 4, shuffle=True)
    path = tmp_path / "sea.nc"
    with create(path, [Variable("sst", ("t", "y", "x"), shape, "f4")], {"sst": layout}) as writer:
        writer.write("sst", ..., values)
        writer.close()
    limits = {"codecs": ("deflate",), "budget": "any", "sample_bytes": 2**16}
    ranked = advice(path, tmp_path, {"time_series": 0.5, "map": 0.5}, **limits)
    assert ranked.subject.sample.values.shape[1] <= 40 < shape[1]
    row = next(row for row in ranked.rows if row.candidate.rewrites)
    stored = write_array(tmp_path / "better.nc", values, row.candidate.layout)
    assert row.nbytes == pytest.approx(stored, rel=0.1)


def test_candidates_are_read_over_a_link_and_compared(file, tmp_path, monkeypatch):
    frames = []

    def seen(*words, **options):
        frames.append(try_out(*words, **options))
        return frames[0]

    monkeypatch.setattr(rank, "try_out", seen)
    ranked = advice(
        file, tmp_path, {"map": 1.0}, link=LINK, measured=2, repeats=1, codecs=("deflate",),
        budget="any",
    )  # fmt: skip
    (frame,) = frames
    assert set(frame["status"]) <= {"ok", "discarded"} and frame["verified"].all()
    assert (set(frame["phase"]), set(frame["pattern"])) == ({"read"}, {"map"})
    assert (frame["wall_s"] >= 2 * LINK.round_trip_s).all()  # a connection, and the file's head
    remedies = {row.candidate.remedy for row in ranked.rows if row.measured}
    assert remedies == {"", "index", "references"}
    assert ranked.notes[-1].startswith("what was measured was read from a server on this machine")
    # HDF5 files of less than fsspec's read-ahead are in memory when they are open.
    least_s = ranked.present.nbytes / LINK.bytes_per_s
    assert ranked.present.measured["map"].value >= least_s
    moved_s = LINK.seconds(2, 1, ranked.present.nbytes)
    assert ranked.present.seconds["map"] == pytest.approx(moved_s, rel=0.2)
    (row,) = explain.costs(ranked)
    assert (row["requests,\nwith opening"], row["round trips"]) == ("2", "2")
    assert list(tmp_path.iterdir()) == []


def test_the_first_row_is_advised_when_it_gains_and_nothing_when_nothing_does(ranked):
    verdict = " ".join(explain.verdict(as_if_measured(ranked, [7.0])))
    assert ranked.rows[0].candidate.name in verdict
    assert "7 times as fast, measured on all of the variable: 7 × [6.93, 7.07]" in verdict
    several = as_if_measured(ranked, [9.0, 8.0, 0.5])
    for number, row in enumerate(several.rows, 1):
        tried = row.measured_gain is not None or row is several.other
        assert (f"To apply {number}," in explain.how(several)) == tried
    for gain in (0.3, 1.005):
        lost = as_if_measured(ranked, [gain] * len(ranked.rows))
        assert explain.verdict(lost)[0].startswith("Leave the file as it is")
        assert explain.how(lost) == ""
    why_not = replace(ranked.present, gain=math.nan, status="a codec was not calibrated.")
    rows = [replace(row, gain=math.nan, sample_gain=math.nan) for row in ranked.rows]
    unknown = replace(ranked, rows=tuple(rows), present=why_not)
    assert explain.verdict(unknown) == ["Nothing is advised: a codec was not calibrated."]
    assert explain.how(unknown) == "" and " nan" not in explain.text(unknown)
    unsure = as_if_measured(ranked, [1.3] * len(ranked.rows))
    wide = [replace(row, measured_gain=Interval(1.3, 0.9, 1.9, 7)) for row in unsure.rows]
    assert replace(unsure, rows=tuple(wide)).first is None


def test_neither_secrets_nor_servers_are_shown_and_a_page_holds_everything(ranked, tmp_path):
    address = "https://me:secret@example.org/data/maps.nc?token=1"
    question = replace(ranked.subject.question, address=address)
    far = replace(ranked, subject=replace(ranked.subject, question=question))
    assert explain.head(far).startswith("https://example.org/data/maps.nc: sst")
    hints = frame_of(page.rows(far))["hints"].str.cat()
    assert "hyperslab rechunk https://SERVER/maps.nc" in hints and "example.org" not in hints
    records = list(page.rows(far, shown))
    document = page.write(frame_of(records), tmp_path / "a.html", "<my> file").read_text()
    assert "<svg" in document and "&lt;my&gt;" in document
    for text in (html.unescape(document), page.as_json(records)):
        assert "hyperslab rechunk https://example.org/data/maps.nc" in text
        assert "secret" not in text and "token" not in text


def test_a_choice_near_the_best_is_good_and_one_far_from_it_is_not(ranked):
    def first(every, again):
        rows = judged("pair", as_if_measured(ranked, [9.0]), every, as_if_measured(ranked, again))
        return next(row for row in rows if row["mode"] == "advised")

    # What found the fastest does not judge.
    lucky = first(as_if_measured(ranked, [3.9, 6.0]), [4.0, 3.9])
    assert (lucky["rank"], lucky["weight"]) == (2, pytest.approx(3.9 / 4))
    far = first(as_if_measured(ranked, [2.0, 4.0]), [2.0, 4.0])
    assert (far["weight"], far["rank"]) == (2, 2)
    assert first(as_if_measured(ranked, [4.0, 2.0]), [2.0, 4.0])["weight"] == 2
    # What was left early ranks behind, whatever its gain of fewer blocks.
    every = as_if_measured(ranked, [9.0, 3.0])
    early = (replace(every.rows[0], left_early=True), *every.rows[1:])
    left = first(replace(every, rows=early), [2.0, 3.0])
    assert (left["rank"], left["tried"], left["weight"]) == (2, 2, 1.5)


def test_no_more_are_measured_than_asked_for_and_some_are_left_out_early(file, tmp_path):
    pair = pairs({"maps": file}, {"maps": [{"time_series": 1.0}]})
    question = Question(
        "", cache="warm", measured=1, repeats=2, screened=1, sample_bytes=2**18, workdir=tmp_path
    )
    records = frame_of(evaluate(pair, ROUGH, question, 3))
    tried = records[records["mode"] == "candidate"].set_index("hints")
    remedies = {"as it is", "h5py", "sub-chunk index"}
    assert set(tried.index) >= remedies and len(set(tried.index) - remedies) == 3
    assert len(tried) == records[records["mode"] == "advised"]["tried"].iloc[0]
    assert tried["gain"].notna().all()
    assert tried["tried"]["as it is"] == 2 and set(tried["tried"]) <= {1, 2}
    left = records[records["mode"] == "left"]
    assert len(left) and left["gain"].isna().all()


def test_a_report_says_what_and_how_also_as_json_and_a_picture(file, tmp_path, capsys):
    words = ["advise", str(file), *QUICK, "--access", "time_series=0.7", "--access", "map=0.3"]
    assert main([*words, "--json", "a.json", "--plot", "a.png", "--html", "a.html"]) == 0
    text = " ".join(capsys.readouterr().out.split())  # as wide as the terminal
    assert (
        "time_series 70% 192 B 48 of 48" in text and "because a time series goes through " in text
    )
    command = f"hyperslab rechunk {shlex.quote(str(file))} maps-"
    assert command in text and command in html.unescape((tmp_path / "a.html").read_text())
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert main([*words, "-q", "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert "Advice: rewrite it as netcdf4 in " in captured.err
    content = json.loads(captured.out)
    assert content == json.loads((tmp_path / "a.json").read_text())
    now, other, first, *_ = content["candidates"]
    assert [(now[key], other[key]) for key in ("pattern", "predicted_reads")] == [
        ("time_series", "map"), (48, 1),
    ]  # fmt: skip
    assert (first["order"], first["rank"], first["gain"]) == (1, 1, None)
    assert "hyperslab rechunk" in content["how"]


def test_the_commands_that_are_printed_work(file, monkeypatch):
    monkeypatch.setattr("hyperslab.tune.rechunk.resident_bytes", lambda: 80 * 2**20)
    ranked = advised([str(file), *QUICK, "--codecs", "deflate"])
    words = shlex.split(*commands(ranked.subject, ranked.rows[0].candidate))
    assert words[:3] == ["hyperslab", "rechunk", str(file)]
    assert main([*words[1:3], "by us.nc", *words[4:]]) == 0
    with xr.open_dataset(file) as a, xr.open_dataset("by us.nc") as b:
        assert a.identical(b)
        for copied in (b["sst"], b["ice"]):
            assert copied.encoding["chunksizes"] == ranked.rows[0].candidate.layout.chunks
            assert copied.encoding["zlib"]


@pytest.fixture
def url(file):
    with serving(file.parent) as server:
        yield f"{server.url.rstrip('/')}/maps.nc"


def row_of(ranked, **fields):
    every = (*ranked.rows, *ranked.beyond)
    described = ((row, vars(row.candidate.layout) | vars(row.candidate)) for row in every)
    return next(row for row, facts in described if fields.items() <= facts.items())


def executed(code):
    """Run a piece of Python; return what it named."""
    names = {}
    exec(compile(code, "recipe", "exec"), names)
    return names


def python(ranked, row):
    return commands(ranked.subject, row.candidate)[-1]


def test_what_is_printed_for_a_url_runs(url, file):
    truth = xr.open_dataset(file, mask_and_scale=False)["sst"].values
    ranked = advised([url, *ASKED, "--calls", "3", "--library", "netcdf4"])
    values = executed(python(ranked, row_of(ranked, remedy="h5py")))["values"]
    assert np.array_equal(values[3], truth[3])
    with executed(python(ranked, row_of(ranked, remedy="cache")))["file"] as opened:
        assert "#mode=bytes" in opened.filepath()
    row = row_of(ranked, remedy="index")
    assert main(commands(ranked.subject, row.candidate)[0].split()[1:]) == 0
    with executed(python(ranked, row))["ds"] as ds:
        assert np.array_equal(ds["ice"].shape, truth.shape)
    shutil.copy(file, ".")
    code = python(ranked, row_of(ranked, remedy="references"))
    # In a process of its own: fsspec leaves the session of such a file system to its user.
    ends = "\nimport numpy\nnumpy.save('sst.npy', ds['sst'].fillna(-999).values)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code + ends], check=True)
    assert np.array_equal(np.load("sst.npy"), truth)


@pytest.mark.parametrize(
    ("store", "opened"),
    [
        ("s3", "fsspec.open('s3://bucket/maps.nc').open()"),
        ("https://example.org/maps.nc", "fsspec.open('https://example.org/maps.nc').open()"),
        ("local", "'maps.nc'"),
    ],
)
def test_a_file_that_is_read_elsewhere_is_opened_there(file, store, opened):
    shutil.copy(file, ".")
    ranked = advised(["maps.nc", *ASKED, "--library", "netcdf4", "--store", store])
    assert f"h5py.File({opened})" in python(ranked, row_of(ranked, remedy="h5py"))
    assert any("30 ms away, which is assumed" in n for n in ranked.notes) == (store != "local")


def test_a_variable_in_a_group_and_what_a_copy_would_lack():
    values = np.arange(72000, dtype="f4").reshape(20, 60, 60)
    with netCDF4.Dataset("groups.nc", "w") as nc:
        nc.createVariable("names", str, ())[...] = "Vlissingen"
        for name, n in zip("tyx", values.shape, strict=True):
            nc.createDimension(name, n)
        field = nc.createVariable("a/b/v", "f4", ("t", "y", "x"), zlib=True, chunksizes=(1, 60, 60))
        field[...] = values
    ranked = advised(["groups.nc", *ASKED, "--access", "row"])
    assert any("names is left out: it holds text" in note for note in ranked.notes)
    assert "--leave-out" in commands(ranked.subject, row_of(ranked, kind="layout").candidate)[0]
    row = row_of(ranked, remedy="index")
    assert main(commands(ranked.subject, row.candidate)[0].split()[1:]) == 0
    with executed(python(ranked, row))["ds"] as ds:
        assert np.array_equal(ds["v"].values, values)
