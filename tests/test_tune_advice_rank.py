"""Advice on real files: priced, measured, ranked, and nothing left behind."""

import math

import h5py
import numpy as np
import pytest
import zarr
from forked_servers import forking
from made_advice import SHAPE, advice, as_if_measured, maps

from hyperslab.io import Layout, Variable, create, write_array
from hyperslab.network.link import Link
from hyperslab.tune.advice import rank, trials
from hyperslab.tune.advice.accesses import Access
from hyperslab.tune.advice.costs import ROUGH, Calibration
from hyperslab.tune.advice.fetches import UncalibratedError
from hyperslab.tune.advice.trials import try_out

forked = pytest.fixture(scope="module", autouse=True)(forking)
LINK = Link(100e6, 0.02)


class Refusing(Calibration):
    """Typical costs, of one second, that some reads have not."""

    def predict(self, read):
        if self.versions["refuses"](read):
            raise UncalibratedError(f"{read.layout.codec} was not calibrated for {read.library}")
        return type("One", (), {"seconds": 1.0})


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return maps(tmp_path_factory.mktemp("advice") / "maps of.nc")


@pytest.fixture(scope="module")
def found(file, tmp_path_factory):
    return advice(file, tmp_path_factory.mktemp("work"), {"time_series": 0.7, "map": 0.3})


def test_what_reads_cost_now_is_counted(found):
    series, frame = (found.present.counts[name] for name in ("time_series", "map"))
    assert (series.chunks, series.useful_bytes) == (48, 48 * 4)
    assert series.decoded_bytes == math.prod(SHAPE) * 4
    assert (frame.chunks, frame.useful_bytes) == (1, 60 * 90 * 4)
    assert found.present.gain == 1
    assert found.subject.twins == ("sst", "ice")
    assert found.subject.letters == ("T", "Y", "X")


def test_rows_come_by_gain_within_the_room_allowed(found):
    gains = [row.gain for row in found.rows]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 2
    most = 1.25 * found.present.nbytes
    assert all(row.nbytes <= most or not row.candidate.rewrites for row in found.rows)
    assert all(row.nbytes > most for row in found.beyond)
    assert found.first is found.rows[0]
    assert {row.candidate.remedy for row in found.rows} >= {"h5py", "index"}


def test_what_was_measured_comes_first(found):
    known = as_if_measured(found, [0.5, 3.0])
    ranked = sorted(known.rows, key=lambda row: row.order)
    assert [row.scaled_gain for row in ranked[:2]] == [3.0, 0.5]
    doubtful = as_if_measured(found, [1.005])
    assert doubtful.first is None


def test_the_best_are_measured_on_the_file(file, tmp_path):
    found = advice(
        file, tmp_path, {"time_series": 0.5, "map": 0.5}, measured=1, repeats=2,
        codecs=("deflate",), cache="warm",
    )  # fmt: skip
    known = [row for row in found.rows if row.measured_gain]
    assert [row.candidate.rewrites for row in known].count(True) == 1
    assert any(row.candidate.remedy for row in known)
    assert found.rows[0] in known
    assert all(row.measured_gain.n == 2 for row in known)
    assert all(row.status == "" for row in (found.present, *known))
    assert set(found.present.measured) == {"time_series", "map"}
    assert any("measured twice" in note for note in found.notes)
    assert list(tmp_path.iterdir()) == []


def test_a_zarr_store_as_zarr_makes_them_is_measured(tmp_path):
    values = np.random.default_rng(0).normal(size=(24, 40, 60)).astype("f4")
    group = zarr.open_group(tmp_path / "plain.zarr", mode="w", zarr_format=3)
    group.create_array("sst", data=values, chunks=(1, 40, 60), dimension_names=["time", "y", "x"])
    assert "level=0" in str(group["sst"].compressors)  # which is its library's default, 3
    found = advice(
        tmp_path / "plain.zarr", tmp_path, {"time_series": 1.0}, measured=9, repeats=1,
        formats=(), codecs=("zstd",), most_times=math.inf,
    )  # fmt: skip
    known = [row.candidate.name for row in found.rows if row.measured_gain]
    assert known
    assert len(set(known)) == len(known)


@pytest.fixture
def scaled(tmp_path):
    """A file whose filters no layout says."""
    path = tmp_path / "scaled.h5"
    values = np.sin(np.arange(48 * 60 * 90) / 999).reshape(48, 60, 90).astype("f4")
    with h5py.File(path, "w") as file:
        made = file.create_dataset(
            "sst", data=values, chunks=(1, 60, 90), scaleoffset=2, compression="gzip"
        )
        for axis, name in enumerate(("time", "lat", "lon")):
            file[name] = np.arange(values.shape[axis], dtype="f4")
            file[name].make_scale(name)
            made.dims[axis].attach_scale(file[name])
        return path, made.id.get_storage_size()


@pytest.mark.parametrize("far", [None, Link(1e8, 0.03)])
def test_what_no_layout_says_has_its_own_size_and_no_gain(scaled, far, tmp_path):
    path, size = scaled
    found = advice(path, tmp_path, {"map": 1.0}, measured=2, formats=(), link=far)
    now = found.present
    assert now.nbytes == size < found.subject.variable.nbytes / 2
    assert now.counts["map"].stored_bytes == pytest.approx(size / 48)
    assert now.counts["map"].decoded_bytes == 60 * 90 * 4
    assert not now.seconds
    assert now.measured is None
    assert all(row.nbytes <= 1.25 * size for row in found.rows)
    assert found.beyond
    assert all(math.isnan(row.gain) for row in (*found.rows, *found.beyond))
    assert all(row.candidate.rewrites for row in found.rows)
    assert found.first is None
    assert "scale-offset" in now.status
    by_time = [row.mean_s for row in found.rows]
    assert by_time == sorted(by_time)


def test_a_guess_is_not_divided_by_the_model(file, tmp_path):
    refuses = {"refuses": lambda read: read.layout.chunks == (1, 60, 90)}
    costs = Refusing(ROUGH.costs, versions=refuses)
    found = advice(file, tmp_path, {"map": 1.0}, costs, most_times=math.inf)
    assert all(math.isnan(row.gain) for row in (found.present, *found.rows))
    assert any("what reads cost now is not predicted" in note for note in found.notes)
    assert not found.gains_known
    limits = {"measured": 1, "repeats": 1, "codecs": ("deflate",)}
    measured = advice(file, tmp_path, {"map": 1.0}, costs, **limits)
    assert measured.gains_known
    assert all(math.isnan(row.gain) for row in measured.rows)


def test_nothing_is_advised_where_the_file_as_it_is_cannot_be_read(file, tmp_path, monkeypatch):
    def broken(candidates, *words, **options):
        frame = try_out(candidates, *words, **options)
        frame.loc[frame["case"] == "as it is", "status"] = "its filter is not there"
        return frame

    monkeypatch.setattr(rank, "try_out", broken)
    found = advice(file, tmp_path, {"map": 1.0}, measured=1, repeats=1, codecs=("deflate",))
    assert [note for note in found.notes if "measured" in note] == [
        "reads of the file as it is could not be measured (its filter is not there): no gain is "
        "known."
    ]
    assert found.first is None
    assert not found.gains_known
    assert all(row.measured_gain is None for row in found.rows)


@pytest.mark.parametrize(
    ("layout", "library"),
    [(Layout("netcdf3"), "netcdf4"), (Layout("netcdf4"), "h5py"), (Layout("zarr3"), "zarr")],
)
def test_what_reads_over_a_network_reads_the_format(layout, library, tmp_path):
    path = maps(tmp_path / f"maps{layout.suffix}", layout, (12, 18, 27))
    found = advice(path, tmp_path, {"map": 1.0}, link=Link(1e8, 0.03), variable="sst")
    assert found.present.candidate.library == library


def test_a_sample_stands_for_a_larger_file(file, tmp_path):
    found = advice(file, tmp_path, {"time_series": 1.0}, sample_bytes=2**17)
    assert math.prod(found.subject.sample.values.shape) * 4 <= 2**17
    assert found.rows[0].sample_gain != found.rows[0].gain


def test_a_codec_that_is_not_calibrated_is_named(file, tmp_path):
    refuses = {"refuses": lambda read: read.layout.codec == "zstd"}
    costs = Refusing(ROUGH.costs, versions=refuses)
    found = advice(file, tmp_path, None, costs, most_times=math.inf)
    assert "zstd was not calibrated for netcdf4." in found.notes
    lost = [row for row in found.rows if row.status]
    assert {row.candidate.layout.codec for row in lost} == {"zstd"}
    assert lost == list(found.rows[-len(lost) :])


@pytest.mark.parametrize("layout", [Layout("netcdf3"), Layout("hdf5"), Layout("zarr3", (1, 9, 9))])
def test_files_of_other_kinds(layout, tmp_path):
    path = maps(tmp_path / f"maps{layout.suffix}", layout, (12, 18, 27))
    found = advice(path, tmp_path, formats=(), variable="sst")
    assert found.present.candidate.layout.format == layout.format
    assert found.rows
    assert {row.candidate.layout.format for row in found.rows} >= {"zarr3"}


def test_sizes_are_those_of_the_file_where_the_sample_has_less_land(tmp_path):
    shape = (24, 120, 180)
    values = np.random.default_rng(4).normal(0, 1, shape).round(2).astype("f4")
    values[:, :40], values[:, 80:] = -999.0, -999.0  # sea is where the sample lies
    layout = Layout("netcdf4", (1, 120, 180), "deflate", 4, shuffle=True)
    path = tmp_path / "sea.nc"
    with create(path, [Variable("sst", ("t", "y", "x"), shape, "f4")], {"sst": layout}) as writer:
        writer.write("sst", ..., values)
        writer.close()
    limits = {"codecs": ("deflate",), "most_times": math.inf, "sample_bytes": 2**16}
    found = advice(path, tmp_path, {"time_series": 0.5, "map": 0.5}, **limits)
    assert found.subject.sample.values.shape[1] <= 40 < shape[1]
    row = next(row for row in found.rows if row.candidate.rewrites)
    fresh = tmp_path / "better.nc"
    stored = write_array(fresh, values, row.candidate.layout)
    assert row.nbytes == pytest.approx(stored, rel=0.1)


def test_candidates_are_read_over_a_link_and_compared(file, tmp_path, monkeypatch):
    kept = []

    def seen(*words, **options):
        kept.append(try_out(*words, **options))
        return kept[0]

    monkeypatch.setattr(rank, "try_out", seen)
    shares, limits = {"map": 1.0}, {"codecs": ("deflate",), "most_times": math.inf}
    found = advice(file, tmp_path, shares, link=LINK, measured=2, repeats=1, **limits)
    (frame,) = kept
    assert set(frame["status"]) == {"ok"} and frame["verified"].all()
    assert (set(frame["phase"]), set(frame["pattern"])) == ({"read"}, {"map"})
    assert (frame["wall_s"] >= 2 * LINK.round_trip_s).all()  # a connection, and the file's head
    remedies = {row.candidate.remedy for row in found.rows if row.measured}
    assert remedies == {"", "index", "references"}
    assert found.notes[-1].startswith("what was measured was read from a server on this machine")
    # HDF5 files of less than fsspec's read-ahead are in memory when they are open.
    least_s = found.present.nbytes / LINK.bytes_per_s
    assert found.present.measured["map"].value >= least_s
    assert found.present.seconds["map"] >= least_s
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_served_is_predicted_and_said(file, tmp_path, monkeypatch):
    monkeypatch.setattr(rank, "missing", lambda: ("no_such_server",))
    found = advice(file, tmp_path, link=LINK, measured=2)
    assert not any(row.measured for row in (found.present, *found.rows))
    assert "nothing was measured over the network" in found.notes[-1]
    assert "no_such_server" in found.notes[-1]


def test_only_what_may_be_the_best_is_measured_further():
    accesses = [Access("map", 0.5, ()), Access("row", 0.5, ())]

    def row(case, access, seconds, status="ok"):
        return {"case": f"{case} | {access}", "phase": "read", "wall_s": seconds,
                "status": status, "block": 0}  # fmt: skip

    times = {"now": (9.0, 9.0), "best": (1.0, 1.0), "near": (1.5, 1.0), "far": (2.5, 1.0)}
    rows = [
        row(case, access, seconds)
        for case, each in times.items()
        for access, seconds in zip(("map", "row"), each, strict=True)
    ]
    rows += [row("far", "map", 3.0), row("lost", "map", 0.1), row("lost", "row", 0.1, "ended")]
    assert trials._near(rows, accesses, "now") == {"now", "best", "near"}
    assert trials._near([*rows, row("far", "map", 1.2)], accesses, "now") >= {"far"}
