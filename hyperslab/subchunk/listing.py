"""What a file holds: variables and groups by their names, and why others are left out.

Here everything in a file is described, once, and what cannot be is turned into a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5g, h5l, h5o, h5r

from .errors import SubchunkError, reason
from .hdf5 import SAME, Variable, attributes, describe

DimensionList = Sequence[Sequence[Any]]

NON_COORDINATE = (
    "_nc4_non_coord_"  # before the name of a variable named like a dimension not its own
)
_COORDINATES, _NUMBER = "_Netcdf4Coordinates", "_Netcdf4Dimid"
_ONLY = b"This is a netCDF dimension but not a netCDF variable"
_MOST_OTHER_NAMES = 2**16
_DEEPEST = 1000  # groups within groups


@dataclass(frozen=True)
class Listing:
    """What a file holds."""

    # By their paths, in the order of names. What has several names comes under each of them, with
    # attributes under the first.
    variables: Mapping[str, Variable]
    # Name, length, and whether it is unlimited, of the dimensions of each group; "" is the root.
    dimensions: Mapping[str, DimensionList]
    left_out: Mapping[str, str]  # why other objects and links are not there, by their paths
    attrs: Mapping[str, Mapping[str, Any]]  # those of groups, by their paths
    # Why attributes are not there, by the path of what has them, a colon, and their names.
    left_out_attrs: Mapping[str, str]


@dataclass(frozen=True)
class Scale:
    """A dataset that gives a dimension its name."""

    dimension: Sequence[Any]  # its name, length, and whether it is unlimited; [] for a scalar
    number: int  # netCDF-4's number of the dimension; -1 where it has none
    only: bool  # whether netCDF-4 made it to hold the name, and it is no variable


@dataclass(frozen=True)
class Axes:
    """What a dataset says of its dimensions."""

    scales: tuple[int, ...]  # addresses of the datasets that give their names; -1 for none
    numbers: tuple[int, ...]  # netCDF-4's numbers of the dimensions; empty where there are none


def listing(file: h5py.File) -> Listing:
    try:
        return _Walk(file).listing()
    except SubchunkError:
        raise
    except Exception as error:
        raise SubchunkError(f"the file is damaged: {reason(error)}") from error


class _Walk:
    """One way through all links of a file; each object is described under its first name."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file
        self._here = h5o.get_info(file.id).fileno
        self._first: dict[int, str] = {}  # objects by their addresses
        self._others: dict[str, int] = {}  # further names of objects
        self._groups: list[str] = []
        self._datasets: list[str] = []
        self._left_out: dict[str, str] = {}
        self._lost: dict[str, dict[str, str]] = {}  # attributes of what has this path

    def listing(self) -> Listing:
        self._follow_hard_links()
        found: dict[str, tuple[Variable, Axes]] = {}
        scales: dict[str, list[Scale]] = {path: [] for path in self._groups}
        for path in self._datasets:
            try:
                dataset = self._file[path]
                if scale := scale_of(dataset, path):
                    scales[path.rpartition("/")[0]].append(scale)
                    if scale.only:
                        continue
                variable = describe(path, dataset)
                kept = self._attributes(path, dataset)
                found[path] = replace(variable, attrs=kept), axes_of(dataset)
            except Exception as error:
                self._left_out[path] = reason(error)
        names = {address: path.rpartition("/")[2] for address, path in self._first.items()}
        variables = {
            path: replace(variable, dims=dimension_names(path, axes, names, scales, variable.shape))
            for path, (variable, axes) in found.items()
        }
        dimensions = {
            path: [scale.dimension for scale in listed if scale.dimension]
            for path, listed in scales.items()
        }
        attrs = {path: self._group_attributes(path) for path in self._groups}
        for other, path in self._other_names():
            if path in self._lost:
                self._lost[other] = self._lost[path]
            if path in variables:
                plain = f"{SAME}{path}"
                variables[other] = replace(variables[path], name=other, plain=plain, attrs={})
            elif path in dimensions:
                dimensions[other] = dimensions[path]
                attrs[other] = attrs[path]
            elif path in self._left_out:
                self._left_out[other] = f"{SAME}{path}, which is left out"
        ordered = sorted(variables, key=lambda path: path.split("/"))
        return Listing(
            {path: variables[path] for path in ordered},
            dimensions,
            self._left_out,
            attrs,
            {
                f"{path}:{name}": why
                for path, lost in self._lost.items()
                for name, why in lost.items()
            },
        )

    def _follow_hard_links(self) -> None:
        self._first[h5o.get_info(self._file.id).addr] = ""
        groups = [""]
        while groups:
            path = groups.pop()
            self._groups.append(path)
            below = []
            for other, address, kind in self._members(path):
                if address in self._first:
                    self._others[other] = address
                    continue
                self._first[address] = other
                if kind == h5o.TYPE_DATASET:
                    self._datasets.append(other)
                elif kind == h5o.TYPE_GROUP and other.count("/") < _DEEPEST:
                    below.append(other)
                elif kind == h5o.TYPE_GROUP:
                    self._left_out[other] = f"it lies more than {_DEEPEST} groups deep"
            groups += reversed(below)

    def _members(self, path: str) -> Iterator[tuple[str, int, int]]:
        """Give path, address and type of the objects that hard links of a group lead to.

        Soft links are kept for later: what they lead to has its name by a hard link.
        """
        try:
            group = h5g.open(self._file.id, path.encode() or b"/")
            links = sorted(group)
        except Exception as error:
            self._left_out[path] = f"its links cannot be listed: {reason(error)}"
            return
        for link in links:
            shown = link.decode(errors="backslashreplace")
            where = f"{path}/{shown}" if path else shown
            try:
                kind = group.links.get_info(link).type
                if kind == h5l.TYPE_EXTERNAL:
                    self._left_out[where] = "it is a link into another file"
                    continue
                link.decode()
                place = h5o.get_info(group, link)
                if place.fileno != self._here:
                    self._left_out[where] = "it lies in another file"
                elif kind == h5l.TYPE_HARD:
                    yield where, place.addr, place.type
                else:
                    self._others[where] = place.addr
            except UnicodeDecodeError:
                self._left_out[where] = "its name is no UTF-8"
            except Exception as error:
                self._left_out[where] = f"its link cannot be followed: {reason(error)}"

    def _other_names(self) -> Iterator[tuple[str, str]]:
        """Give further names, each with the first name of what it is, those within groups too."""
        below: dict[str, list[str]] = {}
        for path in (*self._groups, *self._datasets):
            front = path
            while front:
                front = front.rpartition("/")[0]
                below.setdefault(front, []).append(path)
        links: dict[str, list[str]] = {}
        for other in self._others:
            links.setdefault(other.rpartition("/")[0], []).append(other)
        groups, left = set(self._groups), _MOST_OTHER_NAMES
        for other, address in self._others.items():
            if address not in self._first:
                self._left_out[other] = "the file has no other way to what it leads to"
                continue
            path = self._first[address]
            if path not in groups:
                yield other, path
                continue
            inside = [name for name in below.get(path, ()) if name]
            linked = {
                link: real
                for group in (path, *(name for name in inside if name in groups))
                for link in links.get(group, ())
                if (real := self._first.get(self._others[link], "")) and real not in groups
            }
            left -= len(inside) + len(linked)
            if f"{other}/".startswith(f"{path}/" if path else ""):
                self._left_out[other] = f"it leads back to /{path}"
            elif left < 0:
                self._left_out[other] = f"{SAME}/{path}, one of too many"
            else:
                yield other, path
                for name in inside:
                    yield other + name[len(path) :], name
                for link, real in linked.items():
                    yield other + link[len(path) :], real

    def _attributes(self, path: str, item: h5py.Dataset | h5py.Group) -> dict[str, Any]:
        kept, lost = attributes(item)
        if lost:
            self._lost[path] = lost
        return kept

    def _group_attributes(self, path: str) -> dict[str, Any]:
        try:
            return self._attributes(path, self._file[path or "/"])
        except Exception as error:
            self._lost[path] = {"": reason(error)}
            return {}


def scale_of(dataset: h5py.Dataset, path: str) -> Scale | None:
    """Return the dimension that a dataset gives its name to; None for most."""
    mark = _attribute(dataset, "NAME")
    only = isinstance(mark, bytes) and mark.startswith(_ONLY)
    if not only and _attribute(dataset, "CLASS") != b"DIMENSION_SCALE":
        return None
    if not dataset.shape:
        return Scale([], -1, only)
    number = _attribute(dataset, _NUMBER)
    dimension = [path.rpartition("/")[2], int(dataset.shape[0]), dataset.maxshape[0] is None]
    return Scale(dimension, -1 if number is None else _whole(number)[0], only)


def axes_of(dataset: h5py.Dataset) -> Axes:
    """Return what a dataset says of its dimensions."""
    scales = [-1] * dataset.ndim
    listed = _attribute(dataset, "DIMENSION_LIST")
    with suppress(Exception):  # a list of something else names nothing
        for axis, references in enumerate(() if listed is None else listed):
            if len(references):
                scales[axis] = h5o.get_info(h5r.dereference(references[0], dataset.id)).addr
    if scales == [-1] and _attribute(dataset, "CLASS") == b"DIMENSION_SCALE":
        scales = [h5o.get_info(dataset.id).addr]
    # A coordinate of several dimensions cannot have them attached: it has their numbers.
    numbers = _attribute(dataset, _COORDINATES) if -1 in scales else None
    return Axes(tuple(scales), () if numbers is None else _whole(numbers))


def dimension_names(
    path: str,
    axes: Axes,
    names: Mapping[int, str],
    scales: Mapping[str, Sequence[Scale]],
    shape: tuple[int, ...],
) -> tuple[str, ...]:
    """Return the names of the dimensions of a variable, "" where the file gives none.

    Those of a type of arrays have none.
    """
    found = [names.get(address, "") for address in axes.scales]
    if len(axes.numbers) == len(found):
        known: dict[int, str] = {}
        group = path
        while group and "" in found:
            group = group.rpartition("/")[0]
            for scale in scales[group]:
                if scale.number >= 0:
                    known.setdefault(scale.number, scale.dimension[0])
        found = [
            name or known.get(number, "") for name, number in zip(found, axes.numbers, strict=True)
        ]
    return (*found, *[""] * (len(shape) - len(found)))


def _attribute(dataset: h5py.Dataset, name: str) -> Any:
    """Return an attribute; None where there is none, or none that can be read."""
    try:
        return dataset.attrs[name] if h5a.exists(dataset.id, name.encode()) else None
    except Exception:  # what it would say of dimensions is then not known
        return None


def _whole(values: Any) -> tuple[int, ...]:
    found = np.ravel(values)
    return tuple(found.tolist()) if found.dtype.kind in "iu" and found.size else (-1,)
