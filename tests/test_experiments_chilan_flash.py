"""The checkpoint of FLASH: verdicts on made-up records."""

from itertools import product

from made_claims import timed, verdicts

from hyperslab.experiments import chilan_flash as flash

LABELS = ["file", "cells", "interface", "calls", "processes", "hint", "opened"]
BOTH = "checkpoint"


def judged(folder, even=1.0, independent=2.0, swapped=1.0, past=4097):
    """Judge made-up records: HDF5 takes `even` times as long as PnetCDF."""
    rows = []
    for name, calls in product(("HDF5", "PnetCDF"), ("independent", "collective")):
        seconds = (even if name == "HDF5" else 1) * (independent if calls == "independent" else 1)
        way = {"interface": name, "calls": calls, "cells": "16³", "phase": "write", "stages": 1}
        for n in (1, 2, 8):
            one = {**way, "file": BOTH, "processes": str(n), "ranks": n, "useful_bytes": 8e6}
            rows.append({**one, "experiment": "requests", "hint": "none", "requests": 283})
            pair = (name, n) == ("HDF5", 8)
            rows += timed(seconds, pair=pair, experiment="checkpoint", **one) if n > 1 else ()
            if (name, calls, n) == ("PnetCDF", "collective", 2):
                one["file"] = "checkpoint as bytes"
                rows += timed(seconds / swapped, experiment="checkpoint", **one)
    for opened, requests in zip(flash.OPENED, (5, past, 5), strict=True):
        ranks = 1 if opened == "serially" else 4
        one = {"opened": opened, "phase": "read", "stages": requests, "ranks": ranks}
        rows.append({**one, "experiment": "cache"})
    return verdicts(folder, "chilan_flash", rows, LABELS)


def test_the_verdicts_can_come_out(tmp_path):
    found = judged(tmp_path)
    ours = ("chilan-flash", "chilan-same", "chilan-minor", "chilan-scale", "chunking-parallel")
    assert {found[name].verdict for name in ours} == {"holds"}
    assert found["chilan-minor"].label == "holds in part"  # as many requests, at another rate
    assert found["chilan-scale"].label == "holds (another system)"
    parts = {part.name: part.verdict for part in found["chilan-scale"].parts}
    assert parts["requests in turn, independent HDF5"] == "weaker"
    found = judged(tmp_path, independent=1.0, past=5)
    assert found["chunking-parallel"].verdict != "holds"
    assert found["chilan-minor"].label == "holds"
    found = judged(tmp_path, even=0.75, swapped=4 / 3)["chilan-flash"]
    parts = {part.name: part.verdict for part in found.parts}
    assert found.label == "refuted"  # and not in part: what holds is an explanation
    assert parts["rate, collective, nothing to turn"] == "holds"
