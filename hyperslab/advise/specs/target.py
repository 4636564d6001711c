"""The layouts that a file is tried in: what each variable becomes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from hyperslab.io.layout import CHUNKED, CLASSIC, FORMATS, ZARR, Layout

from .codec import SAME, kept_codec
from .defaults import default_chunks
from .fitting import growing

DEFAULT, CONTIGUOUS = "default", "contiguous"
CHUNK_WORDS = (SAME, DEFAULT, CONTIGUOUS)
Chunks: TypeAlias = str | tuple[int, ...] | tuple[tuple[str, int], ...]


class Described(Protocol):
    """A variable of a file, as far as its layout and its patterns of access depend on it."""

    @property
    def name(self) -> str: ...
    @property
    def dims(self) -> tuple[str, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def unlimited(self) -> tuple[str, ...]: ...
    @property
    def attrs(self) -> Mapping[str, object]: ...
    @property
    def chunks(self) -> tuple[int, ...] | None: ...
    @property
    def codec(self) -> str: ...
    @property
    def layout(self) -> Layout | None: ...


@dataclass(frozen=True)
class Choice:
    """What is chosen for a variable; what is not chosen stays as it is in the file.

    Parameters
    ----------
    chunks
        "same", "default" (what the library picks when it must chunk), "contiguous", one length
        for each axis, or pairs of a dimension and a length: dimensions not named keep theirs.
    codec
        "same", "none", or one of `hyperslab.io.CODECS`.
    level
        Level of the codec; None takes its default.
    shuffle
        None leaves it.
    quantize
        Mode ("bitgroom", "granular_bitround" or "bitround") with its digits or bits; None leaves
        values as they are.
    shards
        Length of a shard along each axis, whole chunks (Zarr 3); None for none.

    Examples
    --------
    >>> Choice(chunks=(1, 721, 1440), codec="zstd", level=3).level
    3
    """

    chunks: Chunks = SAME
    codec: str = SAME
    level: int | None = None
    shuffle: bool | None = None
    quantize: tuple[str, int] | None = None
    shards: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Target:
    """One layout of a whole file, to be written, timed and compared with others.

    Parameters
    ----------
    name
        Its label in tables; unique among the targets of a run.
    format
        One of `hyperslab.io.FORMATS`.
    choice
        For every variable without one of its own.
    each
        Pairs of a variable's name and its own choice.
    byteorder
        "native", "little" or "big".
    cache_bytes
        Chunk cache, in bytes, that the copy is written and read through; None keeps the library's.
    page_bytes
        Pages that an HDF5 file is laid out in; None for none.

    Raises
    ------
    ValueError
        For a format or byte order that does not exist, or a negative cache.

    Source: the options -f, -c and -e of bm_file (netCDF-C 4.6.2, Improving Performance with
    Chunking).

    Examples
    --------
    >>> Target("default chunks", "netcdf4", Choice(chunks="default")).cache_bytes is None
    True
    """

    name: str
    format: str = "netcdf4"
    choice: Choice = Choice()
    each: tuple[tuple[str, Choice], ...] = ()
    byteorder: str = "native"
    cache_bytes: int | None = None
    page_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.format not in FORMATS or self.format == "binary":
            known = ", ".join(name for name in FORMATS if name != "binary")
            raise ValueError(f"format {self.format!r}: give one of {known}")
        if self.cache_bytes is not None and self.cache_bytes < 0:
            raise ValueError(f"cache of {self.cache_bytes} bytes: give at least 0")

    def layouts(self, variables: Sequence[Described]) -> dict[str, Layout]:
        """Return the layout of each variable.

        Raises
        ------
        ValueError
            When a choice does not fit a variable: a chunk longer than its dimension, lengths for
            another number of axes, a dimension that no variable has, a codec that the format has
            not.
        """
        own = dict(self.each)
        if unknown := own.keys() - {v.name for v in variables}:
            raise ValueError(
                f"{self.name}: no variable {', '.join(sorted(unknown))} is copied: "
                f"give one of {', '.join(v.name for v in variables)}"
            )
        self._check_fit(variables)
        floats = any(v.dtype.startswith("f") for v in variables)
        if self.choice.quantize is not None and not floats:
            listed = ", ".join(f"{v.name} ({v.dtype})" for v in variables[:4])
            raise ValueError(f"{self.name}: only floats can be quantized, not {listed}")
        grows = growing(variables, self.format)
        return {v.name: self._layout(v, own.get(v.name, self.choice), grows) for v in variables}

    def _check_fit(self, variables: Sequence[Described]) -> None:
        """Refuse chunks that would touch no variable at all."""
        chunks = self.choice.chunks
        own = dict(self.each)
        rest = [v for v in variables if v.name not in own]
        if isinstance(chunks, str) or not rest:
            return
        if lengths := _lengths(chunks):
            if all(len(v.shape) != len(lengths) for v in rest):
                shapes = "; ".join(f"{v.name} ({_shown(v)})" for v in rest[:4])
                raise ValueError(
                    f"{self.name}: {len(lengths)} chunk lengths fit no variable ({shapes}): "
                    "give one length for each dimension"
                )
            return
        known = {dim for v in rest for dim in v.dims}
        if lacking := [dim for dim in _pairs(chunks) if dim not in known]:
            raise ValueError(
                f"{self.name}: no variable has a dimension {', '.join(lacking)}: "
                f"give some of {', '.join(sorted(known))}"
            )

    def _layout(self, variable: Described, choice: Choice, grows: set[str]) -> Layout:
        if not variable.shape:
            order = self._byteorder(variable)
            return Layout(self.format, byteorder=order, page_bytes=self.page_bytes)
        codec, level, shuffle = kept_codec(variable, choice, self.format)
        chunks = self._chunks(variable, choice, codec, grows)
        fields: dict[str, Any] = {"chunks": chunks, "codec": codec, "level": level}
        if choice.quantize is not None and variable.dtype.startswith("f"):
            fields["quantize"] = choice.quantize
        stored = variable.layout
        if stored is not None and stored.format == self.format:
            fields["shards"] = stored.shards if choice.chunks == SAME else None
            fields["fletcher32"] = stored.fletcher32 and chunks is not None
        if choice.shards is not None:
            fields["shards"] = choice.shards
        try:
            return Layout(
                self.format,
                shuffle=shuffle,
                page_bytes=self.page_bytes,
                byteorder=self._byteorder(variable),
                prefill=self.format not in CLASSIC,  # every value is written: none is filled first
                **fields,
            )
        except ValueError as error:
            raise ValueError(f"{self.name}: {variable.name}: {error}") from error

    def _byteorder(self, variable: Described) -> str:
        stored = variable.layout if self.format not in CLASSIC else None
        if self.byteorder == "native" and stored is not None and stored.format == self.format:
            return "native" if stored.byteorder == sys.byteorder else stored.byteorder
        return self.byteorder

    def _chunks(
        self, variable: Described, choice: Choice, codec: str | None, grows: set[str]
    ) -> tuple[int, ...] | None:
        chunks = choice.chunks
        if self.format not in CHUNKED and isinstance(chunks, str):
            return None
        axes = [axis for axis, dim in enumerate(variable.dims) if dim in grows]
        must = bool(axes) and self.format not in ZARR
        if chunks == CONTIGUOUS:
            if must or (codec is not None and self.format not in ZARR):
                why = "can grow" if must else f"is compressed with {codec}"
                raise ValueError(
                    f"{self.name}: {variable.name} {why}, so it needs chunks: "
                    "give chunks instead of contiguous"
                )
            return None
        lengths = () if isinstance(chunks, str) else _lengths(chunks)
        pairs = {} if isinstance(chunks, str) or lengths else _pairs(chunks)
        touched = len(lengths) == len(variable.shape) or bool(pairs.keys() & set(variable.dims))
        if dict(self.each).get(variable.name) is choice and lengths and not touched:
            raise ValueError(
                f"{self.name}: {len(lengths)} chunk lengths for {variable.name}, which has "
                f"{len(variable.shape)} dimensions ({_shown(variable)}): give one for each"
            )
        if chunks == DEFAULT or (not touched and variable.chunks is None):
            needed = chunks == DEFAULT or must or codec is not None or self.format in ZARR
            if not needed:
                return None
            return default_chunks(self.format, variable.shape, variable.dtype, axes)
        if not touched:
            return _fitting(variable, self.format, grows)
        if not lengths:
            kept = _fitting(variable, self.format, grows) or tuple(
                max(n, 1) for n in variable.shape
            )
            lengths = tuple(pairs.get(d, n) for d, n in zip(variable.dims, kept, strict=True))
        _check_lengths(self.name, variable, lengths, grows)
        return lengths

    def renamed(self, name: str) -> Target:
        """Return the same target under another name.

        Examples
        --------
        >>> Target("a").renamed("b").name
        'b'
        """
        return replace(self, name=name)


def _check_lengths(
    target: str, variable: Described, lengths: Sequence[int], grows: set[str]
) -> None:
    for dim, size, chunk in zip(variable.dims, variable.shape, lengths, strict=True):
        if chunk < 1:
            raise ValueError(
                f"{target}: a chunk of {chunk} along {dim} of {variable.name}: give at least 1"
            )
        if chunk > max(size, 1) and dim not in grows:
            raise ValueError(
                f"{target}: the dimension {dim} of {variable.name} has length {size}, and a "
                f"chunk of {chunk} is longer: give at most {size}"
            )


def _fitting(variable: Described, format: str, grows: set[str]) -> tuple[int, ...] | None:
    """Return the chunks as they are, cut to the dimensions that do not grow in the copy."""
    if variable.chunks is None or format not in CHUNKED:
        return None
    axes = zip(variable.dims, variable.chunks, variable.shape, strict=True)
    return tuple(chunk if dim in grows else min(chunk, max(n, 1)) for dim, chunk, n in axes)


def _lengths(chunks: Chunks) -> tuple[int, ...]:
    return tuple(n for n in chunks if isinstance(n, int))


def _pairs(chunks: Chunks) -> dict[str, int]:
    return {pair[0]: pair[1] for pair in chunks if isinstance(pair, tuple)}


def _shown(variable: Described) -> str:
    return ", ".join(f"{d} {n}" for d, n in zip(variable.dims, variable.shape, strict=True))
