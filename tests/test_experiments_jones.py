"""Experiments on the paper of Jones: plain files, pieces of netCDF, and verdicts."""

import os
import signal
from dataclasses import replace
from functools import partial
from itertools import product

import pytest
from made_claims import timed, verdicts

from hyperslab.experiments import jones_baseline as plain
from hyperslab.experiments import jones_netcdf as layers
from hyperslab.io.buffers import Files, bytes_of
from hyperslab.measure.case import Stopwatch

COPIED = 'echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2'
STOPPED = f"trap '{COPIED}; exit 1' INT\nwhile :; do sleep 0.01; done"


def test_readers_that_are_compared_have_memory_for_as_many_buffers(tmp_path):
    files = Files(tmp_path, 2**25)
    readers, sizes = ("C fread", "Python read", "numpy.fromfile"), ("1 MiB", "64 MiB")
    kinds = [(reader, "sequential", size) for reader in readers for size in sizes]
    cases = plain.cases(
        dict.fromkeys(("cold", "warm"), files), dict.fromkeys(("cold", "warm"), kinds), 0.06, 0, 0
    )
    expected = {"1 MiB": 120_000_000 + 2**21, "64 MiB": 4 * 2**26 + 2**27}
    for case in cases:
        cold = case.cache_state == "cold"
        assert case.memory_bytes == (expected[case.labels["buffer"]] if cold else 0)
    ours, dd = (case.ready("cold") for case in plain.beside_dd(files, "Python read"))
    assert ours.memory_bytes == dd.memory_bytes == files.nbytes + 2**21


@pytest.mark.parametrize(
    ("script", "limit_s", "right"), [(STOPPED, 0.2, True), (COPIED, 10.0, False)]
)
def test_dd_stops_in_time_and_has_left_out_nothing_else(
    tmp_path, monkeypatch, script, limit_s, right
):
    (tmp_path / "dd").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "dd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "values").write_bytes(bytes(2**21))
    watch, before = Stopwatch(), signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in background
    try:
        assert plain.DdFor(tmp_path / "values", limit_s)(watch) == right
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    (read,) = watch.rows()
    assert read["useful_bytes"] == 2**20 and read["wall_s"] == 0.5


MASKED, RAW = "netCDF4-python", "netCDF4-python without masking"


def test_a_large_variable_is_in_no_zarr_store(tmp_path):
    kinds = list(product(("h5py", "Zarr", "xarray"), ("strided",), ("4 KiB", "64 KiB")))
    small, large = Files(tmp_path, 2**20), Files(tmp_path, 2**40)
    possible = partial(layers.possible, readers=["h5py", "Zarr"], sizes=["4 KiB"])
    assert [kind[0] for kind in possible(kinds, small)] == ["h5py", "Zarr"]
    assert [kind[0] for kind in possible(kinds, large)] == ["h5py"]


def test_one_piece_of_four_is_checked_to_the_bit_and_within_its_limit_of_time(tmp_path):
    files = Files(tmp_path, 2**18)
    files.write(["binary", "netcdf4"])
    case, *_ = layers.quarters({"cold": files}, 128)
    out, done = case.run(Stopwatch())
    assert case.check((out, done)) and sorted(done) == [0, 64]
    out[3, 5] += 1e-15
    assert not case.check((out, done))
    out, done = replace(case.run, limit_s=0.0)(Stopwatch())
    assert done == [] and not case.check((out, done))
    for pieces in (100, 2**20):
        with pytest.raises(ValueError, match="give a multiple of 64"):
            layers.quarters({"cold": files}, pieces)


def judged(folder, slow, *, sieve=2**16, share=0.95):
    """Return verdicts on reads at 1 GB/s, with what a call by a manner, access or reader costs."""
    sizes = ("512 B", "4 KiB", "16 KiB", "64 KiB", "1 MiB", "8 MiB", "64 MiB")
    readers = ("C fread", "netCDF-C", MASKED, RAW, "h5py", "h5netcdf")
    accesses = ("sequential", "strided", "random")
    kinds = [(*kind, "patterns", "", "") for kind in product(readers, accesses, sizes)]
    kinds += [(MASKED, "", "", "chunk-sizes", chunk, "") for chunk in ("4 KiB", "1 MiB", "4 MiB")]
    quarters = product((MASKED, "h5py", "os.pread"), layers.MANNERS)
    kinds += [(reader, "", "", "quarter", "", manner) for reader, manner in quarters]
    rows, states, pairs = [], ("cold", "warm"), {(MASKED, ""), (MASKED, "1 MiB")}
    for (reader, access, size, experiment, chunk, manner), state in product(kinds, states):
        nbytes = bytes_of(size or "1 MiB")
        cost = next((slow[name] for name in (manner, access, reader) if name in slow), 1e-6)
        took = 10 * (nbytes / 1e9 + cost)
        row = {"reader": reader, "access": access, "buffer": size, "chunk": chunk, "manner": manner}
        row |= {"experiment": experiment, "cache_state": state, "phase": "read", "stages": 10}
        row |= {"useful_bytes": 10 * nbytes, "syscr": 10, "sys_s": 0.0, "user_s": took * share}
        fetched = max(nbytes, sieve) if access == "random" and reader != "C fread" else nbytes
        row |= {"rchar": 10 * fetched, "minflt": 10 * (nbytes // 4096)}
        rows += timed(took, pair=(reader, size) in pairs, blocks=6, **row)
    labels = ["reader", "access", "buffer", "chunk", "manner"]
    claims = verdicts(folder, "jones_netcdf", rows, labels)
    return {name: claim.verdict for name, claim in claims.items()}


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
