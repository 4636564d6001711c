"""The loops that read buffers, each as one would write it with its library.

A loop is opened once, and then reads pieces of one size from places given in values. What needs
a buffer gets one, made and touched beforehand: over a file of thousands of buffers that costs
nothing, in ours of a few it would show. What the last read gave stays until the next has ended,
as in any loop that assigns it to a name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import NetcdfFile, PlainFile
from .files import ITEMSIZE, VARIABLE, Values

Starts = NDArray[np.int64]


class Loop(ABC):
    """An open file and the loop that reads from it.

    Parameters
    ----------
    path : Path
    count : int
        Values of one read.
    """

    def __init__(self, path: Path, count: int) -> None:
        self.path, self.count = path, count
        self._data: Any = None

    def ready(self, starts: Starts) -> Callable[[], float | None]:
        """Return what makes the reads, to be timed.

        Parameters
        ----------
        starts : ndarray
            int64, in values.

        Returns
        -------
        callable
            Gives the seconds, by the clock in C, or None where there is none.
        """
        run, places = self._run, self._places(starts)

        def reads() -> None:
            run(places)

        return reads

    def last(self) -> Values:
        """Return what the last read gave: float64 of shape (count,)."""
        values: Values = np.asarray(self._data)
        return values

    def close(self) -> None:
        """Close the file."""
        self._close()

    def _places(self, starts: Starts) -> Any:
        return starts.tolist()

    @abstractmethod
    def _run(self, places: Any) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...


class _Kernel(Loop):
    """A loop in C, into one buffer."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, count)
        self._data = np.ones(count)

    def _run(self, places: Any) -> None: ...


class CPlain(_Kernel):
    """pread in C, or fseek where needed and fread."""

    def __init__(self, path: Path, count: int, *, stdio: bool) -> None:
        super().__init__(path, count)
        self._file = PlainFile(path, stdio=stdio)
        self._nbytes = count * ITEMSIZE

    def ready(
        self, starts: Starts, each: NDArray[np.float64] | None = None
    ) -> Callable[[], float | None]:
        """Return what makes the reads; `each` takes the seconds of every one."""
        return self._file.prepared(
            "read", starts * ITEMSIZE, self._nbytes, self._data, reuse=True, each=each
        )

    def _close(self) -> None:
        self._file.close()


class CNetcdf(_Kernel):
    """nc_get_vara in C."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, count)
        self._file = NetcdfFile.open(path, VARIABLE)

    def ready(self, starts: Starts) -> Callable[[], float | None]:
        """Return what makes the reads."""
        return self._file.prepared(
            "read", starts[:, None], [self.count], None, self._data, reuse=True
        )

    def _close(self) -> None:
        self._file.close()


class _PythonFile(Loop):
    """Python's own file; sequential reads do without a seek, as in the document."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, count)
        self._file, self._nbytes = path.open("rb"), count * ITEMSIZE
        self._seeks = False

    def _places(self, starts: Starts) -> Any:
        offsets = (starts * ITEMSIZE).tolist()
        place = self._file.tell()
        follow = range(place, place + len(offsets) * self._nbytes, self._nbytes)
        self._seeks = offsets != list(follow)
        return offsets

    def _close(self) -> None:
        self._file.close()


class PythonRead(_PythonFile):
    """``file.read``, which gives new bytes each time."""

    def _run(self, places: Any) -> None:
        file, nbytes, data, self._data = self._file, self._nbytes, self._data, None
        if self._seeks:
            for place in places:
                file.seek(place)
                data = file.read(nbytes)
        else:
            for _ in places:
                data = file.read(nbytes)
        self._data = data

    def last(self) -> Values:
        """Return what the last read gave."""
        return np.frombuffer(self._data, "<f8")


class PythonReadinto(_PythonFile):
    """``file.readinto`` one buffer."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, count)
        self._data = np.ones(count)

    def _run(self, places: Any) -> None:
        file, data = self._file, self._data
        if self._seeks:
            for place in places:
                file.seek(place)
                file.readinto(data)
        else:
            for _ in places:
                file.readinto(data)


class NumpyFromfile(_PythonFile):
    """``numpy.fromfile`` of an open file, which gives a new array each time."""

    def _run(self, places: Any) -> None:
        file, count, data, self._data = self._file, self.count, self._data, None
        if self._seeks:
            for place in places:
                file.seek(place)
                data = np.fromfile(file, "<f8", count)
        else:
            for _ in places:
                data = np.fromfile(file, "<f8", count)
        self._data = data


class Slices(Loop):
    """Slices of something that is indexed like an array, turned into an array.

    Parameters
    ----------
    path : Path
    count : int
    opened : callable
        From the path to what is indexed and what closes it.
    """

    def __init__(
        self, path: Path, count: int, opened: Callable[[Path], tuple[Any, Callable[[], object]]]
    ) -> None:
        super().__init__(path, count)
        self._array, self._done = opened(path)

    def _run(self, places: Any) -> None:
        array, count, data, self._data = self._array, self.count, self._data, None
        for place in places:
            data = array[place : place + count]
        self._data = data

    def last(self) -> Values:
        """Return what the last read gave; what is masked becomes NaN, which is wrong."""
        values: Values = np.ma.filled(np.ma.asanyarray(self._data), np.nan)
        return values

    def _close(self) -> None:
        self._data = None
        self._done()


class Copies(Slices):
    """Slices that are copied out of a mapped file."""

    def _run(self, places: Any) -> None:
        array, count, data, self._data = self._array, self.count, self._data, None
        for place in places:
            data = array[place : place + count].copy()
        self._data = data


class Lazy(Slices):
    """Slices of an xarray variable, which read when their values are asked for."""

    def _run(self, places: Any) -> None:
        array, count, data, self._data = self._array, self.count, self._data, None
        for place in places:
            data = array[place : place + count].values
        self._data = data
