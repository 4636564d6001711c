"""What reads move from a server: the same in each run, of true reads; the verdict on the rate."""

from dataclasses import replace

import numpy as np
import pytest
from forked_servers import forking
from made_claims import verdicts
from made_layouts import in_layouts

from data_gen.variable import variable
from hyperslab.experiments.penard_wire import Counting
from hyperslab.io import indexed, references
from hyperslab.io.experiment import Case
from hyperslab.io.far import Place, ReadOver
from hyperslab.io.layout import Layout
from hyperslab.network import Link

forked = pytest.fixture(scope="module", autouse=True)(forking)


COUNTS = ("requests", "wire_bytes", "connections", "predicted_bytes", "file_bytes")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One step of the temperature, on a sixteenth of its grid, as netCDF-4 and as NCZarr."""
    data = variable("gfs", "air_temperature", steps=1, nlat=180, nlon=360)
    plain = Layout("netcdf4", chunks=data.step_shape)
    packed = replace(plain, codec="deflate", level=4)
    odd = replace(packed, format="nczarr", shuffle=True)
    layouts = {"netCDF-4": packed, "NCZarr, deflate": odd, "uncompressed": plain}
    found = in_layouts(tmp_path_factory.mktemp("wire"), data, layouts)
    indexed.index([found["netCDF-4"]])
    references.write(found["uncompressed"].path)
    return found


def case(files, layout, reader, kind="http", **options):
    place = Place(kind, Link(np.inf, 0))
    read = ReadOver(place, files[layout], np.s_[:, 0, 69, 126], reader, options)
    named = f"{reader}, parts" if options else reader
    return Case({"read": "series", "layout": layout, "reader": named}, read)


def test_two_runs_count_the_same_of_true_reads(files):
    readers = ("h5py", "h5py-none", "subchunk")
    cases, folder = [case(files, "netCDF-4", one) for one in readers], files["netCDF-4"].path.parent
    first, second = Counting(folder, 0.02), Counting(folder, 0.02)
    once, again = ({row["reader"]: row for row in of.counts(cases)} for of in (first, second))
    for reader in readers:
        assert once[reader]["status"] == "ok" and once[reader]["verified"]
        assert [once[reader][name] for name in COUNTS] == [again[reader][name] for name in COUNTS]
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
    found = verdicts(tmp_path, "penard_wire", rows, [*labels, "reader"])
    assert found["penard-9"].parts[0].verdict == verdict
