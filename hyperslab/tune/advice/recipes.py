"""The commands that apply a piece of advice, to be pasted into a shell or Python."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from hyperslab.io.layout import CLASSIC, NETCDF4, ZARR, Layout
from hyperslab.io.sources.base import is_url

from .advised import Row
from .candidates import Candidate, name_of
from .question import Subject

_ZSTD = 32015  # as registered with the HDF Group


def commands(subject: Subject, row: Row) -> list[str]:
    """Return what applies one row of an advice, a command or a piece of Python each.

    xarray opens a group at a time: what has groups is left to the tools that copy all of it.
    """
    layout, address = row.candidate.layout, subject.question.address
    if row.candidate.remedy:
        return _remedy(subject, row.candidate)
    out, near = output_name(address, layout), not is_url(address)
    here = _Opening(repr(address), subject.format, is_url(address))
    made = [rechunk(subject, layout)]
    if near and layout.format in NETCDF4 and subject.format in (*CLASSIC, *NETCDF4):
        made.append(_nccopy(layout, subject.twins, address, out))
    elif near and layout.format == "hdf5" and subject.format in (*NETCDF4, "hdf5"):
        made.append(_h5repack(layout, subject.twins, address, out))
    if not subject.grouped and layout.format in NETCDF4:
        made.append(_to_netcdf(layout, subject.twins, here, out))
    elif not subject.grouped and layout.format in ("zarr2", "zarr3"):
        made.append(_to_zarr(layout, subject.twins, here, out))
    return [one for one in made if one]


def rechunk(subject: Subject, layout: Layout) -> str:
    """Return the line that rewrites the file in a layout with this program."""
    address = subject.question.address
    words = ["hyperslab", "rechunk", address, output_name(address, layout)]
    words += ["--format", layout.format]
    for name in subject.twins:
        words += ["--variable", name]
    for option, lengths in (("--chunks", layout.chunks), ("--shards", layout.shards)):
        if lengths:
            pairs = zip(subject.variable.dims, lengths, strict=True)
            words += [option, ",".join(f"{dim}={n}" for dim, n in pairs)]
    level = layout.effective_level
    words += ["--codec", f"{layout.codec or 'none'}{f':{level}' if level else ''}"]
    words += ["--shuffle" if layout.shuffle else "--no-shuffle"] if layout.codec else []
    words += ["--pages", str(layout.page_bytes)] if layout.page_bytes else []
    words += ["--leave-out"] if subject.unkept else []
    return shlex.join(words)


def output_name(address: str, layout: Layout) -> str:
    """Return a name for a copy: the file's own, with what is new about it."""
    stem = Path(address.rstrip("/")).name
    stem = stem.rpartition(".")[0] or stem
    words = name_of(layout).removeprefix("zarr3 ").replace(":", "").split()
    return f"{'-'.join([stem, *words])}{layout.suffix}"


@dataclass(frozen=True)
class _Opening:
    """How Python opens a file: a quoted path or URL, or a name that `lead` gives a value."""

    address: str
    format: str
    far: bool = False
    lead: str = ""  # lines that come before

    def h5py(self, options: str = "") -> str:
        opened = f"fsspec.open({self.address}).open()" if self.far else self.address
        return f"h5py.File({opened}{options})"

    def netcdf4(self) -> str:
        mode = " + '#mode=bytes'" if self.far else ""
        return f"netCDF4.Dataset({self.address}{mode})"

    def xarray(self) -> str:
        """Return the expression that opens it as it is stored."""
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


def _nccopy(layout: Layout, names: tuple[str, ...], address: str, out: str) -> str:
    if layout.codec not in (None, "deflate", "zstd") or layout.chunks is None:
        return ""
    words = ["nccopy", "-k", "nc4" if layout.format == "netcdf4" else "nc7"]
    paths = [f"/{name}" if "/" in name else name for name in names]
    for path in paths:
        words += ["-c", f"{path}:{','.join(map(str, layout.chunks))}"]
    if layout.codec == "zstd":
        for path in paths:
            words += ["-F", f"{path},{_ZSTD},{layout.effective_level}"]
    else:
        words += ["-d", str(layout.effective_level or 0), *(["-s"] if layout.shuffle else [])]
    return shlex.join([*words, address, out])


def _h5repack(layout: Layout, names: tuple[str, ...], address: str, out: str) -> str:
    if layout.codec not in (None, "deflate") or layout.chunks is None:
        return ""
    listed = ",".join(names)
    filters = [f"GZIP={layout.effective_level}"] if layout.codec else ["NONE"]
    words = ["h5repack", "-l", f"{listed}:CHUNK={'x'.join(map(str, layout.chunks))}"]
    for one in (["SHUF"] if layout.shuffle else []) + filters:
        words += ["-f", f"{listed}:{one}"]
    if layout.page_bytes:
        words += ["-S", "PAGE", "-G", str(layout.page_bytes)]
    return shlex.join([*words, address, out])


def _to_netcdf(layout: Layout, names: tuple[str, ...], here: _Opening, out: str) -> str:
    options: dict[str, object] = {"chunksizes": layout.chunks}
    if layout.chunks is None:
        options = {"contiguous": True}
    if layout.codec:
        known = {"deflate": "zlib", "blosc-lz4": "blosc_lz4", "blosc-zstd": "blosc_zstd"}
        options["compression"] = known.get(layout.codec, layout.codec)
        options |= {"complevel": layout.effective_level} if layout.effective_level else {}
        if layout.codec.startswith("blosc"):
            options["blosc_shuffle"] = int(layout.shuffle)
        elif layout.codec == "deflate":
            options["shuffle"] = layout.shuffle
    else:
        options["zlib"] = False
    classic = "format='NETCDF4_CLASSIC', " if layout.format == "netcdf4-classic" else ""
    return (
        f"{here.imports('xarray as xr')}"
        f"ds = {here.xarray()}\n"
        f"own = {options!r}\n"
        f"for name in {list(names)!r}:\n"
        "    ds[name].encoding = {}\n"
        f"ds.to_netcdf({out!r}, engine='netcdf4', {classic}"
        f"encoding=dict.fromkeys({list(names)!r}, own))"
    )


def _to_zarr(layout: Layout, names: tuple[str, ...], here: _Opening, out: str) -> str:
    unit = layout.shards or layout.chunks
    parts = [f"'chunks': {layout.chunks!r}"] if layout.chunks else []
    parts += [f"'shards': {layout.shards!r}"] if layout.shards else []
    imports = ["xarray as xr"]
    if layout.format == "zarr3":
        imports.append("zarr")
        level, kind = layout.effective_level, (layout.codec or "").removeprefix("blosc-")
        shuffle = "shuffle" if layout.shuffle else "noshuffle"
        made = {
            None: "None",
            "deflate": f"zarr.codecs.GzipCodec(level={level})",
            "zstd": f"zarr.codecs.ZstdCodec(level={level})",
        }
        blosc = f"zarr.codecs.BloscCodec(cname={kind!r}, clevel={level}, shuffle={shuffle!r})"
        parts.append(f"'compressors': {made.get(layout.codec, blosc)}")
    # The names that xarray gives dimensions which have none in the file are its own.
    rechunked = f"ds = ds.chunk(dict(zip(ds[{names[0]!r}].dims, {unit!r})))\n" if unit else ""
    return (
        f"{here.imports(*imports)}"
        f"ds = {here.xarray()}\n"
        f"for name in ds.variables:\n"
        "    ds[name].encoding = {}\n"
        f"{rechunked}"
        f"ds.to_zarr({out!r}, zarr_format={layout.format[-1]}, "
        f"encoding={{name: {{{', '.join(parts)}}} for name in {list(names)!r}}})"
    )


def _reading(subject: Subject) -> _Opening:
    """Return where the file is when it is read: behind a URL of the user's, where it is far."""
    asked = subject.question
    address, name = asked.url or asked.address, Path(asked.address).name
    if asked.link is not None and not is_url(address):
        lead = f"url = {f's3://bucket/{name}'!r}  # its own address at the store\n"
        return _Opening("url", subject.format, True, lead)
    return _Opening(repr(address), subject.format, is_url(address))


def _remedy(subject: Subject, found: Candidate) -> list[str]:
    there, address, name = _reading(subject), subject.question.address, subject.variable.name
    if found.remedy == "index":
        group, index = name.rpartition("/")[0], f"{address}.subchunk"
        options = f", group={group!r}" if group else ""
        if is_url(address):
            index = Path(index).name
        if there.far:
            options += f", index={index!r}"
        return [
            shlex.join(["hyperslab", "index", address]),
            f"import xarray as xr\n{there.lead}"
            f"ds = xr.open_dataset({there.address}, engine='subchunk'{options})",
        ]
    if found.remedy == "h5py":
        return [f"{there.imports('h5py')}values = {there.h5py()}[{name!r}]"]
    if found.remedy == "references":
        copy = Path(address).name if is_url(address) else address
        return [
            "from hyperslab.io.references import read, write\n"
            f"import xarray as xr\n{there.lead}"
            f"write({copy!r})  # a copy of the file on this machine\n"
            f"ds = xr.open_dataset(read({copy!r}, {there.address}), engine='kerchunk')"
        ]
    if found.library == "h5py":
        return [f"{there.imports('h5py')}file = {there.h5py(f', rdcc_nbytes={found.cache_bytes}')}"]
    return [
        f"import netCDF4\n{there.lead}file = {there.netcdf4()}\n"
        f"file[{name!r}].set_var_chunk_cache(size={found.cache_bytes})"
    ]
