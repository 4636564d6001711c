"""The commands that apply a piece of advice, to be pasted into a shell or Python."""

from __future__ import annotations

import shlex
from pathlib import Path

from hyperslab.io.layout import Layout
from hyperslab.io.sources.base import is_url

from .candidates import Candidate, name_of
from .question import Subject


def commands(subject: Subject, candidate: Candidate) -> list[str]:
    """Return what applies a candidate, a command or a piece of Python each."""
    if candidate.remedy:
        return _remedy(subject, candidate)
    return [rechunk(subject, candidate.layout)]


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


def _remedy(subject: Subject, found: Candidate) -> list[str]:
    """Return what applies a remedy, to the file where it is read: at a URL, where it is far."""
    asked, name = subject.question, subject.variable.name
    copy = Path(asked.address).name if is_url(asked.address) else asked.address
    address = asked.url or asked.address
    far = asked.link is not None or is_url(address)
    if far and not is_url(address):
        address = f"s3://bucket/{Path(copy).name}"
    there, lead = repr(address), "import fsspec\n" if far else ""
    opened = f"fsspec.open({there}).open()" if far else there
    if found.remedy == "index":
        group = name.rpartition("/")[0]
        options = f", group={group!r}" if group else ""
        options += f", index={f'{copy}.subchunk'!r}" if far else ""
        return [
            shlex.join(["hyperslab", "index", asked.address]),
            f"import xarray as xr\nds = xr.open_dataset({there}, engine='subchunk'{options})",
        ]
    if found.remedy == "h5py":
        return [f"{lead}import h5py\nvalues = h5py.File({opened})[{name!r}]"]
    if found.remedy == "references":
        return [
            "from hyperslab.io.references import read, write\nimport xarray as xr\n"
            f"write({copy!r})  # a copy of the file on this machine\n"
            f"ds = xr.open_dataset(read({copy!r}, {there}), engine='kerchunk')"
        ]
    if found.library == "h5py":
        return [f"{lead}import h5py\nfile = h5py.File({opened}, rdcc_nbytes={found.cache_bytes})"]
    mode = " + '#mode=bytes'" if far else ""
    return [
        f"import netCDF4\nfile = netCDF4.Dataset({there}{mode})\n"
        f"file[{name!r}].set_var_chunk_cache(size={found.cache_bytes})"
    ]
