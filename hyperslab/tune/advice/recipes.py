"""The commands that apply a piece of advice, to be pasted into a shell or Python."""

from __future__ import annotations

import shlex
from pathlib import Path

from hyperslab.io.layout import CLASSIC, NETCDF4, ZARR, Layout
from hyperslab.io.sources.base import is_url

from .candidates import Candidate, name_of
from .question import Subject

_ZSTD = 32015  # as registered with the HDF Group


def commands(subject: Subject, candidate: Candidate) -> list[str]:
    """Return what applies a candidate, a command or a piece of Python each.

    xarray opens a group at a time: what has groups is left to the tools that copy all of it.
    """
    layout, own = candidate.layout, (*CLASSIC, *NETCDF4)
    if candidate.remedy:
        return _remedy(subject, candidate)
    made = [rechunk(subject, layout)]
    if layout.format in NETCDF4 and subject.format in own and not is_url(subject.question.address):
        made += _nccopy(subject, layout)
    elif layout.format in ("zarr2", "zarr3") and not subject.grouped:
        made.append(_to_zarr(subject, layout))
    return made


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


def _nccopy(subject: Subject, layout: Layout) -> list[str]:
    if layout.codec not in (None, "deflate", "zstd") or layout.chunks is None:
        return []
    words = ["nccopy", "-k", "nc4" if layout.format == "netcdf4" else "nc7"]
    paths = [f"/{name}" if "/" in name else name for name in subject.twins]
    for path in paths:
        words += ["-c", f"{path}:{','.join(map(str, layout.chunks))}"]
    if layout.codec == "zstd":
        for path in paths:
            words += ["-F", f"{path},{_ZSTD},{layout.effective_level}"]
    else:
        words += ["-d", str(layout.effective_level or 0), *(["-s"] if layout.shuffle else [])]
    address = subject.question.address
    return [shlex.join([*words, address, output_name(address, layout)])]


def _to_zarr(subject: Subject, layout: Layout) -> str:
    """Return Python that writes the variables it can open as Zarr, by xarray."""
    address, names, unit = subject.question.address, subject.twins, layout.shards or layout.chunks
    far = is_url(address) and subject.format not in ZARR
    imports = [*(["fsspec"] if far else []), "xarray as xr"]
    parts = [f"'chunks': {layout.chunks!r}"] if layout.chunks else []
    parts += [f"'shards': {layout.shards!r}"] if layout.shards else []
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
    opened, engine = repr(address), ""
    if subject.format in ZARR:
        engine = ", engine='zarr'" if subject.format != "nczarr" else ""
    elif far and subject.format in CLASSIC:
        opened, engine = f"fsspec.open_local('simplecache::' + {opened})", ", engine='netcdf4'"
    elif far or subject.format == "hdf5":
        # netCDF-C reads neither every filter of HDF5 nor every server.
        opened = f"fsspec.open({opened}).open()" if far else opened
        engine = ", engine='h5netcdf', phony_dims='sort'"
    # The names that xarray gives dimensions which have none in the file are its own.
    rechunked = f"ds = ds.chunk(dict(zip(ds[{names[0]!r}].dims, {unit!r})))\n" if unit else ""
    imported = "".join(f"import {one}\n" for one in imports)
    return (
        f"{imported}ds = xr.open_dataset({opened}{engine}, "
        "mask_and_scale=False, decode_times=False, chunks={})\n"
        f"for name in ds.variables:\n"
        "    ds[name].encoding = {}\n"
        f"{rechunked}"
        f"ds.to_zarr({output_name(address, layout)!r}, zarr_format={layout.format[-1]}, "
        f"encoding={{name: {{{', '.join(parts)}}} for name in {list(names)!r}}})"
    )


def _remedy(subject: Subject, found: Candidate) -> list[str]:
    """Return what applies a remedy, to the file where it is read: at a URL, where it is far."""
    asked, name = subject.question, subject.variable.name
    copy = Path(asked.address).name if is_url(asked.address) else asked.address
    address = asked.url or asked.address
    there, lead, far = repr(address), "", asked.link is not None or is_url(address)
    if far and not is_url(address):
        url = f"s3://bucket/{Path(copy).name}"
        there, lead = "url", f"url = {url!r}  # its own address at the store\n"
    fsspec, opened = ("import fsspec\n", f"fsspec.open({there}).open()") if far else ("", there)
    h5py = f"{fsspec}import h5py\n{lead}"
    if found.remedy == "index":
        group = name.rpartition("/")[0]
        options = f", group={group!r}" if group else ""
        options += f", index={f'{copy}.subchunk'!r}" if far else ""
        return [
            shlex.join(["hyperslab", "index", asked.address]),
            f"import xarray as xr\n{lead}"
            f"ds = xr.open_dataset({there}, engine='subchunk'{options})",
        ]
    if found.remedy == "h5py":
        return [f"{h5py}values = h5py.File({opened})[{name!r}]"]
    if found.remedy == "references":
        return [
            "from hyperslab.io.references import read, write\n"
            f"import xarray as xr\n{lead}"
            f"write({copy!r})  # a copy of the file on this machine\n"
            f"ds = xr.open_dataset(read({copy!r}, {there}), engine='kerchunk')"
        ]
    if found.library == "h5py":
        return [f"{h5py}file = h5py.File({opened}, rdcc_nbytes={found.cache_bytes})"]
    mode = " + '#mode=bytes'" if far else ""
    return [
        f"import netCDF4\n{lead}file = netCDF4.Dataset({there}{mode})\n"
        f"file[{name!r}].set_var_chunk_cache(size={found.cache_bytes})"
    ]
