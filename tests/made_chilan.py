"""Made-up records of parallel writes, with the counts that were seen."""

from itertools import product

from hyperslab import claims
from hyperslab.measure.records import frame_of, save
from hyperslab.study.chilan.flash import TIMED
from hyperslab.study.chilan.patterns import HINTED, WAYS

COUNTS = {"rowwise": 32768, "independent": 32775, "collective": 8}
SHAPES = {"interleaved": "8192x8", "rows": "2048x256", "overhang": "2048x256", "within": "32768x32"}


def row(library, pattern, mode, **more):
    """One made-up row, with the counts of interleaved columns as they were seen."""
    alike = pattern in ("rows", "within")
    writes = (
        11 if alike else COUNTS[mode] if library != "pnetcdf" else 17 if mode != "collective" else 2
    )
    return {
        "run_id": "r", "profile": "quick", "case": f"{library}/{pattern}/{mode}", "block": 0,
        "library": library, "pattern": pattern, "mode": mode, "ranks": 4, "hints": "",
        "latency_s": 0.0,
        "size": SHAPES.get(pattern, "16"), "phase": "write", "status": "ok", "verified": True,
        "requests": writes, "syscr": 18 if writes == 17 else 0, "stages": writes // 4 or 1,
        "wchar": 1e6, "useful_bytes": 2e6, "library_version": "HDF5 1.10.8, Open MPI v4.1.4",
    } | more  # fmt: skip


def counted(**more):
    return [
        row(library, pattern, mode, experiment="requests", ranks=ranks, **more)
        for ranks in (4, 8)
        for pattern, (library, mode) in product(SHAPES, WAYS)
        if ranks == 4 or pattern == "interleaved"
    ]


def hinted():
    return [
        row(library, name, mode, experiment="hints",
            hints=" ".join(f"{k}={v}" for k, v in hints.items()),
            **({"requests": 32769} if "disable" in str(hints) else {}))
        for library in ("hdf5", "pnetcdf") for name, mode, hints in HINTED
    ]  # fmt: skip


def slow(blocks=6, independent_s=1.0, collective_s=0.01):
    return [
        row(library, pattern, mode, experiment="latency", ranks=2, latency_s=latency_s, block=block,
            aa=aa, stages=256 if mode != "collective" else 1, others_cpu=0.0,
            wall_s=(collective_s if mode == "collective" else independent_s) * (1 + block / 1e3)
            * (1 if latency_s else 0.1))
        for block in range(blocks) for latency_s in (0.0, 0.003)
        for pattern, (library, mode) in product(SHAPES, WAYS)
        for aa in (("A", "B") if (library, pattern, mode) == PAIR else ("",))
    ]  # fmt: skip


PAIR = ("hdf5", "rows", "collective")
ALL = ("hdf5", "pnetcdf", "mpiio")
SOME = [ALL, ("mpiio",), ("pnetcdf", "mpiio"), ("hdf5",)]


def frames(libraries):
    """Records of both pages, of these libraries alone."""
    whole = [
        frame_of(r for r in rows if r["library"] in libraries)
        for rows in (counted(), hinted(), slow())
    ]
    sizes = whole[0].assign(chunk_bytes=64.0, phase="write")
    return (*whole, sizes)


def files():
    return [
        row(library, file, "collective", experiment="files", size=str(side), chunk_bytes=6e7,
            case=f"{library}/collective/{side} {file}")
        for side in (8, 16) for file in ("checkpoint", "centres", "corners")
        for library in ("hdf5", "pnetcdf")
    ]  # fmt: skip


def flashed(hint=31):
    ways = [way for way in WAYS if way[1] != "rowwise"]
    found = [
        row(library, "checkpoint", mode, experiment="requests", size="16", ranks=ranks,
            requests=30 * ranks + 43, case=f"{library}/{mode}/16")
        for ranks in (1, 2, 4, 8) for library, mode in ways
    ]  # fmt: skip
    more = {"size": "8", "experiment": "requests"}
    for library in ALL:
        case = f"{library}/collective/8"
        found.append(row(library, "checkpoint", "collective", **more, case=case, requests=163))
        hints = {"hints": "romio_cb_write=enable", "requests": hint}
        found.append(row(library, "checkpoint", "collective", **more | hints, case=case))
        less = {"case": f"{case} without tree", "requests": 131}
        if library != "mpiio":
            found.append(row(library, "checkpoint without tree", "collective", **more | less))
    return found


def rates(even=1.0, independent=2.0, turned=1.0, rest=1.0):
    """Seconds of HDF5 are `even` times PnetCDF's; without turning these are over `turned`."""
    slower = {"hdf5": even, "pnetcdf": 1.0, "as bytes": 1 / turned * rest}

    def one(library, mode, ranks, block, aa="", how=""):
        case = f"{library}/{mode}/16{' ' * bool(how)}{how}"
        kind = "checkpoint" + " as bytes" * bool(how)
        seconds = 0.01 * ranks * (1 + block / 1e3) * slower[how or library]
        return row(
            library, kind, mode, experiment="checkpoint", size="16", ranks=ranks, block=block,
            case=case, others_cpu=0.0, aa=aa, useful_bytes=8e6 * ranks, user_s=seconds / 9,
            wall_s=seconds * (independent if mode == "independent" else 1),
        )  # fmt: skip

    return [
        one(library, mode, ranks, block, aa)
        for block in range(6) for ranks in (1, 2, 8)
        for library, mode in TIMED
        for aa in (("A", "B") if (ranks, mode) == (1, "independent") else ("",))
    ] + [one("pnetcdf", "collective", 2, block, how="as bytes") for block in range(6)]  # fmt: skip


def in_sizes(requests):
    """Sizes of the writes, all of them in one bin."""
    return requests.assign(chunk_bytes=262144.0, phase="write")


def cached(parallel=4097):
    found = {"serial": (5, 1), "parallel": (parallel, 4), "parallel, read only": (5, 4)}
    return [
        row("hdf5", "", "independent", experiment="cache", case=case, phase="read", stages=each,
            requests=each * ranks, ranks=ranks)
        for case, (each, ranks) in found.items()
    ]  # fmt: skip


def judged(tmp_path, name, rows):
    save(frame_of({**r, "notebook": name, "order": n} for n, r in enumerate(rows)),
         tmp_path / f"{name}.parquet")  # fmt: skip
    wanted = [claim for claim in claims.load() if claim.notebook == name]
    return {item.claim.id: item for item in claims.evaluate(wanted, tmp_path)}
