"""How long a classic netCDF file must be: netCDF-C reads zeros where a truncated one ends."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import BinaryIO

_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
_STREAMING = {2**32 - 1, 2**64 - 1}  # the number of records is left to the file's length


def needed_bytes(file: str | Path | BinaryIO) -> int:
    """Return the bytes up to the last value of a classic, 64-bit offset or CDF-5 file.

    Parameters
    ----------
    file
        Its path, or the file itself, open at its beginning.

    Raises
    ------
    ValueError
        When it ends within its header, or has no such header.

    Source: the NetCDF Classic Format Specification.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"CDF" + bytes([1, *[0] * 28])), file.flush()
    ...     needed_bytes(file.name)
    32
    """
    if isinstance(file, str | Path):
        with Path(file).open("rb") as opened:
            return _Header(opened).needed()
    return _Header(file).needed()


class _Header:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        magic = self._take(4)
        if magic[:3] != b"CDF" or magic[3] not in (1, 2, 5):
            raise ValueError("there is no header of a classic netCDF file")
        self._wide = magic[3] == 5
        self._far = magic[3] != 1

    def needed(self) -> int:
        records = self._count()
        lengths = [self._dimension() for _ in range(self._list())]
        for _ in range(self._list()):
            self._attribute()
        ends, growing = [], []
        for _ in range(self._list()):
            begin, shape, size = self._variable(lengths)
            if shape and shape[0] == 0:
                growing.append((begin, math.prod(shape[1:]) * size))
            else:
                ends.append(begin + math.prod(shape) * size)
        step = sum(_padded(n) for _, n in growing) if len(growing) > 1 else 0
        if records and records not in _STREAMING:
            # A record variable alone is not padded.
            ends += [
                begin + (records - 1) * (step or each) + each for begin, each in growing if each
            ]
        return max([*ends, self._file.tell()])

    def _take(self, n: int) -> bytes:
        data = self._file.read(n) if n < 2**31 else b""
        if len(data) < n:
            raise ValueError("it ends within its header")
        return data

    def _int(self) -> int:
        return int(struct.unpack(">I", self._take(4))[0])

    def _count(self) -> int:
        return int(struct.unpack(">Q", self._take(8))[0]) if self._wide else self._int()

    def _list(self) -> int:
        self._int()
        return self._count()

    def _name(self) -> None:
        self._take(_padded(self._count()))

    def _dimension(self) -> int:
        self._name()
        return self._count()

    def _attribute(self) -> None:
        self._name()
        size = _SIZES.get(self._int(), 1)
        self._take(_padded(self._count() * size))

    def _variable(self, lengths: list[int]) -> tuple[int, list[int], int]:
        self._name()
        ids = [self._count() for _ in range(self._count())]
        for _ in range(self._list()):
            self._attribute()
        size = _SIZES.get(self._int(), 1)
        self._count()
        begin = struct.unpack(">Q", self._take(8))[0] if self._far else self._int()
        if any(n >= len(lengths) for n in ids):
            raise ValueError("its header is damaged: a variable has a dimension that is not there")
        return begin, [lengths[n] for n in ids], size


def _padded(n: int) -> int:
    return n + -n % 4
