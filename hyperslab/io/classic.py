"""Classic netCDF files that are cut off, of which netCDF-C reads zeros: their headers tell it."""

from __future__ import annotations

import math
from typing import Any, BinaryIO

from .source import SourceError, truncated

_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
_STREAMING = (2**32 - 1, 2**64 - 1)  # the number of records is left to the file's length


def check_whole(file: Any, address: str, size: int | None) -> None:
    """Raise an error for a classic file that is cut off, of which netCDF-C reads zeros."""
    try:
        needed = needed_bytes(file)
    except ValueError as error:
        message = f"{address} is truncated or damaged: {error}; copy or download it again"
        raise SourceError(message) from None
    if size is not None and size < needed:
        raise SourceError(truncated(address, int(size), needed))


def needed_bytes(file: BinaryIO) -> int:
    """Return the bytes up to the last value of a classic file that is open at its beginning."""
    # Source: the NetCDF Classic Format Specification, with 64-bit offsets and CDF-5.

    def take(n: int) -> bytes:
        data = file.read(n) if n < 2**31 else b""
        if len(data) < n:
            raise ValueError("it ends within its header")
        return data

    def number(wide: bool = False) -> int:
        return int.from_bytes(take(8 if wide else 4), "big")

    def count() -> int:
        return number(version == 5)

    def items() -> range:
        number()  # the kind of the list
        return range(count())

    def attributes() -> None:
        for _ in items():
            take(_padded(count()))
            size = _TYPE_BYTES.get(number(), 1)
            take(_padded(count() * size))

    magic = take(4)
    version = magic[3]
    if magic[:3] != b"CDF" or version not in (1, 2, 5):
        raise ValueError("there is no header of a classic netCDF file")
    records, lengths = count(), []
    for _ in items():
        take(_padded(count()))
        lengths.append(count())
    attributes()
    ends, growing = [], []
    for _ in items():
        take(_padded(count()))
        dims = [count() for _ in range(count())]
        attributes()
        size = _TYPE_BYTES.get(number(), 1)
        count()
        begin = number(version != 1)
        if any(n >= len(lengths) for n in dims):
            raise ValueError("its header is damaged: a variable has a dimension that is not there")
        shape = [lengths[n] for n in dims]
        if shape and shape[0] == 0:
            growing.append((begin, math.prod(shape[1:]) * size))
        else:
            ends.append(begin + math.prod(shape) * size)
    if records and records not in _STREAMING:
        # A record variable alone is not padded.
        step = sum(_padded(n) for _, n in growing) if len(growing) > 1 else 0
        ends += [begin + (records - 1) * (step or each) + each for begin, each in growing if each]
    return max([*ends, file.tell()])


def _padded(n: int) -> int:
    return n + -n % 4
