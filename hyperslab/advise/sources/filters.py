"""How an HDF5 dataset is stored: chunks, filters and bytes, in words and as a layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import h5py

from hyperslab.io.by_h5py import find_plugins

from .base import layout_of
from .kinds import order

DEFLATE, SHUFFLE, FLETCHER32, SZIP = 1, 2, 3, 4
BZIP2, LZF, BLOSC, ZSTD = 307, 32000, 32001, 32015
_NAMES = {
    DEFLATE: "deflate", SHUFFLE: "shuffle", FLETCHER32: "fletcher32", SZIP: "szip", 5: "nbit",
    6: "scale-offset", BZIP2: "bzip2", LZF: "lzf", BLOSC: "blosc", 32004: "lz4",
    32008: "bitshuffle", 32013: "zfp", ZSTD: "zstd", 32017: "sz", 32026: "blosc2",
}  # fmt: skip
_BLOSC = {0: "blosclz", 1: "lz4", 2: "lz4hc", 3: "snappy", 4: "zlib", 5: "zstd"}


@dataclass(frozen=True)
class Stored:
    """How one dataset is stored.

    Parameters
    ----------
    chunks
        Lengths of a chunk, in elements; None for contiguous.
    codec
        Its filters in words.
    byteorder
        "little" or "big".
    nbytes
        Bytes of its values in the file.
    fields
        Choices of a `Layout` that say the same; None when a filter has no word there.
    missing
        The filters that no library here can undo, in words; "" for none.
    netcdf_reads
        Whether netCDF-C has all of the filters.
    """

    chunks: tuple[int, ...] | None
    codec: str
    byteorder: str
    nbytes: int
    fields: dict[str, Any] | None
    missing: str
    netcdf_reads: bool

    def layout(self, format: str) -> Any:
        """Return it as a layout of a format, where one can say it."""
        return None if self.fields is None else layout_of(format, **self.fields)


def stored(dataset: Any) -> Stored:
    """Look up how a dataset of an open file is stored.

    Parameters
    ----------
    dataset : h5py.Dataset
    """
    find_plugins()
    creation = dataset.id.get_create_plist()
    filters = {}
    for n in range(creation.get_nfilters()):
        code, _, values, name = creation.get_filter(n)
        filters[int(code)] = (tuple(values), name.decode(errors="replace"))
    last = (SHUFFLE, FLETCHER32)
    words = [_word(code, *filters[code]) for code in sorted(filters, key=last.__contains__)]
    missing = [
        f"{_NAMES.get(code, name or 'unknown')} (filter {code})"
        for code, (_, name) in filters.items()
        if not h5py.h5z.filter_avail(code)
    ]
    chunks = dataset.chunks
    return Stored(
        None if chunks is None else tuple(int(n) for n in chunks),
        ", ".join(words),
        order(dataset.dtype),
        int(dataset.id.get_storage_size()),
        _fields(chunks, filters, dataset),
        ", ".join(missing),
        LZF not in filters and not missing,
    )


def _word(code: int, values: tuple[int, ...], name: str) -> str:
    word = _NAMES.get(code, name or f"filter {code}")
    if code == BLOSC and len(values) > 6:
        shuffle = ", shuffle" if values[5] else ""
        return f"blosc-{_BLOSC.get(values[6], '?')} {values[4]}{shuffle}"
    return f"{word} {values[0]}" if code in (DEFLATE, BZIP2, ZSTD) and values else word


def _fields(
    chunks: tuple[int, ...] | None, filters: dict[int, tuple[tuple[int, ...], str]], dataset: Any
) -> dict[str, Any] | None:
    fields: dict[str, Any] = {
        "chunks": chunks,
        "byteorder": order(dataset.dtype) if dataset.dtype.itemsize > 1 else "native",
        "shuffle": SHUFFLE in filters,
        "fletcher32": FLETCHER32 in filters,
    }
    codecs = [code for code in filters if code not in (SHUFFLE, FLETCHER32)]
    if not codecs:
        return fields | {"shuffle": False}
    if len(codecs) > 1 or codecs[0] not in (DEFLATE, SZIP, BZIP2, LZF, BLOSC, ZSTD):
        return None
    code = codecs[0]
    values = filters[code][0]
    if code == BLOSC:
        if len(values) < 7 or _BLOSC.get(values[6]) not in ("lz4", "zstd"):
            return None
        codec = f"blosc-{_BLOSC[values[6]]}"
        return fields | {"codec": codec, "level": values[4] or None, "shuffle": bool(values[5])}
    level = values[0] if values and code in (DEFLATE, BZIP2, ZSTD) else None
    return fields | {"codec": _NAMES[code], "level": level or None}
