"""Variables and records of `hyperslab bench`, made up."""

from hyperslab.io import Layout
from hyperslab.io.sources.base import SourceVariable
from hyperslab.measure.records import frame_of


def Made(name, dims, shape, dtype="f4", *others, **named):  # noqa: N802
    """A variable of a file that is not there."""
    return SourceVariable(name, dims, shape, dtype, *others, **named)


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


def bench_rows(times=None, blocks=7, patterns=("time_series", "map", "whole"), spread=0.01):
    """Rows as `bench` gives them; every phase of a target takes as long as `times` says."""
    times = TIMES if times is None else times
    for place, (case, seconds) in enumerate(times.items()):
        common = {
            "run_id": "run-1", "experiment": "bench", "case": case, "status": "ok",
            "verified": True, "format": "netcdf4", "codec": "deflate", "level": 4,
            "shuffle": True, "chunks": "1x72x144", "useful_bytes": 4147200,
            "byteorder": "native", "others_cpu": 0.01,
        }  # fmt: skip
        for block in range(blocks):
            for aa in ("A", "B") if place == 0 else ("",):
                jitter = 1 + spread * ((block * 7 + place * 3) % 5 - 2)
                row = {**common, "block": block, "aa": aa}
                for phase in PHASES:
                    more = {"peak_bytes": 90e6, "syscr": 10, "rchar": 2e6, "user_s": seconds / 2}
                    if phase == "close":
                        more["file_bytes"] = 1e6 * (place + 1)
                    yield {**row, "phase": phase, "wall_s": seconds * jitter, **more}
                for state in ("cold", "warm"):
                    for pattern in patterns:
                        yield {
                            **row, "phase": f"pattern:{pattern}", "pattern": pattern,
                            "cache_state": state, "wall_s": seconds * jitter / 10,
                            "useful_bytes": 400, "rchar": 1e5, "syscr": 7, "user_s": seconds / 20,
                        }  # fmt: skip
    for case, size in (("", 3e6), ("sst", 2.9e6)):
        yield {
            "run_id": "run-1", "experiment": "source", "case": case, "phase": "stat",
            "format": "netcdf4", "codec": "deflate 4, shuffle", "chunks": "1x72x144",
            "file_bytes": size, "useful_bytes": 4147200, "status": "ok", "verified": True,
        }  # fmt: skip


def bench_frame(**changes):
    known = frame_of([]).columns
    rows = list(bench_rows(**changes))
    return frame_of([{k: v for k, v in row.items() if k in known} for row in rows])
