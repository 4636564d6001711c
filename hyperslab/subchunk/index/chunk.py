"""Index one compressed chunk: where points cost least, and what each of them needs."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW
from ..deflate.walk import Positions, bits, walk
from ..deflate.windows import HAS_LZMA, by_lzma, deflated, referred
from .points import ChunkPoints, segment_sums
from .spread import MARK, Spread

_TRIED = 8  # windows packed both ways
_LARGE = 1024  # bytes of a packed window from which on another way is tried
_GAIN = 0.8  # what it must come to, since unpacking takes longer
CLOSEST = 44 * 2**10  # bytes of output between points, on average: more are slow to build
_NEAREST, _WIDE = 2**15, 2**17  # anywhere, unless the budget does not reach
_WIDEST = 2**22
_OUTPUT = 1 / 32  # cost of a byte of output in bytes of compressed data
MARK_BYTES, POINT_BYTES = 6, 12  # of the tables, about: for each mark, and more for a point
_COARSEST = 2**16  # bytes of output between marks
_FOR_MARKS = 1 / 4  # share of the budget that marks may take, unless they would be coarser
_BETWEEN = 4, 16  # marks for each point: fewer read much beyond, more make large tables
TRIED, _SMOOTH = 96, 5  # points made to learn what they cost, and how many are averaged

Bytes = NDArray[np.uint8]
Packer = Callable[[Bytes, NDArray[np.bool_], int], bytes]


def index_chunk(
    stream: Bytes, chunk_bytes: int, itemsize: int, chunk: int, spread: Spread
) -> ChunkPoints:
    output = np.empty(chunk_bytes, np.uint8)
    marks = walk(stream, spread.mark, output)
    return Windows(marks, stream, output, itemsize).points(spread, chunk)


class Windows:
    """What points of one chunk need to start decompression at."""

    def __init__(self, marks: Positions, stream: Bytes, output: Bytes, itemsize: int) -> None:
        self.marks = marks
        self._stream, self._output, self._itemsize = stream, output, itemsize

    def points(self, spread: Spread, chunk: int) -> ChunkPoints:
        """Return marks, and points at some of them, as they are spread."""
        marks = self.marks
        starts = spread.starts(marks.out.astype(np.int64), chunk)
        return ChunkPoints(
            marks.out,
            marks.bit,
            np.array(segment_sums(self._stream.data, marks.bit), np.uint32),
            starts,
            (marks.header_stop - marks.header_start)[starts],
            self.kept(starts.tolist()),
        )

    def kept(self, numbers: Sequence[int]) -> list[bytes]:
        """Return header and packed window of each of some places; some tell how all are packed."""
        tried = numbers[:: max(len(numbers) // _TRIED, 1)]
        pack: Packer = deflated
        packed = {number: self._packed(number, pack) for number in tried}
        usual = sum(map(len, packed.values()))
        if HAS_LZMA and usual > _LARGE * len(tried):
            other = {number: self._packed(number, by_lzma) for number in tried}
            if sum(map(len, other.values())) < _GAIN * usual:
                pack, packed = by_lzma, other
        return [packed.get(number) or self._packed(number, pack) for number in numbers]

    def _packed(self, number: int, pack: Packer) -> bytes:
        marks, output, stream = self.marks, self._output, self._stream
        columns = marks.out, marks.bit, marks.header_start, marks.header_stop
        out, bit, start, stop = (int(column[number]) for column in columns)
        header = bits(stream, start, stop)
        front = header.to_bytes((stop - start + 7) >> 3, "little")
        if not out:
            return front
        window = np.zeros(WINDOW, np.uint8)
        window[max(0, WINDOW - out) :] = output[max(0, out - WINDOW) : out]
        truth = output[out : out + WINDOW]
        behind = int(np.searchsorted(marks.out, out + truth.size))
        end = int(marks.bit[behind] + np.uint64(7)) >> 3 if behind < len(marks) else stream.size
        used = referred(stream.data[bit >> 3 : end], bit & 7, (header, stop - start), window, truth)
        if out < WINDOW:
            used[: WINDOW - out] = False  # before the beginning
        return front + pack(window, used, self._itemsize)


def choose_spread(
    stream: Bytes, chunk_bytes: int, itemsize: int, chunk: int, budget: float
) -> tuple[Spread, ChunkPoints]:
    """Return where points lie that cost at most a share of the compressed chunk."""
    # Their distances go with the root of what a window costs over what is read between them: that
    # is the least reading for the same bytes.
    mark, ratio = MARK, chunk_bytes / stream.size
    while mark < _COARSEST and MARK_BYTES * ratio / mark > _FOR_MARKS * budget:
        mark *= 2
    choice = _with_marks(stream, chunk_bytes, itemsize, chunk, budget, mark)
    (low, high), better = _BETWEEN, mark
    if choice[0].spacing < low * mark:
        better = max(mark // 2, MARK // 2)
    elif choice[0].spacing > high * mark:
        better = min(2 * mark, _COARSEST)
    if better == mark:
        return choice
    return _with_marks(stream, chunk_bytes, itemsize, chunk, budget, better)


def _with_marks(
    stream: Bytes, chunk_bytes: int, itemsize: int, chunk: int, budget: float, mark: int
) -> tuple[Spread, ChunkPoints]:
    """Return where points lie that stand at marks so many bytes apart."""
    output = np.empty(chunk_bytes, np.uint8)
    marks = walk(stream, mark, output)
    windows = Windows(marks, stream, output, itemsize)
    out = np.append(marks.out, np.uint64(chunk_bytes)).astype(np.float64)
    stored = np.append(marks.bit >> np.uint64(3), np.uint64(stream.size)).astype(np.float64)
    cost = POINT_BYTES + _window_bytes(windows, out[:-1])
    read = (np.diff(stored) + _OUTPUT * np.diff(out)) / np.diff(out)
    allowed = 0.97 * budget * stream.size  # the rest is for the head and for chance
    for_points = max(allowed - MARK_BYTES * len(marks), 1.0)
    while True:
        spread = _spread(out, cost, np.maximum(read, 1e-3), for_points, mark)
        points = windows.points(spread, chunk)
        tables = MARK_BYTES * len(points.out) + POINT_BYTES * len(points.kept)
        spent = tables + sum(map(len, points.kept))
        if spent <= allowed or for_points < POINT_BYTES:  # marks alone may be above it
            return spread, points
        for_points *= 0.98 * allowed / spent


def _window_bytes(windows: Windows, out: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return about what each place would keep, from some that are made."""
    last = len(out) - 1
    tried = np.unique(np.linspace(min(1, last), last, TRIED).astype(int))
    sizes = np.array([len(piece) for piece in windows.kept(tried.tolist())], np.float64)
    padded = np.pad(sizes, _SMOOTH // 2, mode="edge")  # one window says little of its neighbours
    return np.interp(out, out[tried], np.convolve(padded, np.ones(_SMOOTH) / _SMOOTH, "valid"))


def _spread(
    out: NDArray[np.float64],
    cost: NDArray[np.float64],
    read: NDArray[np.float64],
    allowed: float,
    mark: int,
) -> Spread:
    """Return the closest spread whose points cost no more than is allowed."""

    def counts(scale: float) -> NDArray[np.float64]:
        return np.diff(out) / np.clip(scale * ideal, _NEAREST, widest - mark)

    def fits(scale: float) -> bool:
        count = counts(scale)
        return bool((count * cost).sum() <= allowed and count.sum() <= out[-1] / CLOSEST)

    ideal, low, high, widest = np.sqrt(cost / read), 1e-3, 1e9, _WIDE
    while not fits(high) and widest < _WIDEST:
        widest *= 2
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if fits(middle) else (middle, high)
    return Spread(out, np.append(0.0, np.cumsum(counts(high))), mark, widest)
