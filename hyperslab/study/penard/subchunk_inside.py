"""Where points and requests lie in the chunks of real files: counts, and pictures' coordinates."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import subchunk
from . import subchunk_document as document
from .subchunk_files import DEFAULT, DOCUMENT, Files, Index, spelled

Places = NDArray[np.int64]
WIDTH = 4  # bytes of a float32, which all files hold


@dataclass(frozen=True)
class Stream:
    """The points of one chunk.

    Parameters
    ----------
    out, stored : numpy.ndarray
        int64, the decompressed and the compressed bytes before each point, ascending.
    starts : numpy.ndarray
        bool, whether decompression can start there; the others only say where reading may end.
    out_bytes, stored_bytes : int
        Of the whole chunk.
    """

    out: Places
    stored: Places
    starts: NDArray[np.bool_]
    out_bytes: int
    stored_bytes: int

    def sections(self, begins: Places, ends: Places) -> Places:
        """Return what is decompressed for ranges of the decompressed chunk.

        Parameters
        ----------
        begins, ends : numpy.ndarray
            int64, ranges, ascending.

        Returns
        -------
        numpy.ndarray
            int64 of shape (sections, 4): first and last decompressed byte, first and last
            compressed byte, the last ones excluded. Sections that touch are one.

        Examples
        --------
        >>> ten = np.arange(0, 100, 10)
        >>> stream = Stream(ten, ten // 2, np.ones(10, bool), 100, 50)
        >>> stream.sections(np.array([5, 18, 77]), np.array([6, 22, 79])).tolist()
        [[0, 30, 0, 15], [70, 80, 35, 40]]
        """
        able = np.flatnonzero(self.starts)
        first = able[np.searchsorted(self.out[able], begins, "right") - 1]
        last = np.searchsorted(self.out, ends, "left")
        reach = np.maximum.accumulate(last)
        cuts = np.flatnonzero(first[1:] > reach[:-1]) + 1
        heads = first[np.concatenate([[0], cuts])]
        tails = reach[np.concatenate([cuts - 1, [len(first) - 1]])]
        out = np.append(self.out, self.out_bytes)
        stored = np.append(self.stored, self.stored_bytes)
        return np.stack([out[heads], out[tails], stored[heads], stored[tails]], axis=1)


def runs(box: tuple[range, ...], chunk: tuple[int, ...], shuffled: bool) -> tuple[Places, Places]:
    """Return the ranges of bytes that a box takes of a decompressed chunk; touching ones are one.

    Parameters
    ----------
    box : tuple of range
        Steps of one.
    chunk : tuple of int
        Shape of the chunk, of values of four bytes.
    shuffled : bool
        Whether the first bytes of all values come first, then all second ones, and so on.

    Examples
    --------
    >>> begins, ends = runs((range(1, 3), range(2)), (4, 5), False)
    >>> begins.tolist(), ends.tolist()
    ([20, 40], [28, 48])
    >>> runs((range(1, 2), range(2)), (4, 5), True)[0].tolist()
    [5, 25, 45, 65]
    """
    places = np.zeros(1, np.int64)
    for indices, length in zip(box[:-1], chunk[:-1], strict=True):
        places = (places[:, None] * length + np.array(indices)).reshape(-1)
    begins = places * chunk[-1] + box[-1].start
    ends = begins + len(box[-1])
    if shuffled:
        planes = np.arange(WIDTH)[:, None] * math.prod(chunk)
        begins, ends = (planes + begins).reshape(-1), (planes + ends).reshape(-1)
    else:
        begins, ends = WIDTH * begins, WIDTH * ends
    apart = begins[1:] != ends[:-1]
    return begins[np.append(True, apart)], ends[np.append(apart, True)]


def requests(chunk: tuple[int, ...], point: tuple[int, ...]) -> dict[str, tuple[range, ...]]:
    """Return a row, a patch of a map, and a box, of as many values each.

    Parameters
    ----------
    chunk : tuple of int
        Shape of a chunk: levels, latitudes, longitudes.
    point : tuple of int
        Latitude and longitude that they lie about.

    Examples
    --------
    >>> found = requests((13, 721, 1440), (280, 506))
    >>> [tuple(len(axis) for axis in box) for box in found.values()]
    [(1, 1, 1440), (1, 36, 40), (12, 10, 12)]
    """
    count = chunk[-1]
    side = _factor(count, round(math.sqrt(count)))
    levels = _factor(count, min(chunk[0], round(count ** (1 / 3)) + 1))
    rest = _factor(count // levels, round(math.sqrt(count // levels)))
    shapes = {
        "row": (1, 1, count),
        "patch": (1, side, count // side),
        "box": (levels, rest, count // levels // rest),
    }
    return {name: _about(shape, chunk, (0, *point)) for name, shape in shapes.items()}


def stream(files: Files, name: str, index: Index) -> Stream:
    """Return the points of the first chunk of a file."""
    path, variable = files.index_path(name, index), files.variable(name)
    if index.layout == "document":
        out, stored, *sizes = document.first(path, variable)
        return Stream(out, stored, np.ones(len(out), bool), *sizes)
    opened = subchunk.Index(path)
    entry = opened.entries[variable]
    chunks, points = opened.points(entry)
    end = int(points.first[1])
    return Stream(
        points.out[:end],
        points.bit[:end].astype(np.int64) >> 3,
        np.isin(np.arange(end), points.mark),
        entry.variable.chunk_bytes,
        int(chunks.size[0]),
    )


def places(files: Files) -> Iterator[dict[str, object]]:
    """Yield the points of the first chunk of the temperature: a row a point, and one for the end.

    ``out_at`` and ``stored_at`` are bytes of the decompressed and of the compressed chunk.
    """
    for name in files.names[:2]:
        for index in (DOCUMENT, DEFAULT):
            found = stream(files, name, index)
            out = np.append(found.out[found.starts], found.out_bytes)
            stored = np.append(found.stored[found.starts], found.stored_bytes)
            for order, (low, high) in enumerate(zip(out.tolist(), stored.tolist(), strict=True)):
                yield {
                    "case": f"{spelled(name)}/{index.name}",
                    "phase": "point" if order < len(out) - 1 else "end",
                    "order": order,
                    "out_at": low,
                    "stored_at": high,
                }


def pieces(files: Files) -> Iterator[dict[str, object]]:
    """Yield how many sections of a chunk of the temperature a request needs.

    ``requests`` are sections, ``predicted_reads`` runs of bytes of the decompressed chunk,
    ``useful_bytes`` those wanted, ``predicted_bytes`` those decompressed, ``wire_bytes`` the
    compressed ones read. Cases are of the document's index; those of ours begin with "ours/".
    """
    for case, begins, ends, found, _ in _asked(files):
        yield {
            "case": case,
            "phase": "plan",
            "pattern": case.split("/")[-2],
            "shuffle": case.endswith("/on"),
            "requests": len(found),
            "predicted_reads": len(begins),
            "useful_bytes": int((ends - begins).sum()),
            "predicted_bytes": int((found[:, 1] - found[:, 0]).sum()),
            "wire_bytes": int((found[:, 3] - found[:, 2]).sum()),
        }


def sections(files: Files) -> Iterator[dict[str, object]]:
    """Yield where the runs and the sections of each request lie, for the pictures.

    A row "run" has ``out_at`` and ``useful_bytes``; a row "section" has ``out_at``,
    ``predicted_bytes``, ``stored_at`` and ``wire_bytes``; a row "chunk" the chunk's two lengths.
    """
    for case, begins, ends, found, where in _asked(files):
        yield {
            "case": case,
            "phase": "chunk",
            "predicted_bytes": where.out_bytes,
            "wire_bytes": where.stored_bytes,
        }
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            yield {"case": case, "phase": "run", "out_at": begin, "useful_bytes": end - begin}
        for low, high, start, stop in found.tolist():
            yield {
                "case": case,
                "phase": "section",
                "out_at": low,
                "predicted_bytes": high - low,
                "stored_at": start,
                "wire_bytes": stop - start,
            }


def _asked(files: Files) -> Iterator[tuple[str, Places, Places, Places, Stream]]:
    for name in files.names[:2]:
        shape = files.shapes[name][1:]
        point = files.pixels(name)[0]
        assert isinstance(point, tuple)
        lat, lon = point[-2:]
        assert isinstance(lat, int) and isinstance(lon, int)
        shuffle = name.partition("-")[2]
        for index, mark in ((DOCUMENT, ""), (DEFAULT, "ours/")):
            where = stream(files, name, index)
            for request, box in requests(shape, (lat, lon)).items():
                begins, ends = runs(box, shape, shuffle == "on")
                found = where.sections(begins, ends)
                yield f"{mark}{request}/{shuffle}", begins, ends, found, where


def _factor(number: int, near: int) -> int:
    """Return the largest factor of a number up to another one."""
    return next(factor for factor in range(min(near, number), 0, -1) if number % factor == 0)


def _about(
    shape: tuple[int, ...], chunk: tuple[int, ...], point: tuple[int, ...]
) -> tuple[range, ...]:
    """Return a box about a point, moved so that it lies in the chunk."""
    found = []
    for length, whole, at in zip(shape, chunk, point, strict=True):
        start = min(max(at - length // 2, 0), whole - length)
        found.append(range(start, start + length))
    return tuple(found)
