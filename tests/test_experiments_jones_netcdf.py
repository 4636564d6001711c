"""Tests of what is measured of netCDF: how often what is read, one piece of four, and verdicts."""

from dataclasses import replace
from functools import partial
from itertools import product

import pytest

from hyperslab import claims
from hyperslab.experiments import jones_netcdf as layers
from hyperslab.io.buffers import READERS, Files, bytes_of, truth
from hyperslab.io.experiment import Array, File
from hyperslab.io.layout import Layout
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of, save

MASKED, RAW = "netCDF4-python", "netCDF4-python without masking"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    made = Files(tmp_path_factory.mktemp("netcdf"), 2**18)
    made.write(["binary", "netcdf4"])
    return made


def test_what_no_claim_compares_can_do_with_fewer_blocks(tmp_path):
    files = {state: Files(tmp_path, 2**24) for state in ("cold", "warm")}
    kinds = list(product(READERS, ("sequential", "random"), ("4 KiB", "1 MiB")))
    made = layers.cases(files, dict.fromkeys(files, kinds), 0.1, 4)
    found = {case.label: case for case in made}
    blocks = {name: case.most_blocks for name, case in found.items()}
    assert [case.label for case in made if case.aa] == [
        f"{MASKED}, sequential, 1 MiB, {state}" for state in files
    ]
    assert blocks[f"{MASKED}, sequential, 4 KiB, cold"] == 0
    assert blocks["h5py, sequential, 1 MiB, cold"] == 0
    assert (
        blocks["netCDF-C, random, 4 KiB, warm"] == blocks["netCDF-C, sequential, 4 KiB, warm"] == 7
    )
    assert blocks["h5py, sequential, 4 KiB, cold"] == 7
    assert blocks[f"{RAW}, sequential, 4 KiB, cold"] == blocks["Zarr, sequential, 1 MiB, warm"] == 4
    assert blocks["xarray, random, 1 MiB, cold"] == 3
    assert found["netCDF-C, random, 4 KiB, warm"].run.limit_s == float("inf")
    assert found["netCDF-C, random, 4 KiB, cold"].run.limit_s == 0.1


def test_a_large_variable_is_in_no_zarr_store(tmp_path):
    kinds = list(product(("h5py", "Zarr", "xarray"), ("strided",), ("4 KiB", "64 KiB")))
    small, large = Files(tmp_path, 2**20), Files(tmp_path, 2**40)
    possible = partial(layers.possible, readers=["h5py", "Zarr"], sizes=["4 KiB"])
    assert [kind[0] for kind in possible(kinds, small)] == ["h5py", "Zarr"]
    assert [kind[0] for kind in possible(kinds, large)] == ["h5py"]


def test_counted_reads_are_paired_once_and_keep_huge_pages_away(files):
    from numpy._core import multiarray

    random, large = [("h5py", "random", "4 KiB")], [("numpy.fromfile", "sequential", "1 MiB")]
    made = layers.counted(files, random, [], large, 0.1)
    assert [case.aa for case in made] == [True, False, False]
    assert made[2].labels["reader"] == "numpy.fromfile, small pages"
    before = multiarray._get_madvise_hugepage()
    try:
        made[2].prepare()
        assert not multiarray._get_madvise_hugepage()
    finally:
        multiarray._set_madvise_hugepage(before)


def test_files_in_chunks_are_read_right(tmp_path):
    array = Array(partial(truth, 0, 2**17), (2**17,), "f8")
    layouts = {
        name: Layout("netcdf4", chunks=(bytes_of(name) // 8,)) for name in ("4 KiB", "1 MiB")
    }
    made = {
        name: File(tmp_path / f"{n}.nc", array, one)
        for n, (name, one) in enumerate(layouts.items())
    }
    array.write({file.path: file.layout for file in made.values()}, tmp_path)
    for case in layers.chunked(made):
        watch = Stopwatch()
        assert case.check(case.run(watch)) and case.columns["chunk_bytes"] == bytes_of(
            case.labels["chunk"]
        )
        (read,) = [row for row in watch.rows() if row["phase"] == "read"]
        assert read["useful_bytes"] == 2**20


def test_one_piece_of_four_is_read_by_every_reader_and_manner(files):
    made = layers.quarters({"cold": files}, 128)
    assert len(made) == 8 and [case.aa for case in made].count(True) == 1
    for case in made:
        watch = Stopwatch()
        out, done = case.run(watch)
        assert case.check((out, done)) and sorted(done) == [0, 64]
        (read,) = [row for row in watch.rows() if row["phase"] == "read"]
        assert read["useful_bytes"] == 128 * 4096
        out[3, 5] += 1e-15
        assert not case.check((out, done))


def test_pieces_that_fill_no_blocks_or_more_than_the_file_are_refused(files):
    for pieces in (100, 2**20):
        with pytest.raises(ValueError, match="give a multiple of 64"):
            layers.quarters({"cold": files}, pieces)


def test_no_run_is_begun_after_the_limit_of_time(files):
    case = layers.quarters({"cold": files}, 128)[0]
    out, done = replace(case.run, limit_s=0.0)(Stopwatch())
    assert done == [] and not case.check((out, done))


def judged(folder, slow, *, sieve=2**16, share=0.95):
    """Return verdicts on reads at 1 GB/s, with what a call by a manner, access or reader costs."""
    sizes = ("512 B", "4 KiB", "16 KiB", "64 KiB", "1 MiB", "8 MiB", "64 MiB")
    readers = ("C fread", "netCDF-C", MASKED, RAW, "h5py", "h5netcdf")
    accesses = ("sequential", "strided", "random")
    kinds = [(*kind, "patterns", "", "") for kind in product(readers, accesses, sizes)]
    kinds += [(MASKED, "", "", "chunk-sizes", chunk, "") for chunk in ("4 KiB", "1 MiB", "4 MiB")]
    kinds += [
        (reader, "", "", "quarter", "", manner)
        for reader, manner in product((MASKED, "h5py", "os.pread"), layers.MANNERS)
    ]
    rows = []
    for (reader, access, size, experiment, chunk, manner), state, block, aa in product(
        kinds, ("cold", "warm"), range(6), ("A", "B")
    ):
        nbytes = bytes_of(size or "1 MiB")
        cost = next((slow[name] for name in (manner, access, reader) if name in slow), 1e-6)
        took = nbytes / 1e9 + cost * (1 + block / 1e4)
        row = {"reader": reader, "access": access, "buffer": size, "chunk": chunk, "manner": manner}
        row |= {"case": " ".join(row.values()), "aa": aa, "block": block, "run_id": "r"}
        row |= {"experiment": experiment, "cache_state": state, "phase": "read", "status": "ok"}
        row |= {"verified": True, "others_cpu": 0.0, "stages": 10, "syscr": 10, "sys_s": 0.0}
        row |= {"useful_bytes": 10 * nbytes, "wall_s": 10 * took, "user_s": 10 * took * share}
        asked = max(nbytes, sieve) if access == "random" and reader != "C fread" else nbytes
        rows.append(row | {"rchar": 10 * asked, "minflt": 10 * (nbytes // 4096)})
    frame = frame_of(rows, ["reader", "access", "buffer", "chunk", "manner"])
    save(frame, folder / "jones_netcdf.parquet")
    mine = [claim for claim in claims.load() if claim.notebook == "jones_netcdf"]
    return {found.claim.id: found.verdict for found in claims.evaluate(mine, folder)}


def test_verdicts_can_come_out_either_way(tmp_path):
    first = judged(tmp_path, {MASKED: 1e-4, RAW: 4e-5, layers.MANNERS[2]: 1e-3})
    others = {RAW: 1e-4, "strided": 1e-4, layers.MANNERS[0]: 1e-3}
    other = judged(tmp_path, others, sieve=2**15, share=0.2)
    expected = {
        "jones-c": ("holds", "holds"),
        "jones-slow": ("holds", "weaker"),
        "jones-cpu": ("holds", "refuted"),
        "jones-cpu-c": ("refuted", "holds"),
        "jones-64k": ("holds", "refuted"),
        "jones-64k-why": ("refuted", "holds"),
        "jones-h5": ("refuted", "holds"),
        "jones-threads": ("reversed", "holds"),
        "jones-nc-stride": ("holds", "refuted"),
        "jones-mask": ("holds", "reversed"),
    }
    assert {name: (first[name], other[name]) for name in expected} == expected
    assert "not measured" not in first.values()
