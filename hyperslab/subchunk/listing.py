"""What a file holds: variables and groups by their names, and why others are left out."""

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
# Of each dimension of a dataset: address of the dataset that names it, -1 for none, and netCDF-4's
# number, where there are any.
Axes = tuple[Sequence[int], Sequence[int]]

# Before the name of a variable named like a dimension that is not its own.
NON_COORDINATE = "_nc4_non_coord_"
_COORDINATES, _NUMBER = "_Netcdf4Coordinates", "_Netcdf4Dimid"
_ONLY = b"This is a netCDF dimension but not a netCDF variable"
_MOST_OTHER_NAMES = 2**16
_DEEPEST = 1000  # groups within groups


@dataclass(frozen=True)
class Listing:
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
        self._scales: dict[str, list[Scale]] = {}  # by the paths of all groups
        self._datasets: list[str] = []
        self._left_out: dict[str, str] = {}
        self._lost: dict[str, dict[str, str]] = {}  # attributes of what has this path

    def listing(self) -> Listing:
        self._follow_hard_links()
        variables = self._variables()
        dimensions: dict[str, DimensionList] = {}
        attrs: dict[str, dict[str, Any]] = {}
        for path, scales in self._scales.items():
            dimensions[path] = [scale.dimension for scale in scales if scale.dimension]
            try:
                attrs[path] = self._attributes(path, self._file[path or "/"])
            except Exception as error:
                attrs[path], self._lost[path] = {}, {"": reason(error)}
        for other, path in self._other_names():
            if path in self._lost:
                self._lost[other] = self._lost[path]
            if path in variables:
                plain = f"{SAME}{path}"
                variables[other] = replace(variables[path], name=other, plain=plain, attrs={})
            elif path in dimensions:
                dimensions[other], attrs[other] = dimensions[path], attrs[path]
            elif path in self._left_out:
                self._left_out[other] = f"{SAME}{path}, which is left out"
        ordered = sorted(variables, key=lambda path: path.split("/"))
        lost = {
            f"{path}:{name}": why for path in self._lost for name, why in self._lost[path].items()
        }
        return Listing(
            {path: variables[path] for path in ordered}, dimensions, self._left_out, attrs, lost
        )

    def _variables(self) -> dict[str, Variable]:
        described: dict[str, tuple[Variable, Axes]] = {}
        for path in self._datasets:
            try:
                dataset = self._file[path]
                if scale := scale_of(dataset, path):
                    self._scales[path.rpartition("/")[0]].append(scale)
                    if scale.only:
                        continue
                variable = describe(path, dataset)
                attrs = self._attributes(path, dataset)
                described[path] = replace(variable, attrs=attrs), axes_of(dataset)
            except Exception as error:
                self._left_out[path] = reason(error)
        return {
            path: replace(variable, dims=self._dims(variable, *axes))
            for path, (variable, axes) in described.items()
        }

    def _dims(
        self, variable: Variable, scales: Sequence[int], numbers: Sequence[int]
    ) -> tuple[str, ...]:
        """Return the names of dimensions, "" where the file, or a type of arrays, gives none."""
        names = [self._first.get(address, "").rpartition("/")[2] for address in scales]
        by_number: dict[int, str] = {}
        group = variable.name
        while group and "" in names and len(numbers) == len(names):
            group = group.rpartition("/")[0]
            for scale in self._scales[group]:
                if scale.number >= 0:
                    by_number.setdefault(scale.number, scale.dimension[0])
            names = [name or by_number.get(n, "") for name, n in zip(names, numbers, strict=True)]
        return (*names, *[""] * (len(variable.shape) - len(names)))

    def _follow_hard_links(self) -> None:
        self._first[h5o.get_info(self._file.id).addr] = ""
        groups = [""]
        while groups:
            path = groups.pop()
            self._scales[path] = []
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
        """Give path, address and type of what hard links lead to; soft links are kept for later."""
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
                info = h5o.get_info(group, link)
                if info.fileno != self._here:
                    self._left_out[where] = "it lies in another file"
                elif kind == h5l.TYPE_HARD:
                    yield where, info.addr, info.type
                else:
                    self._others[where] = info.addr
            except UnicodeDecodeError:
                self._left_out[where] = "its name is no UTF-8"
            except Exception as error:
                self._left_out[where] = f"its link cannot be followed: {reason(error)}"

    def _other_names(self) -> Iterator[tuple[str, str]]:
        """Give further names, each with the first name of what it is, those within groups too."""
        groups, left = self._scales, _MOST_OTHER_NAMES
        names = {name: name for name in (*groups, *self._datasets)}
        names |= {link: self._first.get(address, "") for link, address in self._others.items()}
        for other, address in self._others.items():
            if address not in self._first:
                self._left_out[other] = "the file has no other way to what it leads to"
                continue
            path = self._first[address]
            if path not in groups:
                yield other, path
                continue
            front = f"{path}/" if path else ""
            if f"{other}/".startswith(front):
                self._left_out[other] = f"it leads back to /{path}"
                continue
            inside = [
                (name, real)
                for name, real in names.items()
                if name.startswith(front) and (name == real or real not in groups)
            ]
            left -= len(inside)
            if left < 0:
                self._left_out[other] = f"{SAME}/{path}, one of too many"
                continue
            yield other, path
            for name, real in inside:
                yield other + name[len(path) :], real

    def _attributes(self, path: str, item: h5py.Dataset | h5py.Group) -> dict[str, Any]:
        attrs, lost = attributes(item)
        if lost:
            self._lost[path] = lost
        return attrs


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
    return scales, () if numbers is None else _whole(numbers)


def _attribute(dataset: h5py.Dataset, name: str) -> Any:
    """Return an attribute; None where there is none, or none that can be read."""
    try:
        return dataset.attrs[name] if h5a.exists(dataset.id, name.encode()) else None
    except Exception:  # what it would say of dimensions is then not known
        return None


def _whole(values: Any) -> tuple[int, ...]:
    array = np.ravel(values)
    return tuple(array.tolist()) if array.dtype.kind in "iu" and array.size else (-1,)
