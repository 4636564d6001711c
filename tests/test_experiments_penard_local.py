"""Reads of local files: the truth through each library, what is evicted, and verdicts."""

from itertools import product

import numpy as np
import pytest

from data_gen.variable import variable
from hyperslab import claims
from hyperslab.experiments.penard_local import ReadHere, index
from hyperslab.io import experiment
from hyperslab.io.cards import readers
from hyperslab.io.experiment import Case, File
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.worker import Job

SERIES, MAP = np.s_[:, 3, 5], np.s_[0, :, :]
CHUNK = (1, 380, 1287)
DEFLATE = {"chunks": CHUNK, "codec": "deflate", "level": 4, "shuffle": True}
WAYS = {
    ("netcdf4", "xarray-netcdf4", "h5py", "xarray-h5netcdf", "chunkindex_layout", "subchunk",
     "h5netcdf", "hidefix", "netcdf-c"): Layout("netcdf4", **DEFLATE),
    ("h5py-paged",): Layout("hdf5", **DEFLATE, page_bytes=2**22),
    ("zarr", "xarray-zarr"): Layout("zarr2", **DEFLATE),
    ("nczarr",): Layout("nczarr", chunks=CHUNK),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A step of the ocean in each layout, by who reads it."""
    folder = tmp_path_factory.mktemp("run")
    ocean = variable("ocean", "uo", steps=1)
    found = {
        names: File(folder / f"{names[0]}{layout.suffix}", ocean, layout)
        for names, layout in WAYS.items()
    }
    ocean.write({file.path: file.layout for file in found.values()}, folder)
    index(file for file in found.values() if file.layout.format == "netcdf4")
    return found


def test_every_library_reads_the_truth_in_a_forked_process(files):
    cases = [
        Case({"reader": reader, "part": str(part)}, ReadHere(file, part, reader)).ready(state)
        for names, file in files.items()
        for reader, part, state in product(names, (SERIES, MAP), ("warm", "cold"))
        if reader in readers() and (state == "warm" or reader == "subchunk")
    ]
    with Processes(experiment.modules(cases)) as processes:
        for case in cases:
            outcome = processes.run(Job(case, 60.0))
            assert (case.label, outcome.status, outcome.verified) == (case.label, "ok", True)


@pytest.mark.parametrize("reader", ["subchunk", "chunkindex_layout"])
def test_an_index_goes_with_its_file(files, reader):
    file = next(iter(files.values()))
    warm, cold = (ReadHere(file, MAP, reader).parts(state) for state in ("warm", "cold"))
    for parts in (warm, cold):
        path, beside = parts["files"]
        assert beside.exists() and beside.name.startswith(path.name)
    assert warm["files"][0].stat().st_mtime_ns == file.path.stat().st_mtime_ns
    assert not {one.resolve() for one in warm["files"]} & {one.resolve() for one in cold["files"]}


def test_a_chunk_cache_is_recorded(files):
    file = next(iter(files.values()))
    parts = ReadHere(file, SERIES, "netcdf4", 2**20).parts("warm")
    assert parts["columns"]["cache_bytes"] == 2**20 and parts["columns"]["predicted_reads"] == 1
    assert "cache_bytes" not in ReadHere(file, SERIES, "netcdf4").parts("warm")["columns"]


def rows(cached=1.0, chunkindex=1.0):
    """Made-up records: as long as the document has it, but for what is given."""
    layouts = ("netCDF-4", "netCDF-4, shuffle")
    ways = list(product(layouts, ("netcdf4", "h5py", "xarray-netcdf4", "xarray-h5netcdf")))
    ways += [*product(layouts, ("chunkindex", "subchunk")), ("Zarr, Blosc", "zarr")]
    ways += [("Zarr, deflate", "zarr"), ("NCZarr", "nczarr")]
    for kind, what, (layout, reader) in product(("ocean", "temperature"), ("series", "map"), ways):
        inside = 3 if what == "map" else 2 if kind == "ocean" else 0.25
        share = {"zarr": 0.1 if layout == "Zarr, Blosc" else 1, "nczarr": 0.08, "subchunk": 0.02,
                 "xarray-netcdf4": 1.2, "xarray-h5netcdf": 1.2,
                 "chunkindex": chunkindex * inside}.get(reader, 1)  # fmt: skip
        read = {"read": f"{kind} {what}", "layout": layout, "reader": reader}
        yield from sample("reads", share, read)
    for kind, size in product(("ocean", "temperature"), ("16 MiB", "256 MiB")):
        read = {"read": f"{kind} series", "layout": layouts[1], "reader": "netcdf4"}
        yield from sample("cache", cached if size == "16 MiB" else 1, read, chunk_cache=size)


def sample(name, seconds, labels, chunk_cache=""):
    case = ", ".join(labels.values()) + chunk_cache
    pair = labels["reader"] == "h5py" or chunk_cache == "16 MiB"
    for block, aa, phase in product(range(7), ("A", "B") if pair else ("",), ("open", "read")):
        yield {
            **labels, "chunk_cache": chunk_cache, "run_id": "r", "notebook": "penard_local",
            "profile": "quick", "experiment": name, "case": case, "cache_state": "warm", "aa": aa,
            "block": block, "order": hash((case, aa)) % 1000, "phase": phase, "status": "ok",
            "verified": True, "wall_s": seconds / 2, "others_cpu": 0.0, "predicted_reads": 1,
            "stages": 72 if labels["read"].startswith("ocean") else 13,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, {"penard-8a": "holds", "penard-8b": "holds", "penard-8b-why": "refuted",
              "penard-8c": "holds", "penard-xarray": "holds"}),
        ({"cached": 4.0}, {"penard-8b-why": "holds"}),
        ({"chunkindex": 0.1}, {"penard-8c": "refuted"}),
    ],
)  # fmt: skip
def test_verdicts_follow_the_records(tmp_path, changes, verdicts):
    names = ["read", "layout", "reader", "chunk_cache"]
    save(frame_of(rows(**changes), names), tmp_path / "penard_local.parquet")
    wanted = [claim for claim in claims.load() if claim.notebook == "penard_local"]
    found = {judged.claim.id: judged for judged in claims.evaluate(wanted, tmp_path)}
    assert {name: found[name].verdict for name in verdicts} == verdicts
