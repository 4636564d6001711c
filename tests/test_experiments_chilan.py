"""Experiments on the paper of Chilan: what is refused or missing, and verdicts."""

from itertools import product

import pytest
from made_claims import timed, verdicts
from made_parallel import needs

from hyperslab.experiments import chilan_flash as flash
from hyperslab.experiments import chilan_patterns as writes
from hyperslab.parallel import cases as ranked

WAYS = [(name, calls) for name in ("HDF5", "PnetCDF") for calls in ("independent", "collective")]
LABELS = ["selection", "interface", "calls", "added", "hint"]


@pytest.mark.parametrize("wrong", ["3ms", "", "-1", "2000"])
def test_a_latency_that_is_none_is_named(wrong):
    with pytest.raises(ValueError, match=f"latency_ms is {wrong!r}: give milliseconds"):
        writes.waits(wrong)
    assert writes.waits("0 1 3") == (0.003, 0.001, 0.0)


@needs("mpiio")
def test_a_counted_file_that_differs_comes_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(ranked, "holds", lambda *_: False)
    case = writes.case(tmp_path, "interleaved columns", "MPI-IO", "collective", 2, (32, 8))
    with pytest.raises(ValueError, match=r"MPI-IO, collective: the file differs .* --workdir"):
        list(ranked.counted([case]))


def patterns(folder, independent=8.0, individually=20, **seconds):
    """Judge made-up records: by selection, how much longer HDF5 takes for a collective write."""

    apart = ("interleaved columns", "overhanging chunk", "several chunks")  # a request a row

    def row(selection, interface, calls, **more):
        alone = calls == "independent" and selection in apart
        return {
            "selection": selection, "interface": interface, "calls": calls, "ranks": 4,
            "latency_s": 0.0, "size": "512x8", "phase": "write", "useful_bytes": 2e6,
            "requests": 2048 if alone and interface == "HDF5" else 11,
            "stages": 512 if alone else 1, "hint": "", "added": "",
        } | more  # fmt: skip

    ways = [*product(writes.PATTERNS, WAYS)]
    rows = [row(selection, *way, experiment="requests") for selection, way in ways]
    for selection in writes.PATTERNS:
        record = row(selection, "HDF5", writes.INDIVIDUALLY, experiment="requests")
        rows.append(record | {"requests": individually})
    hints = {"none": 8, "romio_ds_write=disable": 99, "romio_cb_write=disable": 99}
    for way, (hint, number) in product(WAYS, hints.items()):
        record = row("interleaved columns", *way, experiment="hints", hint=hint)
        rows.append(record | {"requests": number})
    for (selection, way), wait_s in product(ways, (0.0, 0.003)):
        record = row(selection, *way, experiment="latency", latency_s=wait_s)
        record |= {"ranks": 2, "added": f"{1000 * wait_s:g} ms"}
        long = independent if record["stages"] > 1 else 0.1
        factor = seconds.get(selection, 1) if way == WAYS[1] else 1
        wall_s = (long if way[1] == "independent" else 0.1) * factor
        pair = (selection, way) == ("contiguous rows", WAYS[3])
        rows += timed(wall_s, pair=pair, blocks=6, **record)
    return verdicts(folder, "chilan_patterns", rows, LABELS)


def test_verdicts_on_patterns_can_come_out(tmp_path):
    claims = patterns(tmp_path, independent=40.0)
    for name in ("1", "2", "3", "4", "span", "chunk", "overhead", "hints"):
        assert claims[f"chilan-{name}"].verdict == "holds", name
    requests, _, time, _ = claims["chilan-1"].parts
    assert requests.reason.startswith("4 ranks, 512 × 8 doubles")
    assert "512 and 1 requests" in time.reason and time.verdict == "holds"


@pytest.mark.parametrize(
    ("changes", "expected", "types"),
    [
        # Of derived datatypes in part: independent calls as they come make a request a row.
        ({}, ["holds", "holds", "holds"], "holds in part"),
        ({"overhanging chunk": 0.5, "individually": 99}, ["holds", "holds", "refuted"], "refuted"),
        ({"contiguous rows": 2.0}, ["refuted", "holds", "holds"], "holds in part"),
    ],
)
def test_verdicts_on_patterns_follow_the_records(tmp_path, changes, expected, types):
    claims = patterns(tmp_path, **changes)
    parts = claims["chilan-same"].parts  # compared where their files have one layout
    timed = [(part.role, part.verdict) for part in parts if "collective time" in part.name]
    assert timed == [("imitation", verdict) for verdict in expected]
    assert claims["chilan-types"].label == types


def checkpoint(folder, even=1.0, independent=2.0, swapped=1.0, past=4097):
    """Judge made-up records: HDF5 takes `even` times as long as PnetCDF."""
    rows = []
    for name, calls in product(("HDF5", "PnetCDF"), ("independent", "collective")):
        seconds = (even if name == "HDF5" else 1) * (independent if calls == "independent" else 1)
        way = {"interface": name, "calls": calls, "cells": "16³", "phase": "write", "stages": 1}
        way["file"] = "checkpoint"
        for n in (1, 2, 8):
            record = {**way, "processes": str(n), "ranks": n, "useful_bytes": 8e6}
            rows.append({**record, "experiment": "requests", "hint": "none", "requests": 283})
            pair = (name, n) == ("HDF5", 8)
            rows += timed(seconds, pair=pair, experiment="checkpoint", **record) if n > 1 else ()
            if (name, calls, n) == ("PnetCDF", "collective", 2):
                record["file"] = "checkpoint as bytes"
                rows += timed(seconds / swapped, experiment="checkpoint", **record)
    for opened, requests in zip(flash.OPENED, (5, past, 5), strict=True):
        ranks = 1 if opened == "serially" else 4
        record = {"opened": opened, "phase": "read", "stages": requests, "ranks": ranks}
        rows.append({**record, "experiment": "cache"})
    labels = ["file", "cells", "interface", "calls", "processes", "hint", "opened"]
    return verdicts(folder, "chilan_flash", rows, labels)


def test_verdicts_on_the_checkpoint_can_come_out(tmp_path):
    claims = checkpoint(tmp_path)
    ours = ("chilan-flash", "chilan-same", "chilan-minor", "chilan-scale", "chunking-parallel")
    assert {claims[name].verdict for name in ours} == {"holds"}
    assert claims["chilan-minor"].label == "holds in part"  # as many requests, at another rate
    assert claims["chilan-scale"].label == "holds (another system)"
    parts = {part.name: part.verdict for part in claims["chilan-scale"].parts}
    assert parts["requests in turn, independent HDF5"] == "weaker"
    claims = checkpoint(tmp_path, independent=1.0, past=5)
    assert claims["chunking-parallel"].verdict != "holds"
    assert claims["chilan-minor"].label == "holds"
    claim = checkpoint(tmp_path, even=0.75, swapped=4 / 3)["chilan-flash"]
    parts = {part.name: part.verdict for part in claim.parts}
    assert claim.label == "refuted"  # and not in part: what holds is an explanation
    assert parts["rate, collective, nothing to turn"] == "holds"
