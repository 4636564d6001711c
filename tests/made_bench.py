"""Variables and records of `hyperslab bench`, made up."""

from functools import partial
from itertools import product

from hyperslab.io import Layout
from hyperslab.io.source import SourceVariable
from hyperslab.measure.records import frame_of

Made = partial(SourceVariable, dtype="f4")


def stored(name, dims, shape, layout, dtype="f4", **others):
    return SourceVariable(
        name, dims, shape, dtype, chunks=layout.chunks, codec=layout.codec or "", layout=layout,
        **others,
    )  # fmt: skip


SST = stored(
    "sst", ("time", "lat", "lon"), (100, 72, 144),
    Layout("netcdf4", chunks=(1, 72, 144), codec="deflate", level=4, shuffle=True),
)  # fmt: skip
PLAIN = stored("a", ("y", "x"), (300, 200), Layout("netcdf4"), dtype="i4")
TIMES = {"copy": 4.0, "default chunks": 2.0, "1x72x144": 1.0}
PHASES = (
    "meta_read", "data_read", "meta_write", "data_write", "sync", "close", "meta_reread",
    "data_reread",
)  # fmt: skip


def bench_frame(times=None, blocks=7, patterns=("time_series", "map", "whole"), spread=0.01):
    """Records as `bench` gives them; every phase of a target takes as long as `times` says."""
    rows = [{"experiment": "source", "phase": "stat", "format": "netcdf4", "file_bytes": 3e6,
             "status": "ok"}]  # fmt: skip
    for number, (case, seconds) in enumerate((TIMES if times is None else times).items()):
        for block, aa in product(range(blocks), ("A", "B") if number == 0 else ("",)):
            wall = seconds * (1 + spread * ((block * 7 + number * 3) % 5 - 2))
            row = {
                "experiment": "bench", "case": case, "status": "ok", "verified": True, "aa": aa,
                "format": "netcdf4", "codec": "deflate", "level": 4, "shuffle": True,
                "chunks": "1x72x144", "byteorder": "native", "block": block, "others_cpu": 0.01,
                "useful_bytes": 4147200, "peak_bytes": 90e6, "run_id": "run-1",
            }  # fmt: skip
            rows += [{**row, "phase": phase, "wall_s": wall} for phase in PHASES]
            rows[-3]["file_bytes"] = 1e6 * (number + 1)  # of close
            for state, name in product(("cold", "warm"), patterns):
                counts = {"useful_bytes": 400, "rchar": 1e5, "syscr": 7, "user_s": seconds / 20}
                rows.append({**row, **counts, "phase": f"pattern:{name}", "pattern": name,
                             "cache_state": state, "wall_s": wall / 10})  # fmt: skip
    return frame_of(rows)
