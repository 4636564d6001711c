"""What of a source's dimensions and attributes another format can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hyperslab.io.file_plan import plan
from hyperslab.io.layout import CLASSIC, NETCDF4, ZARR, Layout
from hyperslab.io.sources.base import SourceVariable
from hyperslab.io.variable import Variable

_ONE_GROWS = (*CLASSIC, "netcdf4-classic")
# Types of numbers that the classic model has for attributes.
_CLASSIC_KINDS = ("i1", "i2", "i4", "f4", "f8")


@dataclass(frozen=True)
class Fitted:
    """A copy's definition; its notes say what the format has no place for, a sentence each."""

    variables: tuple[Variable, ...]
    layouts: Mapping[str, Layout]
    attrs: Mapping[str, object]
    notes: tuple[str, ...]


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
    if nested := [v.name for v in variables if "/" in v.name and format in _ONE_GROWS]:
        raise ValueError(f"{', '.join(nested[:5])} lie in groups, which {format} has not: take "
                         "netcdf4, hdf5 or zarr3, or name other variables")  # fmt: skip
    if format in (*NETCDF4, "nczarr") and any("/" in v.name for v in variables):
        notes.append("dimensions of groups lie in the root of the copy, where groups see them too.")
    plan(made, layouts, {}, None)
    return Fitted(tuple(made), dict(layouts), _attrs(attrs, format), tuple(notes))


def growing(variables: Sequence[Variable], format: str) -> set[str]:
    """Return the dimensions that stay unlimited when variables are copied into a format."""
    dims = {dim for v in variables for dim in v.unlimited}
    if format in ZARR:
        return set()
    if format not in _ONE_GROWS:
        return dims
    first = format in CLASSIC
    able = [
        dim
        for dim in sorted(dims)
        if not first or all(v.dims.index(dim) == 0 for v in variables if dim in v.dims)
    ]
    return set(able) if len(dims) == 1 else set()


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
        return "\n".join(value) if format in _ONE_GROWS else list(value)
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or (numbers.size == 0 and format in (*CLASSIC, *NETCDF4)):
        return None
    if numbers.dtype.itemsize > 8 or numbers.dtype.str[1:] == "f2":
        numbers = numbers.astype("f8")
    if format in _ONE_GROWS and format != "cdf5" and numbers.dtype.str[1:] not in _CLASSIC_KINDS:
        narrow = numbers.astype("i4")
        numbers = narrow if np.array_equal(narrow, numbers) else numbers.astype("f8")
    return numbers[()] if numbers.ndim == 0 else numbers
