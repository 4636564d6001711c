"""Four ways to share an array among ranks: what is refused or missing, and verdicts."""

from itertools import product

import pytest
from made_claims import timed, verdicts
from made_parallel import needs

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


ROWS = ("interleaved columns", "overhanging chunk", "several chunks")  # a request each


def judged(folder, independent=8.0, individually=20, **seconds):
    """Judge made-up records: by selection, how much longer HDF5 takes for a collective write."""

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
    for selection in writes.PATTERNS:
        one = row(selection, "HDF5", writes.INDIVIDUALLY, experiment="requests")
        rows.append(one | {"requests": individually})
    hints = {"none": 8, "romio_ds_write=disable": 99, "romio_cb_write=disable": 99}
    for way, (hint, number) in product(WAYS, hints.items()):
        one = row("interleaved columns", *way, experiment="hints", hint=hint)
        rows.append(one | {"requests": number})
    for (selection, way), wait_s in product(ways, (0.0, 0.003)):
        one = row(selection, *way, experiment="latency", latency_s=wait_s)
        one |= {"ranks": 2, "added": f"{1000 * wait_s:g} ms"}
        long = independent if one["stages"] > 1 else 0.1
        factor = seconds.get(selection, 1) if way == WAYS[1] else 1
        wall_s = (long if way[1] == "independent" else 0.1) * factor
        pair = (selection, way) == ("contiguous rows", WAYS[3])
        rows += timed(wall_s, pair=pair, blocks=6, **one)
    return verdicts(folder, "chilan_patterns", rows, LABELS)


def test_the_verdicts_can_come_out(tmp_path):
    known = judged(tmp_path, independent=40.0)
    for name in ("1", "2", "3", "4", "span", "chunk", "overhead", "hints"):
        assert known[f"chilan-{name}"].verdict == "holds", name
    requests, _, time, _ = known["chilan-1"].parts
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
def test_verdicts_follow_the_records(tmp_path, changes, expected, types):
    found = judged(tmp_path, **changes)
    parts = found["chilan-same"].parts  # compared where their files have one layout
    timed = [(part.role, part.verdict) for part in parts if "collective time" in part.name]
    assert timed == [("imitation", verdict) for verdict in expected]
    assert found["chilan-types"].label == types
