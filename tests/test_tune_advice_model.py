"""The cost model: what a read touches, as loops and servers count it, and what that costs here."""

import dataclasses
import datetime
import math

import numpy as np
import pytest
from contracts.readers import selected
from forked_servers import forking
from hypothesis import given
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.io import Layout
from hyperslab.io.cards import reader
from hyperslab.io.creation import write_array
from hyperslab.measure.machine import identity, versions
from hyperslab.measure.processes import Processes
from hyperslab.network import Link, serving
from hyperslab.tune.advice import calibrate as measuring
from hyperslab.tune.advice import costs, fetches
from hyperslab.tune.advice.calibrate import calibrate, field, fitted
from hyperslab.tune.advice.costs import ROUGH, Calibration, NoCalibrationError, terms
from hyperslab.tune.advice.counts import Read, counts_of
from hyperslab.tune.advice.fetches import Moved, UncalibratedError, moved, wire_seconds
from hyperslab.tune.advice.sample import decode_seconds, pack
from hyperslab.tune.advice.visit import MODULES

EVERY = slice(None)


@given(selected(12), st.data())
def test_chunks_and_bytes_are_those_of_a_plain_loop(drawn, data):
    shape, chosen = drawn
    chunks = tuple(data.draw(st.integers(1, 14)) for _ in shape)
    counts = counts_of(Read(shape, "i2", Layout("zarr2", chunks=chunks), (chosen,), "zarr"))
    elements = np.argwhere(np.ones(shape))[np.arange(math.prod(shape)).reshape(shape)[chosen].flat]
    touched = {tuple(at // chunks) for at in elements}
    assert counts.chunks == counts.fetched == counts.requests == len(touched)
    assert counts.useful_bytes == 2 * len(elements)
    assert counts.decoded_bytes == counts.stored_bytes == len(touched) * 2 * math.prod(chunks)


@pytest.mark.parametrize(
    ("layout", "library", "counts"),
    [
        # (requests, stretches of the disk) of a column, a map and a series
        (Layout("netcdf3"), "netcdf4", [(2048, 1), (128, 1), (16, 16)]),
        (Layout("netcdf4"), "h5py", [(256, 1), (1, 1), (16, 16)]),
        (Layout("binary"), "plain", [(8192, 1), (1, 1), (16, 16)]),
        (Layout("netcdf4", chunks=(1, 512, 512)), "h5py", [(16, 1), (1, 1), (16, 1)]),
        (Layout("netcdf4", chunks=(16, 64, 64)), "netcdf4", [(8, 8), (64, 1), (1, 1)]),
        (Layout("zarr2", chunks=(1, 512, 512)), "zarr", [(16, 16), (1, 1), (16, 16)]),
    ],
)
def test_requests_are_those_that_were_counted_on_real_files(layout, library, counts):
    chosen = [(EVERY, EVERY, 100), (5, EVERY, EVERY), (EVERY, 300, 200)]
    counted = [counts_of(Read((16, 512, 512), "f4", layout, (c,), library)) for c in chosen]
    assert [(c.requests, c.extents) for c in counted] == counts


def test_the_chunk_cache_saves_fetching_again_from_one_call_to_the_next():
    layout = Layout("netcdf4", chunks=(4, 10), codec="deflate")
    rows = tuple((i, EVERY) for i in range(8))
    read = Read((8, 40), "f4", layout, rows, "h5py", 80)
    held, none = counts_of(read), counts_of(dataclasses.replace(read, cache_bytes=0))
    assert (held.chunks, held.fetched, none.fetched) == (32, 8, 32)
    assert held.stored_bytes == 8 * 80 and none.stored_bytes == 32 * 80


def test_the_index_inside_chunks_decodes_a_part():
    plain = Layout("netcdf4", chunks=(1, 1000, 1000), codec="deflate")
    shuffled = dataclasses.replace(plain, shuffle=True)

    def of(layout, selection):
        return counts_of(Read((9, 1000, 1000), "f4", layout, (selection,), "subchunk", 1e6))

    few, more = of(plain, (EVERY, 5, 5)), of(shuffled, (EVERY, 5, 5))
    assert few.decoded_bytes < min(0.02 * 9 * 4e6, more.decoded_bytes)
    assert more.requests == 4 * few.requests
    assert of(plain, (EVERY,) * 3).decoded_bytes == 9 * 4e6


DEFLATE = Layout("netcdf4", chunks=(1, 100, 100), codec="deflate", shuffle=True)
SERIES = ((slice(None), 5, 5),)
READ = Read((50, 100, 100), "f4", DEFLATE, SERIES, "h5py", 1e4)
COSTS = {
    "h5py/chunked:first": 1e-3, "h5py/chunked:chunk": 1e-5, "h5py/chunked:fault": 1e-7,
    "h5py/chunked:run": 1e-8, "h5py/chunked:byte": 1e-9, "h5py/chunked:open": 5e-3,
    "h5py/deflate+shuffle:out": 3e-9, "h5py/deflate+shuffle:in": 5e-9,
    "h5py/deflate+shuffle:each": 1e-5, "h5netcdf/chunked:first": 2e-3, "zarr/zarr:first": 4e-3,
    "zarr/zarr:chunk": 2e-4, "disk:extent": 1e-4, "disk:span": 1e-9, "disk:stream": 5e-10,
}  # fmt: skip
CALIBRATED = Calibration(COSTS, made="2026-01-01T00:00:00+00:00", samples=100, took_s=60.0)


def test_a_prediction_is_the_sum_of_its_parts_and_opening_and_the_disk_come_on_top():
    warm = CALIBRATED.predict(READ)
    assert math.isclose(warm.seconds, sum(warm.parts.values()))
    decode = 50 * 40_000 * 3e-9 + 50 * 1e4 * 5e-9 + 50 * 1e-5
    assert math.isclose(warm.parts["decode"], decode)
    assert math.isclose(warm.parts["chunks"], 50e-5) and warm.most == "decode"
    cold = CALIBRATED.predict(dataclasses.replace(READ, cache="cold"))
    assert math.isclose(cold.parts["disk"], 1e-4 + 50 * 1e4 * 5e-10)
    assert math.isclose(cold.seconds - warm.seconds, cold.parts["disk"])
    far = CALIBRATED.predict(dataclasses.replace(READ, link=Link(1e6, 0.1)))
    assert math.isclose(far.seconds - warm.seconds - far.parts["wire"], 5e-3)


def test_what_was_not_calibrated_is_named_and_not_guessed():
    zstd = dataclasses.replace(DEFLATE, codec="zstd", shuffle=False)
    for changes, message in (
        ({"layout": zstd}, "'zstd' is not calibrated for h5py: deflate"),
        ({"library": "netcdf4"}, "'netcdf4' is not calibrated .*h5py"),
        ({"layout": Layout("netcdf4"), "chunk_bytes": None}, "contiguous"),
    ):
        with pytest.raises(UncalibratedError, match=message):
            CALIBRATED.predict(dataclasses.replace(READ, **changes))
    # Measured on the file, the codec need not be known.
    assert CALIBRATED.predict(dataclasses.replace(READ, layout=zstd, decode_s=1e-3)).seconds > 0.05


forked = pytest.fixture(scope="module", autouse=True)(forking)
VALUES = np.random.default_rng(0).normal(size=(12, 40, 60)).astype("f4")
LINE = (slice(None), 5, 5)
SHARD = (slice(None), slice(0, 40), slice(0, 30))
ZARR = Layout("zarr3", (3, 20, 10), "zstd", 3)


def test_a_link_costs_round_trips_and_bytes():
    link, names = Link(1e6, 0.1), ("h5py", "netcdf4", "zarr")
    far = {name: dataclasses.replace(READ, library=name, link=link) for name in names}
    assert moved(far["netcdf4"], counts_of(READ)) == Moved(22 + 50, 22 + 50, 50 * 1e4)
    assert moved(far["zarr"], counts_of(READ)).stages == 1 + 5
    times = {name: wire_seconds(read, counts_of(read)) for name, read in far.items()}
    assert math.isclose(times["netcdf4"], 73 * 0.1 + 50 * 1e4 / 1e6)  # and a connection
    assert math.isclose(times["h5py"], 3 * 0.1 + 50 * 1e4 / 1e6)  # no more than there is
    with pytest.raises(UncalibratedError, match="fetches"):
        moved(dataclasses.replace(READ, library="plain"), counts_of(READ))


LARGE = np.random.default_rng(0).normal(size=(100, 250, 250)).astype("f4")
OF_LARGE, NOTHING = (slice(None), 9, 9), (slice(0, 0),) * 3


@pytest.mark.parametrize(
    ("library", "values", "layout", "selection", "about"),
    [
        ("zarr", VALUES, ZARR, LINE, 0),
        *(("zarr", VALUES, dataclasses.replace(ZARR, shards=(12, 40, 30)), box, 0)
          for box in (LINE, SHARD)),
        # beyond the read-ahead: windows of fsspec, and the jumps to HDF5's index of chunks
        ("h5py", LARGE, Layout("netcdf4", (1, 250, 250), "deflate", 1), OF_LARGE, 3),
        ("h5py", LARGE, Layout("netcdf4"), OF_LARGE, 3),
        # opening alone
        *((library, VALUES, Layout("netcdf4", (3, 20, 10), "deflate", 1), NOTHING, 0)
          for library in ("h5py", "subchunk")),
    ],
)  # fmt: skip
def test_a_server_is_asked_for_what_is_counted(tmp_path, library, values, layout, selection, about):
    path = tmp_path / f"a{layout.suffix}"
    write_array(path, values, layout, "values")
    if library == "subchunk":
        subchunk.build(path)
    with serving(tmp_path) as server:
        with reader(library).open(server.address(path.name), "values") as opened:
            opened.read(selection)
        log = server.requests()
    of_chunk = 2000.0 if library == "zarr" else path.stat().st_size / 100
    stored = of_chunk if layout.chunks else None
    read = Read(values.shape, "f4", layout, (selection,), library, stored)
    traffic = moved(read, counts_of(read))
    assert abs(traffic.requests - len(log)) <= about
    if about:
        nbytes = sum((request.stop or 0) - (request.start or 0) for request in log)
        assert traffic.nbytes == pytest.approx(nbytes, rel=0.4)


@pytest.mark.parametrize(
    ("merging", "held_stages"),
    [(False, (50, 50)), (True, (2, 2))],  # with the shard's own index
)
def test_the_chunks_of_a_shard_are_asked_for_in_turn_or_together(monkeypatch, merging, held_stages):
    monkeypatch.setattr(fetches, "MERGING", merging)
    alone = Layout("zarr3", (1, 10, 10), "zstd", 3)
    held = dataclasses.replace(alone, shards=(50, 50, 50))
    stages = []
    for layout in (alone, held):
        read = Read((100, 100, 100), "f4", layout, ((slice(0, 49), 5, 5),), "zarr", 100.0)
        traffic = moved(read, counts_of(read))
        stages.append((traffic.stages - 1, traffic.requests - 3))  # without opening
    assert stages == [(5, 49), held_stages]
    whole = Read((100, 100, 100), "f4", held, ((slice(0, 50),) * 3,), "zarr", 100.0)
    assert moved(whole, counts_of(whole)).stages == 1 + 1


CURRENT = dataclasses.replace(
    CALIBRATED, identity=identity(), versions=versions(),
    made=datetime.datetime.now(datetime.UTC).isoformat(),
)  # fmt: skip


def test_it_is_kept_for_this_machine_and_refused_when_it_no_longer_fits(tmp_path):
    path = costs.save(CURRENT, tmp_path)
    assert costs.load(tmp_path) == CURRENT
    assert list(tmp_path.iterdir()) == [path]
    for content, message in (("{", "cannot be read"), ('{"form": 99}', "counts other things")):
        path.write_text(content)
        with pytest.raises(NoCalibrationError, match=message):
            costs.load(tmp_path)
    for change, message in (
        ({"versions": versions() | {"h5py": "1.0"}}, "h5py was 1.0, is"),
        ({"made": "2020-01-01T00:00:00+00:00"}, "days old"),
        ({"identity": identity() | {"cpu": "Abacus 1"}}, "no calibration yet"),
    ):
        path.unlink()
        path = costs.save(dataclasses.replace(CURRENT, **change), tmp_path)
        with pytest.raises(NoCalibrationError, match=message):
            costs.load(tmp_path)


def test_a_machine_is_calibrated_once_or_when_asked_and_a_study_s_own_comes_first(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    study = tmp_path / "study"
    assert costs.known(study) is ROUGH
    costs.save(dataclasses.replace(CURRENT, samples=9), study)
    assert costs.known(study).samples == 9
    assert costs.known() is ROUGH
    calls, messages = [], []
    monkeypatch.setattr(measuring, "calibrate", lambda **options: calls.append(options) or CURRENT)
    assert costs.ensured(say=messages.append) == costs.ensured() == costs.known() == CURRENT
    assert len(calls) == 1 and "this machine has no calibration yet" in messages[0]
    assert main(["advise", "--calibrate", "--workdir", str(tmp_path)]) == 0
    assert calls[1]["workdir"] == tmp_path


def test_costs_that_made_the_times_are_found_again():
    truth = {
        "plain/binary:first": 3e-4, "plain/binary:request": 2e-6, "plain/binary:raw": 3e-10,
        "disk:extent": 1e-4, "disk:span": 1e-9,
    }  # fmt: skip

    def seconds(read, costs):
        counts = terms(read, counts_of(read))
        return sum(number * costs.get(name, 0.0) for name, number in counts.items())

    reads = [
        Read((n, 5000), "f4", Layout("binary"), chosen, "plain", cache=cache)
        for n in (10, 100, 1000)
        for chosen in ((...,), ((EVERY, 3),), ((slice(2, 5), EVERY),))
        for cache in ("warm", "cold")
    ]
    costs = fitted([(read, seconds(read, truth)) for read in reads])
    for read in reads:
        assert math.isclose(seconds(read, costs), seconds(read, truth), rel_tol=0.02)


def test_a_small_calibration_predicts_and_times_decoding(tmp_path, monkeypatch):
    every = measuring._selections
    few = ("whole", "series", "box")
    monkeypatch.setattr(measuring, "_selections", lambda s: {n: every(s)[n] for n in few})
    calibration = calibrate(0, ("h5py",), codecs=("deflate",), workdir=tmp_path, side=32)
    assert calibration.libraries == ("h5py",)
    assert calibration.codecs("h5py") == ("deflate", "deflate+shuffle")
    assert list(tmp_path.iterdir()) == []
    values = field("packed", (4, 64, 64), "f4")
    layout = Layout("netcdf4", chunks=(1, 64, 64), codec="deflate", shuffle=True)
    path = tmp_path / "file.nc"
    write_array(path, values, layout)
    read = Read(values.shape, "f4", layout, ((EVERY, 3, 3),), "h5py", 9e3)
    with Processes(MODULES) as running:
        decode_s = decode_seconds(read, path, calibration, running)
        packed = pack(values, layout, "h5py", calibration, tmp_path, running)
        plain = Read((8, 8), "f4", Layout("netcdf4"), (...,), "h5py")
        assert decode_seconds(plain, tmp_path / "nowhere", calibration, running) is None
        with pytest.raises(OSError, match="cannot make smaller"):  # netCDF-C would fail on them
            blosc = Layout("netcdf4", chunks=(1, 32, 64), codec="blosc-lz4")
            pack(field("noisy", (1, 64, 64), "f4"), blosc, "h5py", calibration, tmp_path, running)
    assert calibration.predict(dataclasses.replace(read, decode_s=decode_s)).seconds > 0
    assert decode_s >= 0 and 0 < packed.value_bytes < 4 and packed.decode_s >= 0
