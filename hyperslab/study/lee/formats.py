"""NetCDF-3 against netCDF-4, whole arrays in one call (Lee et al. 2008, section 3)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from data_gen import arrays

from ...io.work import Remove
from ...measure.case import Case, Stopwatch
from .format_cells import BYTES, KINDS, UNCACHED, Cell, cells, plain_array, shapes
from .format_samples import Equal, ReadNetcdf, Stored, Whole, WriteHdf5, WriteNetcdf
from .plain_samples import Copied, Dd, ReadPlain, WritePlain

CACHES = {"1MB": 2**20, "64MB": 64 * 2**20}


def make_files(profile: str, folder: Path, *, cold: bool) -> None:
    """Write the file of every read once, to the disk, so that nothing of it is left to write.

    Parameters
    ----------
    profile : str
    folder : Path
        Made when missing; files there are written again.
    cold : bool
        Whether for cold reads, which are fewer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for cell in cells(profile):
        if not (cold and cell.kind in _WARM_ONLY):
            WriteNetcdf(cell.path(folder), cell.array, cell.layout, to_disk=True)(Stopwatch())
    WritePlain(_plain(folder), plain_array(profile))(Stopwatch())


def write_cases(profile: str, scratch: Path, *, to_disk: bool) -> list[Case]:
    """Return one write of each array in each format.

    Parameters
    ----------
    profile : str
    scratch : Path
        Where the files go, one at a time.
    to_disk : bool
        Whether they are forced to the disk; then a plain write and dd stand beside them. dd reads
        its input from the page cache.
    """
    found = [
        _write(cell.name, cell, cell.path(scratch), to_disk=to_disk, aa=_paired(cell))
        for cell in cells(profile)
        if cell.kind != UNCACHED and not (to_disk and cell.kind == BYTES)
    ]
    return [*found, *_plain_writes(profile, scratch)] if to_disk else found


def read_cases(profile: str, folders: Mapping[str, Path]) -> list[Case]:
    """Return one read of each array in each format, for each cache state that has a folder.

    A plain read from C and dd stand beside them.
    """
    found = []
    for state, folder in folders.items():
        found += [
            Case(
                cell.name,
                ReadNetcdf(cell.path(folder), cell.array, cell.layout, cell.cache_bytes),
                check=Equal(cell.array),
                columns=cell.columns,
                files=(cell.path(folder),),
                cache_state=state,
                aa=_paired(cell),
            )
            for cell in cells(profile)
            if not (state == "cold" and cell.kind in _WARM_ONLY)
        ]
        array, path = plain_array(profile), _plain(folder)
        for name, run, check in (
            ("plain/large/2d", ReadPlain(path, array), Equal(array)),
            ("dd/large/2d", Dd(path), Copied(path)),
        ):
            found.append(Case(name, run, check, _plain_columns(name), (path,), cache_state=state))
    return found


def allocation_cases(profile: str, scratch: Path) -> list[Case]:
    """Return large chunked writes straight on HDF5, storage allocated early and by default.

    netCDF-4 offers no such choice, so the document's authors set it in HDF5, as here, and with
    HDF5's cache of 1 MB.
    """
    cell = _large_chunked(profile)
    found = []
    for alloc in ("default", "early"):
        path = scratch / f"alloc-{alloc}.h5"
        found.append(
            Case(
                f"{alloc}/large/2d",
                WriteHdf5(path, cell.array, alloc, _scaled(CACHES["1MB"], cell)),
                check=Stored(path, cell.array, "h5py"),
                columns={**cell.columns, "library": "hdf5 (netCDF4)", "format": "hdf5"},
                prepare=Remove(path),
                cleanup=Remove(path),
                aa=True,
            )
        )
    return found


def cache_cases(profile: str, scratch: Path) -> list[Case]:
    """Return large chunked writes with chunk caches of 1 and 64 MB (of 2^20 bytes)."""
    cell = _large_chunked(profile)
    return [
        _write(
            f"{name}/large/2d",
            cell,
            scratch / f"cache-{name}.nc",
            cache_bytes=_scaled(size, cell),
            aa=True,
        )
        for name, size in CACHES.items()
    ]


def fill_counts(profile: str, scratch: Path) -> Iterator[dict[str, object]]:
    """Yield what a large write asks of the system, with filling and without, phase by phase."""
    for kind in KINDS:
        cell = Cell(kind, "large", shapes(profile)["large"][2])
        for fill in (True, False):
            path = scratch / "fill.nc"
            path.unlink(missing_ok=True)
            watch = Stopwatch()
            WriteNetcdf(path, cell.array, cell.layout, True, fill=fill)(watch)
            for row in watch.rows():
                counts = {name: row[name] for name in _COUNTS}
                case = f"{'fill' if fill else 'nofill'}/{kind}"
                more = {"phase": row["phase"], "useful_bytes": cell.array.nbytes}
                yield {"case": case, **cell.columns, **more, **counts}
            path.unlink()


_WARM_ONLY = (BYTES, UNCACHED)
_COUNTS = ("rchar", "syscr", "wchar", "syscw", "minflt")


def _write(
    name: str,
    cell: Cell,
    path: Path,
    *,
    to_disk: bool = False,
    cache_bytes: int | None = None,
    aa: bool = False,
) -> Case:
    return Case(
        name,
        WriteNetcdf(path, cell.array, cell.layout, to_disk, cache_bytes),
        check=Stored(path, cell.array, cell.library),
        columns=cell.columns,
        prepare=Remove(path),
        cleanup=Remove(path),
        aa=aa,
    )


def _plain_writes(profile: str, scratch: Path) -> list[Case]:
    array, source = plain_array(profile), _plain(scratch / "warm")
    found = []
    for name in ("plain/large/2d", "dd/large/2d"):
        path = scratch / f"{name.partition('/')[0]}.bin"
        run = WritePlain(path, array) if name.startswith("plain") else Dd(source, path)
        check = Stored(path, array) if name.startswith("plain") else Copied(source, path)
        found.append(
            Case(name, run, check, _plain_columns(name), prepare=Remove(path), cleanup=Remove(path))
        )
    return found


def _plain_columns(name: str) -> dict[str, object]:
    return {"library": name.partition("/")[0], "size": "large", "format": "binary"}


def _plain(folder: Path) -> Path:
    return folder / "plain.bin"


def _paired(cell: Cell) -> bool:
    """As in the document it is netCDF-3 that is measured twice; verdicts are of all shapes too."""
    return cell.kind == "netcdf3" and cell.size == "large"


def _large_chunked(profile: str) -> Cell:
    return Cell("netcdf4-chunked", "large", shapes(profile)["large"][2])


def _scaled(cache_bytes: int, cell: Cell) -> int:
    """Scale a cache down with a toy array, so that the smaller still holds no chunk."""
    whole = Whole(arrays.LARGE[2]).nbytes
    return (
        max(cache_bytes * cell.array.nbytes // whole, 1)
        if cell.array.nbytes < whole
        else cache_bytes
    )
