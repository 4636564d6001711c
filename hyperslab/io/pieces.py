"""Where a request lies in a compressed chunk, and what is decoded for it between points."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Box = tuple[range, ...]
WIDTH = 4  # bytes of a float32


@dataclass(frozen=True)
class Points:
    """The points of one chunk."""

    out: Places  # decompressed bytes before each point, ascending
    stored: Places  # compressed bytes before each point
    starts: NDArray[np.bool_]  # whether decompression can start there, or only end
    out_bytes: int
    stored_bytes: int

    def sections(self, begins: Places, ends: Places) -> Places:
        """Return what is decompressed for ascending ranges of the decompressed chunk.

        A row for each section: first and last decompressed byte, first and last compressed byte,
        the last ones excluded. Sections that touch are one.

        Examples
        --------
        >>> ten = np.arange(0, 100, 10)
        >>> points = Points(ten, ten // 2, np.ones(10, bool), 100, 50)
        >>> points.sections(np.array([5, 18, 77]), np.array([6, 22, 79])).tolist()
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


def runs(box: Box, chunk: tuple[int, ...], shuffled: bool) -> tuple[Places, Places]:
    """Return the ranges of bytes that a box takes of a decompressed chunk; touching ones are one.

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


def requests(chunk: tuple[int, ...], point: tuple[int, int]) -> dict[str, Box]:
    """Return a row, a patch of a map, and a box over levels, of as many values each.

    Examples
    --------
    >>> found = requests((13, 721, 1440), (280, 506))
    >>> {name: tuple(len(axis) for axis in box) for name, box in found.items()}
    {'row': (1, 1, 1440), 'patch': (1, 36, 40), 'box': (12, 10, 12)}
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


def _factor(number: int, near: int) -> int:
    """Return the largest factor of a number up to another one."""
    return next(factor for factor in range(min(near, number), 0, -1) if number % factor == 0)


def _about(shape: tuple[int, ...], chunk: tuple[int, ...], point: tuple[int, ...]) -> Box:
    """Return a box about a point, moved so that it lies in the chunk."""
    starts = (
        min(max(at - length // 2, 0), whole - length)
        for length, whole, at in zip(shape, chunk, point, strict=True)
    )
    return tuple(range(start, start + n) for start, n in zip(starts, shape, strict=True))
