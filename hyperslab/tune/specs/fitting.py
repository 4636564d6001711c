"""What of a source's dimensions and attributes another format can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hyperslab.io.chunk_shapes import padded_bytes
from hyperslab.io.file_plan import CLASSIC_DTYPES, plan
from hyperslab.io.layout import CLASSIC, NETCDF4, ONE_GROWS, ZARR, Layout
from hyperslab.io.sources.base import SourceVariable
from hyperslab.io.variable import Variable


@dataclass(frozen=True)
class Fitted:
    """A copy's definition; its notes say what the format has no place for, a sentence each."""

    sources: tuple[SourceVariable, ...]
    variables: tuple[Variable, ...]  # the same as the copy has them
    layouts: Mapping[str, Layout]  # by name
    attrs: Mapping[str, object]
    notes: tuple[str, ...]

    @property
    def format(self) -> str:
        """Of the copy."""
        return self.layouts[self.sources[0].name].format

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
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
    lost = {dim for v in variables for dim in v.unlimited} - grows
    if lost and format not in ZARR:
        names = ", ".join(sorted(lost))
        notes.append(f"of fixed length in the copy, since {format} cannot let it grow: {names}.")
    made = []
    for v in variables:
        kept = _attrs(v.attrs, format)
        if missing := [key for key in v.attrs if key not in kept]:
            notes.append(f"{v.name} loses {', '.join(missing)}: {format} has no such attributes.")
        unlimited = tuple(dim for dim in v.unlimited if dim in grows)
        made.append(Variable(v.name, v.dims, v.shape, v.dtype, kept, v.fill_value, unlimited))
    if nested := [v.name for v in variables if "/" in v.name and format in ONE_GROWS]:
        raise ValueError(f"{', '.join(nested[:5])} lie in groups, which {format} has not: take "
                         "netcdf4, hdf5 or zarr3, or name other variables")  # fmt: skip
    if format in (*NETCDF4, "nczarr") and any("/" in v.name for v in variables):
        notes.append("dimensions of groups lie in the root of the copy, where groups see them too.")
    plan(made, layouts, {}, None)
    kept = _attrs(attrs, format)
    return Fitted(tuple(variables), tuple(made), dict(layouts), kept, tuple(notes))


def growing(variables: Sequence[Variable], format: str) -> set[str]:
    """Return the dimensions that stay unlimited when variables are copied into a format."""
    dims = {dim for v in variables for dim in v.unlimited}
    inner = {dim for v in variables for dim in v.dims[1:]}
    if format in ZARR or (format in ONE_GROWS and len(dims) > 1):
        return set()
    return dims - inner if format in CLASSIC else dims


def _attrs(attrs: Mapping[str, object], format: str) -> dict[str, object]:
    """Return the attributes that a format can take, in the types that it has."""
    kept: dict[str, object] = {}
    for name, value in attrs.items():
        if name == "_FillValue" or (format not in ZARR and ("/" in name or not name.strip())):
            continue
        fitting = _value(value, format)
        if fitting is not None:
            kept[name] = fitting
    return kept


def _value(value: object, format: str) -> object:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        # The classic model has one text an attribute.
        return "\n".join(value) if format in ONE_GROWS else list(value)
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or (numbers.size == 0 and format in (*CLASSIC, *NETCDF4)):
        return None
    if numbers.dtype.itemsize > 8 or numbers.dtype.str[1:] == "f2":
        numbers = numbers.astype("f8")
    if format in ONE_GROWS and format != "cdf5" and numbers.dtype.str[1:] not in CLASSIC_DTYPES:
        narrow = numbers.astype("i4")
        numbers = narrow if np.array_equal(narrow, numbers) else numbers.astype("f8")
    return numbers[()] if numbers.ndim == 0 else numbers
