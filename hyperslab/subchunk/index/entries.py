"""What the head of an index says of groups and variables, refused where it makes no sense."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import CorruptIndexError
from ..hdf5 import DIMENSIONS, MOST_VALUES, SHUFFLE, Variable, attribute
from .format import MISTAKEN

_KINDS = "iufcb"
_MOST_CHUNK = 2**62  # bytes
_MOST_DTYPE = 8  # letters


@dataclass(frozen=True)
class Entry:
    """What an index says of one variable."""

    variable: Variable
    place: int  # of the variable in the index
    spacing: int  # bytes of output between points; 0 where it has none
    values: bytes | None  # the values themselves, of small variables that are read plainly


def entries(items: Sequence[Mapping[str, Any]]) -> dict[str, Entry]:
    try:
        found = {item["name"]: _entry(item, place) for place, item in enumerate(items)}
        links = [entry.variable.same for entry in found.values() if entry.variable.same]
        if any(found[name].variable.same for name in links):
            raise ValueError("a link to a link")
    except MISTAKEN as error:
        raise CorruptIndexError(f"the index cannot be understood: {error!r}") from error
    return found


def check_head(content: Mapping[str, Any]) -> None:
    """Refuse a head whose parts are not what they should be."""
    data, groups = content.get("data"), content.get("groups")
    left_out = [content.get(name, {}) for name in ("left_out", "left_out_attrs")]
    good = (
        isinstance(data, dict)
        and isinstance(data.get("size"), int | None)
        and isinstance(data.get("mtime_ns"), int | None)
        and isinstance(data.get("tag"), str | None)
        and isinstance(content.get("variables"), list)
        and isinstance(groups, dict)
        and "" in groups
        and all(path.rpartition("/")[0] in groups for path in (*groups, *_names(content)))
        and all(isinstance(attrs, dict) for attrs in groups.values())
        and all(_dimensions(attrs.get(DIMENSIONS, [])) for attrs in groups.values())
        and all(isinstance(item, dict) for item in left_out)
        and all(isinstance(why, str) for item in left_out for why in item.values())
    )
    if not good:
        raise CorruptIndexError("the head of the index is damaged: build it again")


def _names(content: Mapping[str, Any]) -> list[str]:
    items = content["variables"]
    return [item["name"] for item in items if type(item) is dict and type(item.get("name")) is str]


def decoded(attrs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {name: attribute(value) for name, value in attrs.items()}
    except MISTAKEN as error:
        raise CorruptIndexError(f"an attribute in the index is damaged: {error!r}") from error


def _entry(item: Mapping[str, Any], place: int) -> Entry:
    variable = Variable(
        name=item["name"],
        shape=tuple(item["shape"]),
        dtype=item["dtype"],
        chunks=tuple(item["chunks"]),
        filters=tuple((number, tuple(parameters)) for number, parameters in item["filters"]),
        dims=tuple(item["dims"]),
        fill=bytes.fromhex(item["fill"]),
        attrs=item["attrs"],
        plain=item["plain"],
        enum=item.get("enum", {}),
    )
    values = bytes.fromhex(item["values"]) if item.get("values") is not None else None
    spacing = item["spacing"]
    if not _good(variable, spacing, values):
        raise ValueError(f"what it says of variable {place} contradicts itself")
    return Entry(variable, place, spacing, values)


def _dimensions(listed: Any) -> bool:
    """Return whether these are names and lengths of dimensions, and whether they are unlimited."""
    return isinstance(listed, list) and all(
        isinstance(item, list) and [type(part) for part in item] == [str, int, bool]
        for item in listed
    )


def _good(variable: Variable, spacing: int, values: bytes | None) -> bool:
    width = 0
    if variable.dtype:
        if len(variable.dtype) > _MOST_DTYPE:
            return False
        dtype = np.dtype(variable.dtype)
        if dtype.kind not in _KINDS or dtype.str != variable.dtype:
            return False
        width = dtype.itemsize
    return bool(
        all(type(text) is str for text in (variable.name, variable.plain, *variable.dims))
        and len(variable.dims) == len(variable.shape)
        and len(variable.chunks) in (0, len(variable.shape))
        and variable.name == variable.name.strip("/")
        and all(type(n) is int and 0 <= n < 2**63 for n in (*variable.shape, spacing))
        and all(type(n) is int and n > 0 for n in variable.chunks)
        and not (spacing and math.prod(variable.shape) >= MOST_VALUES)
        and math.prod(variable.chunks) * width < _MOST_CHUNK
        and all(type(n) is int for number, more in variable.filters for n in (number, *more))
        and all(0 <= number < 2**16 for number, _ in variable.filters)
        and all(
            more and min(more) > 0
            for number, more in variable.filters
            if spacing and number == SHUFFLE
        )
        and type(variable.attrs) is dict
        and type(variable.enum) is dict
        and all(type(value) is int for value in variable.enum.values())
        and (not variable.enum or (width and dtype.kind in "iu"))
        and len(variable.fill) in (0, width)
        and (values is None or (width and len(values) == math.prod(variable.shape) * width))
        and (not spacing or bool(variable.chunks and width and variable.filters))
        and not (spacing and variable.plain)
    )
