"""The commands that apply a piece of advice, to be pasted into a shell or Python."""

from __future__ import annotations

import shlex
from pathlib import Path

from hyperslab.storage.layout import NETCDF4, Layout

from ..advice.candidates import Candidate
from ..advice.rows import Advice, Row

_HDF5_FILTERS = {"zstd": 32015}  # as registered with the HDF Group


def commands(advice: Advice, row: Row) -> list[str]:
    """Return what applies one row of an advice, a command or a piece of Python each.

    Parameters
    ----------
    advice
        From `hyperslab.advise.advice.rank.advise`.
    row
        One of its rows.
    """
    found = row.candidate
    address, name = advice.question.address, advice.variable.name
    if found.remedy:
        return _remedy(found, address, name)
    out = output_name(address, found.layout)
    made = [_itself(advice, out, row)]
    layout, dims = found.layout, advice.variable.dims
    if layout.format in NETCDF4:
        if tool := _nccopy(layout, advice.twins, address, out):
            made.append(tool)
        made.append(_to_netcdf(layout, advice.twins, address, out))
    elif layout.format == "hdf5":
        if tool := _h5repack(layout, advice.twins, address, out):
            made.append(tool)
    elif layout.format in ("zarr2", "zarr3"):
        made.append(_to_zarr(layout, dims, advice.twins, address, out))
    return made


def output_name(address: str, layout: Layout) -> str:
    """Return a name for a copy: the file's own, with what is new about it.

    Examples
    --------
    >>> output_name("data/sst.nc", Layout("netcdf4", (9, 9))), output_name("a.h5", Layout("zarr3"))
    ('sst-9x9.nc', 'a.zarr')
    """
    stem = Path(address.rstrip("/")).name
    stem = stem.rpartition(".")[0] or stem
    chunks = "-" + "x".join(map(str, layout.chunks)) if layout.chunks else ""
    return f"{stem}{chunks}{layout.suffix}"


def _itself(advice: Advice, out: str, row: Row) -> str:
    words = ["hyperslab", "advise", advice.question.address]
    words += ["--variable", advice.variable.name, "--choice", row.candidate.name, "--apply", out]
    return shlex.join(words)


def _nccopy(layout: Layout, names: tuple[str, ...], address: str, out: str) -> str:
    if layout.codec not in (None, "deflate", "zstd") or layout.chunks is None:
        return ""
    words = ["nccopy", "-k", "nc4" if layout.format == "netcdf4" else "nc7"]
    for name in names:
        words += ["-c", f"{name}:{','.join(map(str, layout.chunks))}"]
    if layout.codec == "deflate":
        words += ["-d", str(layout.effective_level), *(["-s"] if layout.shuffle else [])]
    elif layout.codec == "zstd":
        for name in names:
            words += ["-F", f"{name},{_HDF5_FILTERS['zstd']},{layout.effective_level}"]
    else:
        words += ["-d", "0"]
    return shlex.join([*words, address, out])


def _h5repack(layout: Layout, names: tuple[str, ...], address: str, out: str) -> str:
    if layout.codec not in (None, "deflate") or layout.chunks is None:
        return ""
    listed = ",".join(names)
    words = ["h5repack", "-l", f"{listed}:CHUNK={'x'.join(map(str, layout.chunks))}"]
    if layout.codec is None:
        words += ["-f", f"{listed}:NONE"]
    else:
        words += ["-f", f"{listed}:SHUF"] if layout.shuffle else []
        words += ["-f", f"{listed}:GZIP={layout.effective_level}"]
    if layout.page_bytes:
        words += ["-S", "PAGE", "-G", str(layout.page_bytes)]
    return shlex.join([*words, address, out])


def _to_netcdf(layout: Layout, names: tuple[str, ...], address: str, out: str) -> str:
    options: dict[str, object] = {"chunksizes": layout.chunks}
    if layout.chunks is None:
        options = {"contiguous": True}
    codecs = {"deflate": "zlib", "blosc-lz4": "blosc_lz4", "blosc-zstd": "blosc_zstd"}
    if layout.codec:
        options["compression"] = codecs.get(layout.codec, layout.codec)
        if layout.effective_level:
            options["complevel"] = layout.effective_level
        if layout.codec.startswith("blosc"):
            options["blosc_shuffle"] = int(layout.shuffle)
        elif layout.codec == "deflate":
            options["shuffle"] = layout.shuffle
    else:
        options["zlib"] = False
    return (
        "import xarray as xr\n"
        f"ds = xr.open_dataset({address!r}, mask_and_scale=False, decode_times=False, "
        "chunks={})\n"
        f"own = {options!r}\n"
        f"for name in {list(names)!r}:\n"
        "    ds[name].encoding = {}\n"
        f"ds.to_netcdf({out!r}, engine='netcdf4', "
        f"encoding=dict.fromkeys({list(names)!r}, own))"
    )


def _to_zarr(
    layout: Layout, dims: tuple[str, ...], names: tuple[str, ...], address: str, out: str
) -> str:
    unit = dict(zip(dims, layout.shards or layout.chunks or (), strict=False))
    parts = [f"'chunks': {layout.chunks!r}"] if layout.chunks else []
    if layout.shards:
        parts.append(f"'shards': {layout.shards!r}")
    lead = ""
    if layout.format == "zarr3":
        made = {
            None: "None",
            "deflate": f"zarr.codecs.GzipCodec(level={layout.effective_level})",
            "zstd": f"zarr.codecs.ZstdCodec(level={layout.effective_level})",
        }
        kind = (layout.codec or "").removeprefix("blosc-")
        shuffle = "shuffle" if layout.shuffle else "noshuffle"
        blosc = (
            f"zarr.codecs.BloscCodec(cname={kind!r}, clevel={layout.effective_level}, "
            f"shuffle={shuffle!r})"
        )
        parts.append(f"'compressors': {made.get(layout.codec, blosc)}")
        lead = "import zarr\n"
    return (
        f"{lead}import xarray as xr\n"
        f"ds = xr.open_dataset({address!r}, mask_and_scale=False, decode_times=False, "
        f"chunks={unit!r})\n"
        f"for name in ds.variables:\n"
        "    ds[name].encoding = {}\n"
        f"ds.to_zarr({out!r}, zarr_format={layout.format[-1]}, "
        f"encoding={{name: {{{', '.join(parts)}}} for name in {list(names)!r}}})"
    )


def _remedy(found: Candidate, address: str, name: str) -> list[str]:
    if found.remedy == "index":
        return [
            shlex.join(["hyperslab", "index", address]),
            f"import xarray as xr\nds = xr.open_dataset({address!r}, engine='subchunk')",
        ]
    if found.remedy == "h5py":
        return [f"import h5py\nvalues = h5py.File({address!r})[{name!r}]"]
    if found.remedy == "references":
        return [
            "from hyperslab.access.references import write\n"
            f"write({Path(address).name!r})  # a copy of the file on this machine"
        ]
    if found.library == "h5py":
        return [f"import h5py\nfile = h5py.File({address!r}, rdcc_nbytes={found.cache_bytes})"]
    return [
        "import netCDF4\n"
        f"file = netCDF4.Dataset({address!r})\n"
        f"file[{name!r}].set_var_chunk_cache(size={found.cache_bytes})"
    ]
