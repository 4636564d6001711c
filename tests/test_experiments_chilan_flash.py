"""The checkpoint of FLASH: verdicts on made-up records."""

from made_claims import verdicts

from hyperslab.experiments import chilan_flash as flash

LABELS = ["file", "cells", "interface", "calls", "processes", "hint", "opened"]
BOTH, ALONE = "checkpoint", "checkpoint as bytes"


def judged(folder, even=1.0, independent=2.0, swapped=1.0, past=4097):
    """Judge made-up records: seconds of HDF5 are `even` times PnetCDF's."""

    def row(experiment, **more):
        return {"experiment": experiment, "phase": "write", "cells": "16³", "stages": 1,
                "useful_bytes": 8e6} | more  # fmt: skip

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
