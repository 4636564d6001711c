"""Files that the cost model is tried on, what it predicts of their reads, and what it refuses."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import data_gen

from .. import subchunk
from ..io.cards import readers
from ..io.creation import write_array
from ..io.layout import Layout
from ..io.selection import Indices, whole
from ..measure.processes import Processes
from ..tune.advice.calibrate import CODECS, LIBRARIES, Timed, calibrate, chunk_bytes
from ..tune.advice.costs import THREADED, Calibration, codec, engine_of, save, way
from ..tune.advice.counts import Read
from ..tune.advice.fetches import UncalibratedError
from ..tune.advice.sample import decode_seconds
from ..tune.advice.visit import MODULES, Visit, case_of, digest

if TYPE_CHECKING:
    import xarray as xr

FEW = ("h5py", "plain")  # readers of a quick look
COLD = ("netcdf4", "h5py", "zarr", "plain")  # readers that are tried cold as well
VARIABLES = {"ocean": "uo", "gfs": "air_temperature", "radar": "cref"}


@dataclass(frozen=True)
class TrialFile:
    name: str  # the dataset and the layout, as the records have them
    path: Path  # of the file or store
    shape: tuple[int, ...]
    dtype: str  # of the array, which is called "data"
    layout: Layout


def patterns(shape: tuple[int, ...]) -> dict[str, Indices]:
    every = whole(shape)
    point, between = tuple(int(0.37 * n) for n in shape[-2:]), (0,) * (len(shape) - 3)
    selections: dict[str, Indices] = {
        "box": tuple(slice(n // 3, n // 3 + max(n // 4, 1), 1) for n in shape),
        "whole": every,
        "strided": (*every[:-2], *(slice(0, n, 3) for n in shape[-2:])),
    }
    if len(shape) == 2:
        return selections | {"series": (every[0], point[1])}
    selections["series"] = (every[0], *between, *point)
    selections["map"] = (*(n // 2 for n in shape[:-2]), *every[-2:])
    if len(shape) == 4:
        selections["profile"] = (shape[0] - 1, every[1], *point)
    return selections


def cut(shape: Sequence[int], *parts: int) -> tuple[int, ...]:
    """Return chunks that cut each axis into so many parts; into steps of one for 0."""
    return tuple(-(-n // part) if part else 1 for n, part in zip(shape, parts, strict=True))


@dataclass(frozen=True)
class Trials:
    """The arrays of one run, and the files that `make` makes of them."""

    scratch: Path  # where they lie
    ocean_frames: int
    gfs_frames: int
    thin: int = 1  # maps have so many times fewer rows and columns
    # by the name of a dataset, layouts by their names
    layouts: Mapping[str, Mapping[str, Layout]] = field(default_factory=dict)

    def files(self, *kinds: str) -> list[TrialFile]:
        files = []
        for kind in kinds or self.layouts:
            array = self._array(kind)
            for number, (name, layout) in enumerate(self.layouts[kind].items()):
                path = self.scratch / f"{kind}-{number}{layout.suffix}"
                about = (array.shape, array.dtype.str[1:], layout)
                files.append(TrialFile(f"{kind}: {name}", path, *about))
        return files

    def shape(self, kind: str) -> tuple[int, ...]:
        return self._array(kind).shape

    def make(self) -> None:
        """Write the files, and the digest of what each read must give."""
        digests: dict[str, str] = {}
        for kind in self.layouts:
            values = self._array(kind).values
            for file in self.files(kind):
                write_array(file.path, values, file.layout, overwrite=True)
                if file.layout.codec == "deflate" and file.layout.format == "netcdf4":
                    subchunk.build(file.path)
                for pattern, chosen in patterns(file.shape).items():
                    digests[f"{file.name}/{pattern}"] = digest([values[chosen]])
        self.digests.write_text(json.dumps(digests))

    @property
    def digests(self) -> Path:
        return self.scratch / "digests.json"

    def _array(self, kind: str) -> "xr.DataArray":
        sources: dict[str, tuple[dict[str, Any], int, int]] = {
            "ocean": ({"steps": self.ocean_frames}, 380, 1287),
            "gfs": ({"steps": self.gfs_frames}, 721, 1440),
            "radar": ({"tile": "tile1"}, 1501, 2001),
        }
        given, rows, columns = sources[kind]
        nlat, nlon = (max(side // self.thin, 40) for side in (rows, columns))
        given |= {"nlat": nlat, "nlon": nlon, "seed": 0}
        return data_gen.open(kind, decode=False, **given)[VARIABLES[kind]]


def held_out(trials: Trials, libraries: Sequence[str], every: int = 1) -> list[Timed]:
    """Return the reads of the files by every library, warm, and cold by some: one in `every`."""
    reads: list[Timed] = []
    if not trials.digests.exists():  # figures are drawn from records
        return reads
    random, expected = np.random.default_rng(every), json.loads(trials.digests.read_text())
    for file in trials.files():
        stored = chunk_bytes(file.path, file.shape, file.layout)
        for library in (name for name in readers(file.layout) if name in libraries):
            for pattern, selection in patterns(file.shape).items():
                for cache in ("warm", "cold") if library in COLD else ("warm",):
                    left_out = random.random() * every > 1
                    if left_out or (cache == "cold" and pattern == "strided"):
                        continue
                    about = (file.shape, file.dtype, file.layout, (selection,))
                    read = Read(*about, library, stored, cache)
                    index = Path(f"{file.path}.subchunk")
                    case = case_of(
                        f"{file.name}/{library}/{pattern}",
                        Visit(file.path, library, read.selections),
                        cache,
                        expected=expected[f"{file.name}/{pattern}"],
                        files=(index,) if library == "subchunk" and index.exists() else (),
                        columns={**file.layout.record(), "pattern": pattern, "size": file.name},
                        aa=all(other.read.cache != cache for other in reads),
                        pinned=library not in THREADED,
                    )
                    reads.append(Timed(read, case))
    return reads


def costs(
    seconds: float, workdir: Path, *, few: bool, side: int | None, folder: Path
) -> Iterator[dict[str, object]]:
    """Calibrate this machine, keep it unless of few libraries, and yield it: a cost a row."""
    libraries, codecs = (FEW, ("deflate",)) if few else (LIBRARIES, CODECS)
    calibration = calibrate(seconds, libraries, codecs=codecs, workdir=workdir, side=side)
    if not few:
        save(calibration, folder)
    for name, cost in calibration.costs.items():
        yield {"case": name, "mode": "cost", "wall_s": cost}
    samples = float(calibration.samples)
    yield {"case": "calibration", "mode": "made", "points": samples, "wall_s": calibration.took_s}


def from_rows(rows: Iterable[Mapping[str, Any]]) -> Calibration:
    costs = {str(row["case"]): float(row["wall_s"]) for row in rows if row["mode"] == "cost"}
    return Calibration(costs, made="records")


def predictions(reads: Iterable[Timed], calibration: Calibration) -> Iterator[dict[str, object]]:
    """Yield what is predicted of each read, blind and after decoding a few chunks of its file."""
    decode_s: dict[tuple[Path, str], float | None] = {}
    with Processes(MODULES) as running:
        for timed in reads:
            read, path = timed.read, Path(timed.case.files[0])
            decoder = codec(read).partition("/")[2]
            if way(read) not in calibration.ways or (
                decoder and decoder not in calibration.codecs(read.library)
            ):
                continue
            key = (path, engine_of(read.library))
            if key not in decode_s:
                decode_s[key] = decode_seconds(read, path, calibration, running)
            for mode, probed in (("blind", None), ("probed", decode_s[key])):
                prediction = calibration.predict(replace(read, decode_s=probed))
                yield {
                    **timed.case.columns,
                    "case": timed.case.name,
                    "cache_state": read.cache,
                    "mode": mode,
                    "phase": "read",
                    "wall_s": prediction.seconds,
                    "hints": prediction.most,
                    "useful_bytes": prediction.counts.useful_bytes,
                    "predicted_reads": prediction.counts.fetched,
                    "predicted_bytes": prediction.counts.stored_bytes,
                }


def refusals(calibration: Calibration) -> Iterator[dict[str, object]]:
    here = Read((8, 8), "f4", Layout("netcdf4"), (...,), "h5py")
    odd = Layout("hdf5", chunks=(4, 4), codec="szip", shuffle=True)
    reads = {
        "a codec": replace(here, layout=odd, chunk_bytes=9.0),
        "a library": replace(here, library="hidefix"),
    }
    for name, read in reads.items():
        try:
            calibration.predict(read)
        except UncalibratedError as error:
            yield {"case": name, "hints": f"{type(error).__name__}: {error}"}
