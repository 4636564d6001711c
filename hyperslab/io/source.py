"""What every kind of source offers: variables described, stored values read, nothing written."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layout import CODECS, Layout
from .selection import Indices as Indices
from .urls import shown
from .variable import CHAR, DTYPES, Variable
from .writing import stored_bytes

SHOWN = 12  # names that an error lists


class SourceError(ValueError):
    """A source cannot be read, or holds nothing that can be copied."""


@dataclass(frozen=True)
class SourceVariable(Variable):
    """A variable of a source; one name of a dimension means one dimension in the whole source."""

    chunks: tuple[int, ...] | None = None  # lengths along each axis, in elements
    codec: str = ""  # all filters in words ("deflate 4, shuffle"); "" for none
    byteorder: str = "little"  # "little" or "big"
    stored_bytes: int | None = None  # bytes it takes in the file; None where that is unknown
    layout: Layout | None = None  # the same as a layout, where one can say it
    reason: str = ""  # why it cannot be copied ("holds text"); `dtype` is then numpy's own name
    lost: frozenset[str] = frozenset()  # attributes that cannot be copied

    def __post_init__(self) -> None:
        if not self.reason:
            super().__post_init__()

    @property
    def chunk_bytes(self) -> int:
        """Bytes of one chunk, uncompressed; 0 without chunks."""
        return math.prod(self.chunks) * self.itemsize if self.chunks else 0

    @property
    def shown_dims(self) -> str:
        pairs = zip(self.dims, self.shape, strict=True)
        return ", ".join(f"{dim} {n}" for dim, n in pairs) or "a scalar"


class Source(AbstractContextManager["Source"], ABC):
    """A file or store opened for reading, at an address as it was given; also a context manager."""

    threads = False  # whether the libraries behind it work in threads of their own
    format: str  # one of `hyperslab.io.FORMATS`

    def __init__(self, address: str, path: Path | None, nbytes: int = -1) -> None:
        self.address, self._path, self._nbytes = address, path, nbytes
        self._ready: dict[str, Any] = {}

    @property
    def stat_bytes(self) -> int:
        """Bytes of the file, or of all files of a store; -1 where that is unknown."""
        return self._nbytes if self._path is None else stored_bytes(self._path)

    @cached_property
    def variables(self) -> dict[str, SourceVariable]:
        """All variables by name, also those that cannot be copied."""
        return {variable.name: variable for variable in self._describe()}

    @cached_property
    def attrs(self) -> dict[str, object]:
        """Attributes of the root, and under the path of a group, "group/", a mapping of its own."""
        own = {path.strip("/"): self._attributes(group)[0] for path, group in self._grouped}
        return own.pop("", {}) | {f"{path}/": attrs for path, attrs in own.items() if attrs}

    def chars(self) -> list[SourceVariable]:
        """Return the variables of characters, such as a grid mapping without a value."""
        return [v for v in self.variables.values() if (v.dtype, v.reason) == (CHAR, TEXT)]

    def unkept(self, chars: bool = False) -> tuple[str, ...]:
        """Return what a copy of all numbers, and characters, lacks, a sentence each."""
        variables = self.variables.values()
        copied = {v.name for v in self.chars()} if chars else set()
        left = {v.name: v.reason for v in variables if v.reason and v.name not in copied}
        lost: dict[str, Iterable[str]] = {}
        for path, group in self._grouped:
            owner = f"group {path.strip('/')}" if path else "the file"
            lost[owner] = self._attributes(group)[1]
        lost |= {v.name: v.lost for v in variables if v.name not in left}
        return (
            *(f"{name} is left out: it {reason}." for name, reason in left.items()),
            *(
                f"{owner} loses {', '.join(sorted(names))}, which cannot be copied."
                for owner, names in lost.items()
                if names
            ),
        )

    def choose(self, names: Sequence[str] | None = None) -> list[SourceVariable]:
        """Return the variables of these names, or all that can be copied."""
        address = shown(self.address)
        able = [v for v in self.variables.values() if not v.reason]
        if not able:
            why = "; ".join(f"{v.name}: {v.reason}" for v in self.variables.values())
            raise SourceError(f"{address} holds no array of numbers{why and f' ({why})'}")
        if names is None:
            return able
        more = f" and {len(able) - SHOWN} more" if len(able) > SHOWN else ""
        take = f"take of {', '.join(v.name for v in able[:SHOWN])}{more}"
        chosen = list(dict.fromkeys(name.strip("/") for name in names))
        if not chosen:
            raise SourceError(f"no variables of {address} are named: {take}")
        for name in chosen:
            if name not in self.variables:
                raise SourceError(f"{address} has no variable {name!r}: {take}")
            if reason := self.variables[name].reason:
                raise SourceError(f"{address}: {name} cannot be copied: it {reason}: {take}")
        return [self.variables[name] for name in chosen]

    def read(self, name: str, selection: Indices) -> NDArray[Any]:
        """Read stored values of part of a variable, C-contiguous, in native byte order."""
        try:
            values = np.asarray(self._read(name, selection))
        except Exception as error:
            where = (f"{i.start}:{i.stop}" if isinstance(i, slice) else str(i) for i in selection)
            problem = f"{shown(self.address)}: {name} cannot be read at [{', '.join(where)}]"
            raise SourceError(f"{problem}: {first_line(error)}") from error
        return np.asarray(values, values.dtype.newbyteorder("="), order="C")

    def touch(self, name: str) -> None:
        """Fetch what the library needs to know of a variable before it can read it."""
        self._variable(name)

    def cache(self, name: str, nbytes: int) -> None:
        """Give a variable a chunk cache of so many bytes, where the library has one."""

    def close(self) -> None:
        self._ready.clear()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _variable(self, name: str) -> Any:
        if name not in self._ready:
            self._ready[name] = self._open(name)
        return self._ready[name]

    def _read(self, name: str, selection: Indices) -> Any:
        return self._variable(name)[selection or ...]

    @abstractmethod
    def _open(self, name: str) -> Any: ...

    @abstractmethod
    def _describe(self) -> Iterable[SourceVariable]: ...

    @cached_property
    def _grouped(self) -> list[tuple[str, Any]]:
        return list(self._groups())

    @abstractmethod
    def _groups(self) -> Iterator[tuple[str, Any]]:
        """Yield the root, "", and the groups below it with their paths."""

    @abstractmethod
    def _attributes(self, item: Any) -> tuple[dict[str, object], frozenset[str]]:
        """Return what `attributes` does of a group or variable."""


class Dims:
    """Names of dimensions that mean one thing each in a whole source, whatever groups call them."""

    def __init__(self, groups: Iterable[tuple[str, Any]] = ()) -> None:
        self._meanings: dict[str, tuple[int, bool]] = {}
        self._groups = {path.strip("/") for path, _ in groups}

    def name(self, name: str, size: int, grows: bool = False, group: str = "") -> str:
        """Return the name of a dimension, qualified when another one has it already."""
        prefix = flat(group)
        qualified = f"{prefix}_{name}" if prefix else name
        return next(
            candidate
            for candidate in chain((name,), _numbered(qualified))
            if candidate not in self._groups  # beside which it cannot lie in the root
            and self._meanings.setdefault(candidate, (size, grows)) == (size, grows)
        )

    def names(self, axes: Iterable[Axis]) -> tuple[str, ...]:
        """Return the names of a variable's dimensions, each once; by its length without one."""
        chosen: list[str] = []
        for name, size, grows, group in axes:
            base = flat(name or f"dim_{size}{'_growing' if grows else ''}")
            candidates = (self.name(each, size, grows, group) for each in _numbered(base))
            chosen.append(next(each for each in candidates if each not in chosen))
        return tuple(chosen)


def flat(path: str) -> str:
    """Return a path as a name that may stand in the root."""
    return path.strip("/").replace("/", "_")


def _numbered(name: str) -> Iterator[str]:
    return chain((name,), (f"{name}_{n}" for n in count(2)))


def first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def attributes(
    names: Iterable[str], get: Callable[[str], object]
) -> tuple[dict[str, object], frozenset[str]]:
    """Return the attributes that all formats have, and the names of the others."""
    common: dict[str, object] = {}
    names = list(names)
    for name in names:
        # Types of a user's own have no counterpart here.
        with suppress(AttributeError, KeyError, OSError, RuntimeError, TypeError):
            if (value := plain(get(name))) is not None:
                common[name] = value
    return common, frozenset(names) - common.keys() - {"_FillValue"}


def plain(value: object) -> object:
    """Return an attribute as a number, text, or an array or list of them; None for any other."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple) and value:
        kinds = {type(item) for item in value}
        numbers = np.asarray(value) + 0 if kinds <= {bool, int, float} else None
        return list(value) if kinds == {str} else numbers
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "iuf":
            return value.reshape(-1)[0] if value.size == 1 else value
        if value.dtype.kind in "SUO" and value.ndim < 2:
            texts = [plain(item) for item in value.flat]
            if all(isinstance(text, str) for text in texts):
                return texts[0] if len(texts) == 1 else texts
        return value.astype("i1") if value.dtype.kind == "b" else None
    if isinstance(value, bool | np.bool_):
        return int(value)
    return value if isinstance(value, str) or np.isscalar(value) else None


def fill_of(attrs: dict[str, object], dtype: np.dtype[Any]) -> float | int | None:
    """Take the fill value out of attributes; None when there is none or it is no such value."""
    try:
        value = np.asarray(attrs.pop("_FillValue")).reshape(-1)[0].item()
        same = np.asarray(value, dtype.newbyteorder("=").str[1:])
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError):
        return None
    return value if same == value or (value != value and same.dtype.kind == "f") else None


def layout_of(format: str, **fields: Any) -> Layout | None:
    """Return a layout, or None when these choices cannot be said as one."""
    try:
        return Layout(format, **fields)
    except ValueError:
        return None


Step = tuple[str, int | None, bool]  # a filter: its name, its level, whether it shuffles bytes
_BESIDE = ("shuffle", "fletcher32", "crc32c")  # filters that come with a codec, or without any


def storage(
    format: str,
    dtype: np.dtype[Any],
    steps: Sequence[Step],
    chunks: tuple[int, ...] | None,
    shards: tuple[int, ...] | None = None,
    byteorder: str = "",
) -> dict[str, Any]:
    """Return how values are stored, as fields of a `SourceVariable`."""
    order = byteorder or ("big" if dtype.str.startswith(">") else "little")
    how: dict[str, Any] = {
        "chunks": tuple(map(int, chunks)) if chunks else None,
        "codec": ", ".join(
            f"{name}{'' if level is None else f' {level}'}{', shuffle' * shuffles}"
            for name, level, shuffles in steps
        ),
        "byteorder": order,
        "layout": None,
    }
    names = [name for name, _, _ in steps]
    codecs = [step for step in steps if step[0] not in _BESIDE]
    if len(codecs) > 1 or any(name not in CODECS for name, _, _ in codecs):
        return how
    fields: dict[str, Any] = {"fletcher32": "fletcher32" in names, "shards": shards}
    for name, level, shuffles in codecs:
        shuffled = shuffles or "shuffle" in names
        fields |= {"codec": name, "level": level or None, "shuffle": shuffled}
    order = order if dtype.itemsize > 1 else "native"
    return how | {"layout": layout_of(format, chunks=chunks, byteorder=order, **fields)}


Axis = tuple[str | None, int, bool, str]  # a dimension: name, length, whether it grows, its group


def described(
    dims: Dims,
    name: str,
    dtype: np.dtype[Any],
    axes: Sequence[Axis],
    attrs_and_lost: tuple[dict[str, object], frozenset[str]],
    **fields: Any,
) -> SourceVariable:
    """Return a variable of these dimensions and attributes; `fields` are what `storage` returns."""
    (attrs, lost), names = attrs_and_lost, dims.names(axes)
    filled, fill = "_FillValue" in attrs, fill_of(attrs, dtype)
    if filled and fill is None:
        lost |= {"_FillValue"}
    fields["reason"] = fields.get("reason") or why_not(dtype)
    return SourceVariable(
        name,
        names,
        tuple(int(n) for _, n, _, _ in axes),
        dtype.newbyteorder("=").str[1:],
        attrs,
        None if fields["reason"] else fill,
        tuple(dim for dim, (_, _, grows, _) in zip(names, axes, strict=True) if grows),
        lost=lost,
        **fields,
    )


TEXT, LISTS = "holds text", "holds lists of any length"
NAMED = "holds named values (an enumeration)"
_KINDS = {
    "S": TEXT, "U": TEXT, "T": TEXT, "O": "holds text or lists of any length",
    "b": "holds truth values", "c": "holds complex numbers", "V": "holds opaque bytes",
    "M": "holds dates", "m": "holds spans of time",
}  # fmt: skip


def why_not(dtype: np.dtype[Any]) -> str:
    """Say why values of a type cannot be copied; "" when they can."""
    if dtype.names:
        return f"holds records (compound values of {', '.join(dtype.names)})"
    if dtype.subdtype:
        return f"holds small arrays as values ({dtype})"
    if dtype.newbyteorder("=").str[1:] in DTYPES:
        return ""
    if dtype.kind == "f":
        return f"holds {8 * dtype.itemsize}-bit floats"
    return _KINDS.get(dtype.kind, f"holds {dtype}")


def truncated(address: str, size: int, needed: int) -> str:
    return f"{address} is truncated: it has {size:,} bytes of {needed:,}; copy or download it again"
