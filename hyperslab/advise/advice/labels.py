"""The names of layouts in tables, and the layouts that names say."""

from __future__ import annotations

import re

from hyperslab.io.layout import CHUNKED, NETCDF4, ZARR, Layout

_LABEL = re.compile(
    r"(?:(?P<format>netcdf4-classic|netcdf4|hdf5|zarr2|zarr3|nczarr) )?"
    r"(?P<chunks>\d+(?:x\d+)*|contiguous)"
    r"(?: (?P<codec>deflate|zstd|blosc-lz4|blosc-zstd|lzf|bzip2|szip)(?::(?P<level>\d+))?)?"
    r"(?P<shuffle> shuffle)?(?: shards (?P<shards>\d+(?:x\d+)*))?(?: pages of (?P<pages>\d+) MiB)?"
)


def name_of(layout: Layout, own_format: str = "") -> str:
    """Return a label: chunks, codec and what else was chosen.

    Parameters
    ----------
    layout
        To be named.
    own_format
        Of the file: netCDF-4 and HDF5 are named where they are not that.

    Examples
    --------
    >>> name_of(Layout("netcdf4", (72, 20, 20), "deflate", 1, shuffle=True))
    '72x20x20 deflate:1 shuffle'
    >>> name_of(Layout("zarr3", (9, 9), "zstd", 3, shards=(90, 90)))
    'zarr3 9x9 zstd:3 shards 90x90'
    >>> name_of(Layout("hdf5", (9, 9)), "netcdf4")
    'hdf5 9x9'
    """
    hdf5 = layout.format in (*NETCDF4, "hdf5")
    unsaid = hdf5 and (layout.page_bytes or layout.format == (own_format or layout.format))
    words = [] if unsaid else [layout.format]
    words.append("x".join(map(str, layout.chunks)) if layout.chunks else "contiguous")
    if layout.codec:
        level = layout.effective_level
        words.append(f"{layout.codec}:{level}" if level else layout.codec)
        words += ["shuffle"] if layout.shuffle else []
    if layout.shards:
        words.append("shards " + "x".join(map(str, layout.shards)))
    if layout.page_bytes:
        words.append(f"pages of {layout.page_bytes >> 20} MiB")
    return " ".join(words)


def named(text: str, own_format: str) -> Layout:
    """Return the layout that a label of `name_of` says.

    Parameters
    ----------
    text
        The label.
    own_format
        Format of the file, where the label says none (netCDF-4 and HDF5).

    Raises
    ------
    ValueError
        When it is no such label.

    Examples
    --------
    >>> named("72x20x20 deflate:1 shuffle", "netcdf4")  # doctest: +ELLIPSIS
    Layout(format='netcdf4', chunks=(72, 20, 20), codec='deflate', level=1, shuffle=True, ...)
    >>> name_of(named("zarr3 9x9 zstd:3 shards 90x90", "netcdf4"))
    'zarr3 9x9 zstd:3 shards 90x90'
    """
    found = _LABEL.fullmatch(text.strip())
    if not found:
        raise ValueError(f"no layout {text!r}: give one as the report writes it")
    chunks, shards, pages = found["chunks"], found["shards"], found["pages"]
    own = own_format if own_format in CHUNKED and own_format not in ZARR else "netcdf4"
    return Layout(
        "hdf5" if pages else found["format"] or own,
        None if chunks == "contiguous" else tuple(map(int, chunks.split("x"))),
        found["codec"],
        int(found["level"]) if found["level"] else None,
        bool(found["shuffle"]),
        shards=tuple(map(int, shards.split("x"))) if shards else None,
        page_bytes=int(pages) << 20 if pages else None,
    )
