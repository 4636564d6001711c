"""Made-up records of the page on many small hyperslabs."""

from itertools import product

import numpy as np

from hyperslab.measure.records import frame_of
from hyperslab.study.lee import (
    hyperslabs,
    strided,
)

SIDE, BYTES = 3162, 4.0 * 3162**2
# Seconds of everything and of its rows, by way.
SECONDS = {
    "c": (0.005, 0.020), "hdf5-c": (0.005, 0.010), "hdf5-c-made": (0.005, 0.018),
    "hdf5-c-nosieve": (0.005, 0.009), "c-nofill": (0.005, 0.018), "python": (0.010, 0.250),
    "python-plain": (0.010, 0.120), "h5py": (0.010, 0.030),
}  # fmt: skip
OPENED = {"dataspaces": 2, "property lists": 1, "datatypes": 0, "datasets": 0, "functions": 50}


def made(experiment, cases, blocks=7):
    """Records of cases, each with its phases and their columns."""
    for case, phases in cases:
        pair = ("A", "B") if case == "c/contiguous/rows" else ("",)
        for block, aa in product(range(blocks), pair):
            for phase, columns in phases:
                yield {
                    "run_id": "run-1", "profile": "quick", "notebook": "lee_hyperslabs",
                    "experiment": experiment, "case": case, "aa": aa, "block": block,
                    "phase": phase, "status": "ok", "user_s": 0.01, "sys_s": 0.0, "minflt": 10.0,
                    "others_cpu": 0.0, **columns,
                }  # fmt: skip


def counted_columns(counted, **columns):
    return {k: float(v) if counted else float("nan") for k, v in columns.items()}


def whole(experiment, in_c=True, counted=True, scale=1.0):
    """One call and rows of every way and layout; ``scale`` is on the time of the rows."""
    chosen = {
        "read": [w for w in SECONDS if w != "c-nofill"],
        "write": ["c", "hdf5-c", "c-nofill", "python", "h5py"],
    }[experiment]
    for way in chosen:
        if hyperslabs.WAYS[way].in_c and not in_c:
            continue
        for layout in ("contiguous", "chunked"):
            for mode, seconds in zip(("one", "rows"), SECONDS[way], strict=True):
                seconds *= scale if mode == "rows" else 1
                columns = {"wall_s": seconds, "useful_bytes": BYTES, "cache_state": "warm"}
                columns["cache_bytes"] = 2.0**26 if way in ("c", "python") else 2.0**20
                columns |= counted_columns(counted, syscr=633, rchar=41e6, syscw=670, wchar=81e6)
                phases = [(experiment, columns)]
                if experiment == "write":
                    close = {"wall_s": 0.001} | counted_columns(counted, wchar=4e7)
                    phases.append(("close", close))
                yield f"{way}/{layout}/{mode}", phases


def swept(in_c=True, cost_us=40.0):
    """A sweep in which a call costs so much, and its bytes 5 GB/s."""
    for way in hyperslabs.SWEPT:
        if in_c or not hyperslabs.WAYS[way].in_c:
            phases = []
            for size in hyperslabs.swept(SIDE):
                calls, each = len(size.starts()), 4.0 * np.prod(size.count)
                seconds = calls * (1e-6 * cost_us + each / 5e9)
                columns = {"wall_s": seconds, "useful_bytes": calls * each, "stages": calls}
                phases.append(("read", columns))
            yield way, phases


def stepping(in_c=True, counted=True, slow=0.3):
    for layout, ways in (("contiguous", strided.STRIDED), ("chunked", strided.CHUNKED)):
        for way in ways:
            if hyperslabs.WAYS[way].in_c and not in_c:
                continue
            phases = []
            for pattern in strided.PATTERNS:
                columns = {"wall_s": slow if way == "python-pieces" else 0.002, "pattern": pattern}
                columns |= {"useful_bytes": 1e6, "cache_bytes": 2.0**20}
                columns |= counted_columns(counted, syscr=120 if way != "h5py" else 1000, rchar=8e6)
                phases.append(("read", columns))
            yield f"{way}/{layout}", phases


def piece_rows(library_version="1.7.4 (netCDF-C 4.9.3)"):
    for pattern in strided.PATTERNS:
        for way, calls in (("python-plain", 1), ("python-pieces", 25281)):
            for phase in ("read", "write"):
                yield {
                    "case": way, "pattern": pattern, "phase": phase, "stages": calls,
                    "library_version": library_version,
                }  # fmt: skip


def opened_rows(in_c=True):
    for way in ("c", "python", "python-plain", "h5py"):
        for phase in ("read", "write"):
            for kind, number in OPENED.items():
                if in_c or way != "c":
                    yield {"case": way, "phase": phase, "pattern": kind, "stages": number}


def page(in_c=True, counted=True, scale=1.0):
    return {
        "read": frame_of(made("read", whole("read", in_c, counted, scale))),
        "written": frame_of(made("write", whole("write", in_c, counted, scale))),
        "calls": frame_of(made("calls", swept(in_c))),
        "steps": frame_of(made("strided", stepping(in_c, counted))),
        "pieces": frame_of(piece_rows()),
        "opened": frame_of(opened_rows(in_c)),
    }
