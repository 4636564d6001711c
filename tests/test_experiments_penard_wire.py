"""What reads move from a server: the same in each run, of true reads; the verdict on the rate."""

import numpy as np
import pytest
from forked_servers import forking
from made_claims import verdicts

from data_gen.variable import variable
from hyperslab.experiments.penard_wire import Counting
from hyperslab.io import indexed, references
from hyperslab.io.experiment import Case, File
from hyperslab.io.far import Place, ReadOver
from hyperslab.io.layout import Layout
from hyperslab.network import Link

forked = pytest.fixture(scope="module", autouse=True)(forking)


COUNTS = ("requests", "wire_bytes", "connections", "predicted_bytes", "file_bytes")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One step of the temperature, on a sixteenth of its grid, as netCDF-4 and as NCZarr."""
    folder = tmp_path_factory.mktemp("wire")
    data = variable("gfs", "air_temperature", steps=1, nlat=180, nlon=360)
    plain = Layout("netcdf4", chunks=data.step_shape, codec="deflate", level=4)
    loose = Layout("netcdf4", chunks=data.step_shape)
    odd = Layout("nczarr", chunks=data.step_shape, codec="deflate", level=4, shuffle=True)
    found = {
        name: File(folder / f"{name}{layout.suffix}", data, layout)
        for name, layout in {
            "netCDF-4": plain,
            "NCZarr, deflate": odd,
            "uncompressed": loose,
        }.items()
    }
    data.write({file.path: file.layout for file in found.values()}, folder / "data")
    indexed.index([found["netCDF-4"]])
    references.write(found["uncompressed"].path)
    return found


def case(files, layout, reader, kind="http", **options):
    place = Place(kind, Link(np.inf, 0))
    read = ReadOver(place, files[layout], np.s_[:, 0, 69, 126], reader, options)
    named = f"{reader}, parts" if options else reader
    return Case({"read": "series", "layout": layout, "reader": named}, read)


def counted(files, cases):
    late = Counting(files["netCDF-4"].path.parent, 0.02)
    rows = {row["reader"]: row for row in late.counts(cases)}
    return rows, list(late.ranges(cases))


def test_two_runs_count_the_same_of_true_reads(files):
    readers = ("h5py", "h5py-none", "subchunk")
    cases = [case(files, "netCDF-4", reader) for reader in readers]
    (once, sent), (again, _) = counted(files, cases), counted(files, cases)
    assert [row["status"] for row in once.values()] == ["ok"] * 3
    assert [row["verified"] for row in once.values()] == [True] * 3
    for reader in readers:
        assert [once[reader][name] for name in COUNTS] == [again[reader][name] for name in COUNTS]
        ranges = [row for row in sent if row["reader"] == reader]
        assert sum(row["chunk_bytes"] for row in ranges) == once[reader]["predicted_bytes"]
    ours, bare, cached = (once[name]["predicted_bytes"] for name in reversed(readers))
    assert 0 < ours < bare <= cached <= once["h5py"]["file_bytes"]
    assert once["subchunk"]["spacing_bytes"] > 0 and "spacing_bytes" not in once["h5py"]


def test_kerchunk_reads_parts_of_chunks_that_are_not_compressed(files):
    whole, parts = (case(files, "uncompressed", "kerchunk", **o) for o in ({}, {"parts": (13, 9)}))
    rows, _ = counted(files, [whole, parts])
    assert [row["status"] for row in rows.values()] == ["ok", "ok"]
    few, all_ = rows["kerchunk, parts"]["predicted_bytes"], rows["kerchunk"]["predicted_bytes"]
    assert few * 13 * 9 == all_ == 4 * 13 * 180 * 360
    rows, _ = counted(files, [case(files, "netCDF-4", "kerchunk", parts=(13, 9))])
    assert "decompressing" in rows["kerchunk, parts"]["status"]


def test_a_read_that_fails_keeps_its_reason_without_the_address(files):
    rows, _ = counted(files, [case(files, "NCZarr, deflate", "zarr")])
    assert "cannot be read by zarr" in rows["zarr"]["status"] and not rows["zarr"]["verified"]
    assert "127.0.0.1" not in rows["zarr"]["status"]


@pytest.mark.parametrize(("moved", "verdict"), [(250e6, "refuted"), (2e6, "holds")])
def test_rate_implied_is_judged(tmp_path, moved, verdict):
    labels = {"read": "temperature series", "layout": "netCDF-4, shuffle"}
    rows = [
        {"experiment": "wire", "phase": "all", "wire_bytes": moved, "case": reader,
         "reader": reader, **labels}
        for reader in ("h5py", "h5py, no read-ahead")
    ]  # fmt: skip
    found = verdicts(tmp_path, "penard_wire", rows, [*labels, "reader"])
    assert found["penard-9"].parts[0].verdict == verdict
