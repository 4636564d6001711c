"""Made-up records of the page on formats."""

from hyperslab.measure.records import frame_of
from hyperslab.study.lee.format_cells import BYTES, KINDS, UNCACHED, cells

SIZE = 40e6
# Seconds of a put or get, MB written by the put, and calls, for each format.
COST = {
    "netcdf3": (0.02, 40.0, 4880), "netcdf4-contiguous": (0.01, 40.0, 1),
    "netcdf4-chunked": (0.04, 0.0, 0), UNCACHED: (0.011, 0.0, 0), BYTES: (0.016, 40.0, 4880),
    "plain": (0.01, 40.0, 1), "dd": (0.02, 40.0, 40), "default": (0.03, 40.0, 1),
    "early": (0.01, 40.0, 1), "1MB": (0.03, 40.0, 1), "64MB": (0.02, 0.0, 0),
}  # fmt: skip
PHASES = {
    "write-cached": ("create", "write", "close"), "read": ("open", "read", "close"),
    "write-disk": ("create", "write", "sync", "close"), "allocation": ("create", "write", "close"),
    "cache": ("create", "write", "close"),
}  # fmt: skip


def names(experiment, profile="quick"):
    """Names of the cases of an experiment, and their cache states."""
    if experiment in ("allocation", "cache"):
        pair = ("default", "early") if experiment == "allocation" else ("1MB", "64MB")
        return [(f"{name}/large/2d", "") for name in pair]
    found = [cell.name for cell in cells(profile)]
    if experiment != "write-cached":
        found += ["plain/large/2d", "dd/large/2d"]
    states = ("warm", "cold") if experiment == "read" else ("",)
    return [(name, state) for name in found for state in states]


def rows(experiment, *, counted=True, cost=COST, profile="quick", blocks=7, without=()):
    for case, state in names(experiment, profile):
        kind, size, _ = case.split("/")
        if kind in without or state in without:
            continue
        seconds, written, calls = cost[kind]
        for block in range(blocks):
            for aa in ("A", "B") if kind in ("netcdf3", "default", "1MB") else ("",):
                for phase in PHASES[experiment]:
                    moves = phase in ("write", "read")
                    spent = seconds if moves else 1e-3
                    count = {
                        "wchar": 1e6 * written if phase == "write" else 0.0,
                        "syscw": calls, "rchar": 0.0, "syscr": calls, "minflt": 9764.0,
                        "read_bytes": 1e6,
                    }  # fmt: skip
                    yield {
                        "run_id": "run-1", "profile": profile, "notebook": "lee_formats",
                        "experiment": experiment, "case": case, "aa": aa, "cache_state": state,
                        "block": block, "order": hash((case, aa)) % 1000, "phase": phase,
                        "status": "ok", "wall_s": spent, "user_s": spent, "sys_s": 0.0,
                        "others_cpu": 0.0, "cache_bytes": 2.0**26, "size": size,
                        "useful_bytes": SIZE if moves else None,
                        **(count if counted else dict.fromkeys(count, float("nan"))),
                    }  # fmt: skip


def made(**how):
    """Records of all experiments."""
    return {experiment: frame_of(rows(experiment, **how)) for experiment in PHASES}


def filled(counted=True):
    return frame_of(
        {
            "case": f"{fill}/{kind}", "phase": "write",
            "wchar": (80e6 if (fill, kind) == ("fill", "netcdf3") else 40e6) if counted else None,
        }
        for fill in ("fill", "nofill")
        for kind in KINDS
    )  # fmt: skip


def asked(requests=(4, 2, 4), sleeps=(1, 1, 1)):
    """Requests and sleeps of cold reads of netCDF-3, contiguous and one chunk."""
    return frame_of(
        {
            "case": f"{kind}/{size}/2d", "cache_state": "cold", "phase": "read", "status": "ok",
            "requests": many, "stages": slept,
        }
        for kind, many, slept in zip(KINDS, requests, sleeps, strict=True)
        for size in ("small", "large")
    )  # fmt: skip


def waiting(seconds, working=(0.0, 0.0, 0.0)):
    """Cold reads that wait and work so long: netCDF-3, contiguous and one chunk."""
    read = frame_of(rows("read"))
    for kind, wait, work in zip(KINDS, seconds, working, strict=True):
        mine = read["case"].str.startswith(f"{kind}/") & (read["phase"] == "read")
        read.loc[mine, "wall_s"] = wait + work
        read.loc[mine, ["user_s", "sys_s"]] = [work, 0.0]
    return read
