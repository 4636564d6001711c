"""Four ways to share an array among ranks: what is refused or missing, and verdicts."""

from itertools import product

import pandas as pd
import pytest
from made_claims import verdicts
from made_parallel import needs

from hyperslab.analysis.compare import compare
from hyperslab.experiments import chilan_patterns as writes
from hyperslab.measure.records import frame_of
from hyperslab.parallel import cases as ranked
from hyperslab.parallel.found import HIDDEN

WAYS = [(name, calls) for name in ("HDF5", "PnetCDF") for calls in ("independent", "collective")]
LABELS = ["selection", "interface", "calls", "added", "hint"]


def of_two(folder, interface, calls, rows=32, **more):
    return writes.case(folder, "interleaved columns", interface, calls, 2, (rows, 8), **more)


@pytest.mark.parametrize("wrong", ["3ms", "", "-1", "2000"])
def test_a_latency_that_is_none_is_named(wrong):
    with pytest.raises(ValueError, match=f"latency_ms is {wrong!r}: give milliseconds"):
        writes.waits(wrong)


@needs("mpiio")
def test_a_counted_file_that_differs_comes_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(ranked, "holds", lambda *_: False)
    with pytest.raises(ValueError, match=r"MPI-IO, collective: the file differs .* --workdir"):
        list(writes.counted([of_two(tmp_path, "MPI-IO", "collective")]))


def test_what_is_missing_comes_with_what_installs_it(monkeypatch):
    monkeypatch.setenv(HIDDEN, "hdf5,pnetcdf,mpiio")
    notes = {row["interface"]: row["note"] for row in writes.here()}
    assert [*notes] == ["HDF5", "PnetCDF", "MPI-IO", "to install"]
    assert "hidden" in notes["HDF5"] and "apt-get install" in notes["to install"]


def test_of_no_records_a_comparison_is_empty():
    for by in ("calls", ["calls", "interface"]):
        table = compare(frame_of([]), "wall_s", by, against={"calls": "independent"})
        assert table.empty and "ratio" in table and list(pd.Series(table["value"])) == []


ROWS = ("interleaved columns", "overhanging chunk", "several chunks")  # a request each


def made(seconds=None, independent=8.0, individually=20):
    """Made-up records: seconds of collective writes by HDF5, by selection."""

    def row(selection, interface, calls, **more):
        alone = calls == "independent" and selection in ROWS
        return {
            "selection": selection, "interface": interface, "calls": calls, "ranks": 4,
            "latency_s": 0.0, "size": "512x8", "phase": "write", "useful_bytes": 2e6,
            "requests": 2048 if alone and interface == "HDF5" else 11,
            "stages": 512 if alone else 1, "hint": "", "added": "",
        } | more  # fmt: skip

    ways = [*product(writes.PATTERNS, WAYS)]
    rows = [row(selection, *way, experiment="requests") for selection, way in ways]
    rows += [
        row(selection, "HDF5", writes.INDIVIDUALLY, experiment="requests", requests=individually)
        for selection in writes.PATTERNS
    ]
    rows += [
        row("interleaved columns", name, calls, experiment="hints", hint=hint, requests=number)
        for name, calls in WAYS
        for hint, number in (
            ("none", 8), ("romio_ds_write=disable", 99), ("romio_cb_write=disable", 99)
        )
    ]  # fmt: skip
    for block, (selection, way), wait_s in product(range(6), ways, (0.0, 0.003)):
        one = row(selection, *way, experiment="latency", latency_s=wait_s, block=block)
        long = independent if one["stages"] > 1 else 0.1
        factor = (seconds or {}).get(selection, 1) if way == WAYS[1] else 1
        one |= {"ranks": 2, "added": f"{1000 * wait_s:g} ms"}
        one |= {"wall_s": (long if way[1] == "independent" else 0.1) * factor * (1 + block / 1e3)}
        twice = (selection, way) == ("contiguous rows", WAYS[3])
        rows += [one | {"aa": aa} for aa in (("A", "B") if twice else ("",))]
    return [{**r, "case": ", ".join(r[n] for n in LABELS if r[n])} for r in rows]


def judged(folder, **more):
    rows = [{**row, "order": number} for number, row in enumerate(made(**more))]
    return verdicts(folder, "chilan_patterns", rows, LABELS)


def test_the_verdicts_can_come_out(tmp_path):
    known = judged(tmp_path, independent=40.0)
    assert known["chilan-1"].verdict == "holds" and known["chilan-hints"].verdict == "holds"
    for name in ("2", "3", "4", "span", "chunk", "overhead"):
        assert known[f"chilan-{name}"].verdict == "holds", name
    requests, _, time, _ = known["chilan-1"].parts
    assert requests.reason.startswith("4 ranks, 512 × 8 doubles")
    assert time.reason.startswith("2 ranks, 512 × 8 doubles")
    assert "512 and 1 requests" in time.reason and time.verdict == "holds"


def test_derived_datatypes_are_judged_by_the_option_that_passes_them(tmp_path):
    found = judged(tmp_path)["chilan-types"]
    assert found.label == "holds in part"  # independent calls as they come make a request a row
    assert found.parts[1].verdict == "refuted"
    assert judged(tmp_path, individually=99)["chilan-types"].label == "refuted"


def test_the_libraries_are_compared_where_their_files_have_one_layout(tmp_path):
    def same(**more):
        found = judged(tmp_path, **more)["chilan-same"]
        timed = [part for part in found.parts if "collective time" in part.name]
        assert {part.role for part in timed} == {"imitation"}
        return [part.verdict for part in timed]

    assert same() == ["holds"] * 3
    assert same(seconds={"overhanging chunk": 0.5}) == ["holds", "holds", "refuted"]
    assert same(seconds={"contiguous rows": 2.0}) == ["refuted", "holds", "holds"]
