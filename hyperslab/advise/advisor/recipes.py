"""The commands that apply a piece of advice, to be pasted into a shell or Python."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from hyperslab.storage.layout import CLASSIC, NETCDF4, ZARR, Layout

from ..advice.candidates import Candidate
from ..advice.labels import name_of
from ..advice.rows import Advice, Row
from ..sources.remote import is_url

_BY_RANGES = "#mode=bytes"
_NCCOPY = (*CLASSIC, *NETCDF4)
_H5REPACK = (*NETCDF4, "hdf5")
_HDF5_FILTERS = {"zstd": 32015}  # as registered with the HDF Group


@dataclass(frozen=True)
class Place:
    """Where commands open a file: a path, or a URL.

    Parameters
    ----------
    address
        As Python: a quoted path or URL, or a name that `lead` gives a value.
    format
        Of the file.
    far
        Whether it is a URL.
    lead
        Lines that come before; "" for none.

    Examples
    --------
    >>> Place("'a.nc'", "netcdf4").xarray()
    "xr.open_dataset('a.nc', mask_and_scale=False, decode_times=False, chunks={})"
    """

    address: str
    format: str
    far: bool = False
    lead: str = ""

    def h5py(self, options: str = "") -> str:
        """Return the expression that opens it with h5py."""
        opened = f"fsspec.open({self.address}).open()" if self.far else self.address
        return f"h5py.File({opened}{options})"

    def netcdf4(self) -> str:
        """Return the expression that opens it with netCDF4, which reads URLs of HTTP."""
        quote = self.address[-1] if self.far else ""
        if quote in ("'", '"'):
            return f"netCDF4.Dataset({self.address[:-1]}{_BY_RANGES}{quote})"
        return f"netCDF4.Dataset({self.address}{f' + {_BY_RANGES!r}' if self.far else ''})"

    def xarray(self) -> str:
        """Return the expression that opens it with xarray, as it is stored."""
        opened, engine = self.address, ""
        if self.format in ZARR:
            engine = ", engine='zarr'" if self.format != "nczarr" else ""
        elif self.far and self.format in CLASSIC:
            opened, engine = f"fsspec.open_local('simplecache::' + {opened})", ", engine='netcdf4'"
        elif self.far or self.format == "hdf5":
            # netCDF-C reads neither every filter of HDF5 nor every server.
            opened = f"fsspec.open({opened}).open()" if self.far else opened
            engine = ", engine='h5netcdf', phony_dims='sort'"
        plain = "mask_and_scale=False, decode_times=False, chunks={}"
        return f"xr.open_dataset({opened}{engine}, {plain})"

    def imports(self, *names: str) -> str:
        """Return the import lines, with what opens URLs."""
        needed = ["fsspec", *names] if self.far and self.format not in ZARR else list(names)
        return "".join(f"import {one}\n" for one in sorted(needed, key=str.lower)) + self.lead


def commands(advice: Advice, row: Row) -> list[str]:
    """Return what applies one row of an advice, a command or a piece of Python each.

    Parameters
    ----------
    advice
        From `hyperslab.advise.advice.rank.advise`.
    row
        One of its rows.
    """
    # xarray opens a group at a time: what has groups is left to the tools that copy all of it.
    found, address = row.candidate, advice.question.address
    if found.remedy:
        return _remedy(advice, found)
    out = output_name(address, found.layout)
    made = [itself(advice, row)]
    far, layout, names = is_url(address), found.layout, advice.twins
    here = Place(repr(address), advice.format, far)
    if layout.format in NETCDF4:
        if not far and advice.format in _NCCOPY and (
            tool := _nccopy(layout, names, address, out)
        ):  # fmt: skip
            made.append(tool)
        made += [] if advice.grouped else _to_netcdf(layout, names, here, out)
    elif layout.format == "hdf5":
        if not far and advice.format in _H5REPACK and (
            tool := _h5repack(layout, names, address, out)
        ):  # fmt: skip
            made.append(tool)
    elif layout.format in ("zarr2", "zarr3"):
        made += [] if advice.grouped else _to_zarr(layout, names, here, out)
    return made


def output_name(address: str, layout: Layout) -> str:
    """Return a name for a copy: the file's own, with what is new about it.

    Examples
    --------
    >>> output_name("data/sst.nc", Layout("netcdf4", (9, 9), "deflate", 1, shuffle=True))
    'sst-9x9-deflate1-shuffle.nc'
    >>> output_name("a.h5", Layout("zarr3", (9, 9), shards=(90, 90)))
    'a-9x9-shards-90x90.zarr'
    """
    stem = Path(address.rstrip("/")).name
    stem = stem.rpartition(".")[0] or stem
    words = name_of(layout).removeprefix("zarr3 ").replace(":", "").split()
    return f"{'-'.join([stem, *words])}{layout.suffix}"


def itself(advice: Advice, row: Row) -> str:
    """Return the line that rewrites the file in a layout with this program."""
    layout = row.candidate.layout
    out = output_name(advice.question.address, layout)
    words = ["hyperslab", "rechunk", advice.question.address, out, "--format", layout.format]
    for name in advice.twins:
        words += ["--variable", name]
    for option, lengths in (("--chunks", layout.chunks), ("--shards", layout.shards)):
        if lengths:
            pairs = zip(advice.variable.dims, lengths, strict=True)
            words += [option, ",".join(f"{dim}={n}" for dim, n in pairs)]
    level = layout.effective_level
    words += ["--codec", f"{layout.codec or 'none'}{f':{level}' if level else ''}"]
    words += ["--shuffle" if layout.shuffle else "--no-shuffle"] if layout.codec else []
    words += ["--pages", str(layout.page_bytes)] if layout.page_bytes else []
    words += ["--leave-out"] if advice.unkept else []
    return shlex.join(words)


def _nccopy(layout: Layout, names: tuple[str, ...], address: str, out: str) -> str:
    if layout.codec not in (None, "deflate", "zstd") or layout.chunks is None:
        return ""
    words = ["nccopy", "-k", "nc4" if layout.format == "netcdf4" else "nc7"]
    for name in names:
        words += ["-c", f"{_absolute(name)}:{','.join(map(str, layout.chunks))}"]
    if layout.codec == "deflate":
        words += ["-d", str(layout.effective_level), *(["-s"] if layout.shuffle else [])]
    elif layout.codec == "zstd":
        for name in names:
            words += ["-F", f"{_absolute(name)},{_HDF5_FILTERS['zstd']},{layout.effective_level}"]
    else:
        words += ["-d", "0"]
    return shlex.join([*words, address, out])


def _absolute(name: str) -> str:
    return f"/{name}" if "/" in name else name


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


def _to_netcdf(layout: Layout, names: tuple[str, ...], here: Place, out: str) -> list[str]:
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
    classic = "format='NETCDF4_CLASSIC', " if layout.format == "netcdf4-classic" else ""
    return [
        f"{here.imports('xarray as xr')}"
        f"ds = {here.xarray()}\n"
        f"own = {options!r}\n"
        f"for name in {list(names)!r}:\n"
        "    ds[name].encoding = {}\n"
        f"ds.to_netcdf({out!r}, engine='netcdf4', {classic}"
        f"encoding=dict.fromkeys({list(names)!r}, own))"
    ]


def _to_zarr(layout: Layout, names: tuple[str, ...], here: Place, out: str) -> list[str]:
    unit = layout.shards or layout.chunks
    parts = [f"'chunks': {layout.chunks!r}"] if layout.chunks else []
    if layout.shards:
        parts.append(f"'shards': {layout.shards!r}")
    imports = ["xarray as xr"]
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
        imports.append("zarr")
    # The names that xarray gives dimensions which have none in the file are its own.
    rechunked = f"ds = ds.chunk(dict(zip(ds[{names[0]!r}].dims, {unit!r})))\n" if unit else ""
    return [
        f"{here.imports(*imports)}"
        f"ds = {here.xarray()}\n"
        f"for name in ds.variables:\n"
        "    ds[name].encoding = {}\n"
        f"{rechunked}"
        f"ds.to_zarr({out!r}, zarr_format={layout.format[-1]}, "
        f"encoding={{name: {{{', '.join(parts)}}} for name in {list(names)!r}}})"
    ]


def reading(advice: Advice) -> Place:
    """Return where the file is when it is read: behind a URL of the user's, where it is far."""
    asked = advice.question
    address, name = asked.url or asked.address, Path(asked.address).name
    if advice.where.link is not None and not is_url(address):
        lead = f"url = {f's3://bucket/{name}'!r}  # its own address at the store\n"
        return Place("url", advice.format, True, lead)
    return Place(repr(address), advice.format, is_url(address))


def _remedy(advice: Advice, found: Candidate) -> list[str]:
    asked, there = advice.question, reading(advice)
    address, name = asked.address, advice.variable.name
    beside = Path(address).name
    if found.remedy == "index":
        group = name.rpartition("/")[0]
        index, where = f"{beside}.subchunk", f", group={group!r}" if group else ""
        if is_url(address):
            where += f", index={index!r}"
        elif there.far:
            where += f", index={f'{address}.subchunk'!r}"
        return [
            shlex.join(["hyperslab", "index", address]),
            f"import xarray as xr\n{there.lead}"
            f"ds = xr.open_dataset({there.address}, engine='subchunk'{where})",
        ]
    if found.remedy == "h5py":
        return [f"{there.imports('h5py')}values = {there.h5py()}[{name!r}]"]
    if found.remedy == "references":
        return [
            "from hyperslab.access.references import read, write\n"
            f"import xarray as xr\n{there.lead}"
            f"write({_copy(address)!r})  # a copy of the file on this machine\n"
            f"ds = xr.open_dataset(read({_copy(address)!r}, {there.address}), engine='kerchunk')"
        ]
    if found.library == "h5py":
        options = f", rdcc_nbytes={found.cache_bytes}"
        return [f"{there.imports('h5py')}file = {there.h5py(options)}"]
    return [
        f"import netCDF4\n{there.lead}file = {there.netcdf4()}\n"
        f"file[{name!r}].set_var_chunk_cache(size={found.cache_bytes})"
    ]


def _copy(address: str) -> str:
    return Path(address).name if is_url(address) else address
