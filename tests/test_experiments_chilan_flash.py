"""The checkpoint of FLASH: real jobs of two ranks, and verdicts on made-up records."""

import pytest
from made_parallel import needs

from hyperslab import claims
from hyperslab.experiments import chilan_flash as flash
from hyperslab.measure.records import frame_of, save

LABELS = ["file", "cells", "interface", "calls", "processes", "hint", "opened"]
BOTH, ALONE = "checkpoint", "checkpoint as bytes"


def test_the_same_bytes_are_written_without_bytes_to_swap():
    swapped, plain = (flash.plan(file, "8³", 2, 3) for file in (BOTH, ALONE))
    assert swapped.nbytes == plain.nbytes
    assert len(flash.plan("checkpoint without its tree", "8³", 2, 3).datasets) == 24


def test_what_a_verdict_compares_is_measured_in_all_blocks():
    assert flash.judged("PnetCDF", "collective", 2, 16)
    assert not flash.judged("PnetCDF", "independent", 2, 16)
    assert flash.judged("HDF5", "independent", 8, 16) and flash.judged("HDF5", "collective", 4, 4)
    assert not flash.judged("PnetCDF", "collective", 8, 16)


def test_the_first_case_is_the_pair_and_in_all_blocks(tmp_path):
    ways = [("HDF5", "collective"), ("PnetCDF", "collective")]
    cases = flash.paired([flash.case(tmp_path, BOTH, "8³", *way, 2, 1, 3) for way in ways])
    assert [(case.aa, case.most_blocks) for case in cases] == [(True, 0), (False, 3)]
    assert flash.limits(cases)["scratch_bytes"] == 2 * cases[0].work.job.plan.nbytes


@needs("hdf5")
@needs("pnetcdf")
@pytest.mark.parametrize("file", flash.FILES)
def test_each_file_is_written_by_each_library_and_read_back(tmp_path, file):
    cases = [
        flash.case(tmp_path, file, "8³", name, "collective", 2, 1) for name in ("HDF5", "PnetCDF")
    ]
    one, other = flash.counted(cases)
    assert one["useful_bytes"] == other["useful_bytes"] > 0
    assert one["requests"] >= one["stages"] > 0 and one["interface"] == "HDF5"
    assert not list(tmp_path.iterdir())


@needs("mpiio")
def test_a_hint_merges_what_ranks_write_next_to_each_other(tmp_path):
    cases = [
        flash.case(tmp_path, BOTH, "8³", "MPI-IO", "collective", 2, 1, hint=hint)
        for hint in ("none", "romio_cb_write=enable")
    ]
    plain, merged = flash.counted(cases)
    assert plain["requests"] == 60 and merged["requests"] == 30


@needs("hdf5")
def test_chunks_are_read_again_past_the_cache_where_others_may_write(tmp_path):
    flash.write_chunks(tmp_path)
    ranks = [1, 2, 2]
    cases = [flash.reread(tmp_path, *one) for one in zip(flash.OPENED, ranks, strict=True)]
    reads = [row for row in flash.counted(cases) if row["phase"] == "read"]
    serial, shared, read_only = (row["stages"] for row in reads)
    assert [row["ranks"] for row in reads] == ranks
    assert shared > read_only >= serial > 0


def judged(folder, even=1.0, independent=2.0, swapped=1.0, past=4097):
    """Judge made-up records: seconds of HDF5 are `even` times PnetCDF's."""

    def row(experiment, **more):
        return {
            "run_id": "r", "profile": "quick", "notebook": "chilan_flash", "block": 0,
            "experiment": experiment, "phase": "write", "status": "ok", "verified": True,
            "cells": "16³", "stages": 1, "useful_bytes": 8e6, "others_cpu": 0.0,
        } | more  # fmt: skip

    ways = [(n, c) for n in ("HDF5", "PnetCDF") for c in ("independent", "collective")]
    rows = []
    for name, calls in ways:
        labels = {"file": BOTH, "interface": name, "calls": calls}
        for n in (1, 8):
            more = {"hint": "none", "processes": str(n), "ranks": n, "requests": 283}
            rows.append(row("requests", **labels, **more))
        for block, n, aa in [(b, n, a) for b in range(6) for n in (2, 8) for a in "AB"]:
            slow = (even if name == "HDF5" else 1) * (independent if calls != "collective" else 1)
            pair = aa if (name, n) == ("HDF5", 8) else "" if aa == "A" else None
            timed = {"block": block, "ranks": n, "processes": str(n), "aa": pair}
            timed["wall_s"] = slow * (1 + block / 1e3)
            if pair is not None:
                rows.append(row("checkpoint", **labels, **timed))
            if pair is not None and (name, calls, n) == ("PnetCDF", "collective", 2):
                less = {"file": ALONE, "wall_s": timed["wall_s"] / swapped}
                rows.append(row("checkpoint", **labels | timed | less))
    for opened, requests in zip(flash.OPENED, (5, past, 5), strict=True):
        ranks = 1 if opened == "serially" else 4
        rows.append(row("cache", opened=opened, phase="read", stages=requests, ranks=ranks))
    rows = [{**one, "case": str(number), "order": number} for number, one in enumerate(rows)]
    save(frame_of(rows, LABELS), folder / "chilan_flash.parquet")
    wanted = [claim for claim in claims.load() if claim.notebook == "chilan_flash"]
    return {item.claim.id: item for item in claims.evaluate(wanted, folder)}


def parts(judgement):
    return {part.name: part.verdict for part in judgement.parts}


def test_the_verdicts_can_come_out(tmp_path):
    found = judged(tmp_path)
    ours = ("chilan-flash", "chilan-same", "chilan-minor", "chilan-scale", "chunking-parallel")
    assert {found[name].verdict for name in ours} == {"holds"}
    assert found["chilan-minor"].label == "holds in part"  # as many requests, at another rate
    assert found["chilan-scale"].label == "holds (another system)"
    assert parts(found["chilan-scale"])["requests in turn, independent HDF5"] == "weaker"
    found = judged(tmp_path, independent=1.0, past=5)
    assert found["chunking-parallel"].verdict != "holds"
    assert found["chilan-minor"].label == "holds"
    found = judged(tmp_path, even=0.75, swapped=4 / 3)["chilan-flash"]
    assert found.verdict == "refuted" and found.label == "refuted"
    assert parts(found)["rate, collective, nothing to turn"] == "holds"  # an explanation
