"""What is stored: an array's name, dimensions, type and attributes, without its values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
CHAR = "S1"  # netCDF's characters, which netCDF and HDF5 alone are given


@dataclass(frozen=True)
class Variable:
    """An array to be stored; its layout is given apart.

    Raises
    ------
    ValueError
        If the parts do not fit each other.

    Examples
    --------
    >>> Variable("t", ("y", "x"), (3, 4), "float32").nbytes
    48
    """

    name: str  #: with groups before it where the format has them ("group/sub/name")
    dims: tuple[str, ...]  #: names of its dimensions; they belong to the whole file
    shape: tuple[int, ...]  #: length of each
    dtype: str  #: one of `DTYPES`, or a numpy name of it; the byte order is the layout's
    #: text, numbers, or sequences of them
    attrs: Mapping[str, object] = field(default_factory=dict)
    #: of what was never written, also stored as ``_FillValue``; None leaves the format's own
    #: (netCDF: a large number, HDF5 and Zarr: 0); plain binary is always 0
    fill_value: float | int | None = None
    unlimited: tuple[str, ...] = ()  #: those of `dims` that can grow

    def __post_init__(self) -> None:
        if not self.name or any(part in ("", ".", "..") for part in self.name.split("/")):
            raise ValueError(f"name={self.name!r}: give a name such as 'sst' or 'group/sst'")
        for tuples in ("dims", "unlimited"):
            if isinstance(getattr(self, tuples), str):
                raise ValueError(f"{self.name}: {tuples}={getattr(self, tuples)!r}; give a tuple")
            object.__setattr__(self, tuples, tuple(getattr(self, tuples)))
        object.__setattr__(self, "shape", tuple(int(n) for n in self.shape))
        if len(self.dims) != len(self.shape) or len(set(self.dims)) != len(self.dims):
            raise ValueError(
                f"{self.name}: dims={self.dims} with shape={self.shape}; "
                "give one name for each axis, each once"
            )
        if min(self.shape, default=0) < 0:
            raise ValueError(f"{self.name}: shape={self.shape} has a negative length")
        kind = np.dtype(self.dtype).newbyteorder("=").str[1:]
        if kind not in (*DTYPES, CHAR):
            raise ValueError(f"{self.name}: dtype={self.dtype!r}; give one of {', '.join(DTYPES)}")
        object.__setattr__(self, "dtype", kind)
        if not set(self.unlimited) <= set(self.dims):
            raise ValueError(f"{self.name}: unlimited={self.unlimited} must be among {self.dims}")
        if "_FillValue" in self.attrs:
            raise ValueError(f"{self.name}: give fill_value instead of the attribute _FillValue")
        if self.fill_value is not None:
            object.__setattr__(self, "fill_value", self._fill(self.fill_value))

    def _fill(self, value: float) -> float | int:
        dtype = np.dtype(self.dtype)
        if dtype.kind == "f":
            return float(value)
        limits = np.iinfo(dtype)
        if not (limits.min <= value <= limits.max and value == int(value)):  # nor is nan
            raise ValueError(
                f"{self.name}: fill_value={value!r} is not a value of {dtype}; "
                f"give an integer from {limits.min} to {limits.max}"
            )
        return int(value)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.dtype).itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the values, uncompressed."""
        return math.prod(self.shape) * self.itemsize
