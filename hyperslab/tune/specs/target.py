"""The layouts that a file is tried in: what each variable becomes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hyperslab.io.chunk_shapes import padded_bytes, picked_chunks
from hyperslab.io.file_plan import CLASSIC_DTYPES, plan
from hyperslab.io.layout import CHUNKED, CLASSIC, NETCDF4, ONE_GROWS, ZARR, Layout
from hyperslab.io.source import SourceVariable, flat, layout_of
from hyperslab.io.variable import Variable
from hyperslab.io.writing import by_group

COPY = "copy"  # the name of the layout that the file has
SAME, DEFAULT, CONTIGUOUS, AUTO = "same", "default", "contiguous", "auto"
CHUNK_WORDS = (SAME, DEFAULT, CONTIGUOUS, AUTO)
Chunks: TypeAlias = str | tuple[int, ...] | tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Choice:
    """What is chosen for a variable; what is not chosen stays as it is in the file."""

    chunks: Chunks = SAME
    codec: str = SAME  # "same", "none", or one of `hyperslab.io.CODECS`
    level: int | None = None  # level of the codec; None takes its default
    shuffle: bool | None = None  # none leaves it
    quantize: tuple[str, int] | None = None
    shards: tuple[int, ...] | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        """The chunk lengths where they are given for each axis; else ()."""
        return tuple(n for n in self.chunks if isinstance(n, int))

    @property
    def pairs(self) -> dict[str, int]:
        """The chunk lengths by dimension where they are given so; else {}."""
        return {pair[0]: pair[1] for pair in self.chunks if isinstance(pair, tuple)}


@dataclass(frozen=True)
class Target:
    """One layout of a whole file, to be written, timed and compared with others."""

    name: str  # its label in tables; unique among the targets of a run
    format: str = "netcdf4"  # one of `hyperslab.io.FORMATS`
    choice: Choice = Choice()  # for every variable without one of its own
    each: tuple[tuple[str, Choice], ...] = ()  # pairs of a variable's name and its own choice
    cache_bytes: int | None = None
    page_bytes: int | None = None  # pages that an HDF5 file is laid out in; None for none

    def layouts(self, variables: Sequence[SourceVariable]) -> dict[str, Layout]:
        """Return the layout of each variable; `fit` says whether a file can have them together."""
        own = dict(self.each)
        self._check_fit([v for v in variables if v.name not in own])
        if self.choice.quantize and not any(v.dtype.startswith("f") for v in variables):
            listed = ", ".join(f"{v.name} ({v.dtype})" for v in variables[:4])
            raise ValueError(f"{self.name}: only floats can be quantized, not {listed}")
        grows = growing(variables, self.format)
        return {v.name: self._layout(v, own.get(v.name), grows) for v in variables}

    def fit(self, variables: Sequence[SourceVariable], attrs: Mapping[str, object]) -> Fitted:
        """Return the definition of a copy in this layout, which an error names."""
        layouts = self.layouts(variables)
        try:
            return fit(variables, layouts, attrs)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def _check_fit(self, variables: Sequence[SourceVariable]) -> None:
        """Refuse chunks that would touch no variable at all."""
        lengths = self.choice.lengths
        if variables and lengths and all(len(v.shape) != len(lengths) for v in variables):
            raise ValueError(
                f"{self.name}: {len(lengths)} chunk lengths fit no variable "
                f"({shapes_of(variables)}): give one length for each dimension"
            )
        dims = {dim for v in variables for dim in v.dims}
        if variables and (lacking := [dim for dim in self.choice.pairs if dim not in dims]):
            raise ValueError(
                f"{self.name}: no variable has a dimension {', '.join(lacking)}: "
                f"give some of {', '.join(sorted(dims))}"
            )

    def _layout(self, variable: SourceVariable, own: Choice | None, grows: set[str]) -> Layout:
        """Return the layout of a variable, by its own choice or that of all."""
        choice, stored = own or self.choice, variable.layout
        if stored is not None and stored.format != self.format:
            stored = None
        order, classic = "native", self.format in CLASSIC
        if stored and not classic and stored.byteorder != sys.byteorder:
            order = stored.byteorder
        if not variable.shape:
            return Layout(self.format, byteorder=order, page_bytes=self.page_bytes)
        codec, level, shuffle = kept_codec(variable, choice, self.format)
        chunks = self._chunks(variable, choice, grows, packed=codec is not None)
        shards = choice.shards
        if stored and choice.chunks == SAME and shards is None:
            shards = stored.shards
        try:
            return Layout(
                self.format, chunks, codec, level, shuffle,
                fletcher32=stored is not None and stored.fletcher32 and chunks is not None,
                prefill=not classic,  # every value is written: none is filled
                byteorder=order,
                shards=shards,
                quantize=choice.quantize if variable.dtype.startswith("f") else None,
                page_bytes=self.page_bytes,
            )  # fmt: skip
        except ValueError as error:
            raise ValueError(f"{self.name}: {variable.name}: {error}") from error

    def _chunks(
        self, variable: SourceVariable, choice: Choice, grows: set[str], *, packed: bool
    ) -> tuple[int, ...] | None:
        """Return the chunk lengths that are chosen, else those of the file, else the library's."""
        chunks, dims, shape = choice.chunks, variable.dims, variable.shape
        if chunks == CONTIGUOUS or (self.format not in CHUNKED and isinstance(chunks, str)):
            return None
        if choice.lengths and len(choice.lengths) == len(shape):
            return choice.lengths
        present = None
        if variable.chunks and self.format in CHUNKED:  # cut where a dimension cannot grow
            own = zip(dims, variable.chunks, shape, strict=True)
            present = tuple(c if dim in grows else min(c, max(n, 1)) for dim, c, n in own)
        if choice.pairs.keys() & set(dims):
            rest = zip(dims, present or [max(n, 1) for n in shape], strict=True)
            return tuple(choice.pairs.get(dim, n) for dim, n in rest)
        if variable.chunks and chunks != DEFAULT:
            return present
        axes = frozenset(axis for axis, dim in enumerate(dims) if dim in grows)
        if chunks == DEFAULT or packed or axes or self.format in ZARR:
            return picked_chunks(self.format, shape, variable.dtype, axes)
        return None


@dataclass(frozen=True)
class Fitted:
    """A copy's definition; its notes say what is otherwise than in the file, a sentence each."""

    sources: tuple[SourceVariable, ...]
    variables: tuple[Variable, ...]  # the same as the copy has them
    layouts: Mapping[str, Layout]  # by name
    attrs: Mapping[str, object]
    notes: tuple[str, ...]
    lost: tuple[str, ...] = ()  # what a user may not want to lose

    @property
    def format(self) -> str:
        return self.layouts[self.sources[0].name].format

    @property
    def nbytes(self) -> int:
        return sum(variable.nbytes for variable in self.sources)

    @property
    def most_bytes(self) -> int:
        """Bytes that the copy takes at most, compression left aside."""
        return sum(map(self._padded, self.sources))

    @property
    def likely_bytes(self) -> int:
        """Bytes that the copy needs if codecs pack as now, new ones to a quarter."""
        total = 0
        for variable in self.sources:
            most = self._padded(variable)
            if self.layouts[variable.name].codec:
                stored = variable.stored_bytes if variable.codec else None
                most = min(most, most // 4 if stored is None else stored)
            total += most
        return total

    def _padded(self, variable: SourceVariable) -> int:
        chunks = self.layouts[variable.name].chunks
        if chunks and variable.shape:
            return padded_bytes(variable.shape, chunks, variable.itemsize)
        return variable.nbytes


def fit(
    variables: Sequence[SourceVariable], layouts: Mapping[str, Layout], attrs: Mapping[str, object]
) -> Fitted:
    """Make the definition of a copy, and check that its format can hold it."""
    format = layouts[variables[0].name].format
    notes: list[str] = []
    grows = growing(variables, format)
    fixed = {dim for v in variables for dim in v.unlimited} - grows
    if fixed and format not in ZARR:
        names = ", ".join(sorted(fixed))
        notes.append(f"of fixed length in the copy, since {format} cannot let it grow: {names}.")
    copied, missing = [], {}
    for v in variables:
        taken = _attrs(v.attrs, format)
        missing[v.name] = v.attrs.keys() - taken.keys()
        unlimited = tuple(dim for dim in v.unlimited if dim in grows)
        copied.append(Variable(v.name, v.dims, v.shape, v.dtype, taken, v.fill_value, unlimited))
    if nested := [v.name for v in variables if "/" in v.name and format in ONE_GROWS]:
        raise ValueError(f"{', '.join(nested[:5])} lie in groups, which {format} has not: take "
                         "netcdf4, hdf5 or zarr3, or name other variables")  # fmt: skip
    if format in (*NETCDF4, "nczarr") and any("/" in v.name for v in variables):
        notes.append("dimensions of groups lie in the root of the copy, where groups see them too.")
    named = {dim for v in variables for dim in v.dims if not dim.startswith("dim_")}
    coordinates = {v.name for v in variables if v.dims == (v.name,)}
    nameless = named & {v.name for v in variables} - coordinates if coordinates else named
    if format == "hdf5" and nameless:
        notes.append(f"dimensions have no name in hdf5: {', '.join(sorted(nameless))}.")
    renamed = [v.name for v in variables if "/" in v.name and v.dims == (flat(v.name),)]
    plan(copied, layouts, {}, None)
    kept_attrs: dict[str, object] = {}
    for path, mine in by_group(attrs).items():
        taken = {} if path and format in ONE_GROWS else _attrs(mine, format)
        missing[f"group {path}" if path else "the file"] = mine.keys() - taken.keys()
        kept_attrs |= {f"{path}/": taken} if path else taken
    lost = tuple(f"{name} is the coordinate of its group no more." for name in renamed) + tuple(
        f"{owner} loses {', '.join(sorted(names))}: {format} has no such attributes."
        for owner, names in missing.items()
        if names
    )
    return Fitted(tuple(variables), tuple(copied), dict(layouts), kept_attrs, tuple(notes), lost)


def growing(variables: Sequence[Variable], format: str) -> set[str]:
    """Return the dimensions that stay unlimited when variables are copied into a format."""
    dims = {dim for v in variables for dim in v.unlimited}
    inner = {dim for v in variables for dim in v.dims[1:]}
    if format in ZARR or (format in ONE_GROWS and len(dims) > 1):
        return set()
    return dims - inner if format in CLASSIC else dims


def _attrs(attrs: Mapping[str, object], format: str) -> dict[str, object]:
    """Return the attributes that a format can take, in the types that it has."""
    taken: dict[str, object] = {}
    for name, value in attrs.items():
        if name == "_FillValue" or (
            format not in ("zarr2", "zarr3") and ("/" in name or not name.strip())
        ):
            continue
        fitting = _value(value, format)
        if fitting is not None:
            taken[name] = fitting
    return taken


def _value(value: object, format: str) -> object:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        # The classic model has one text an attribute.
        return "\n".join(value) if format in ONE_GROWS else list(value)
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        return None
    if format in (*CLASSIC, *NETCDF4) and (numbers.size == 0 or numbers.ndim > 1):
        return None
    if numbers.dtype.itemsize > 8 or numbers.dtype.str[1:] == "f2":
        numbers = numbers.astype("f8")
    if format in ONE_GROWS and format != "cdf5" and numbers.dtype.str[1:] not in CLASSIC_DTYPES:
        narrow = numbers.astype("i4")
        numbers = narrow if np.array_equal(narrow, numbers) else numbers.astype("f8")
    return numbers[()] if numbers.ndim == 0 else numbers


def shapes_of(variables: Sequence[SourceVariable]) -> str:
    """Return the first few variables with their dimensions, for messages."""
    return "; ".join(f"{v.name} ({v.shown_dims})" for v in variables[:4])


def chunked_format(format: str) -> str:
    """Return a format itself where it has chunks, else netCDF-4."""
    return format if format in CHUNKED else "netcdf4"


def packs(format: str, codec: str, level: int | None, shuffle: bool) -> bool:
    """Return whether chunks of a format can have a codec with this level and shuffle."""
    return bool(layout_of(format, chunks=(1,), codec=codec, level=level, shuffle=shuffle))


def kept_codec(
    variable: SourceVariable, choice: Choice, format: str
) -> tuple[str | None, int | None, bool]:
    """Return codec, level and shuffle; what is kept and cannot be had becomes deflate."""
    shuffle, stored = bool(choice.shuffle), variable.layout
    if choice.codec == "none":
        return None, None, shuffle
    if choice.codec != SAME:
        keeps = choice.shuffle is None and "shuffle" in variable.codec
        able = keeps and packs(format, choice.codec, choice.level, True)
        return choice.codec, choice.level, able or shuffle
    if not variable.codec or (format not in CHUNKED and choice.shuffle is None):
        return None, None, shuffle
    if stored is not None and stored.codec is not None:
        keeps = stored.shuffle if choice.shuffle is None else shuffle
        if packs(format, stored.codec, stored.level, keeps):
            return stored.codec, stored.level, keeps
    return "deflate", None, format != "zarr3" if choice.shuffle is None else shuffle
