"""The layouts that are tried when none is named: a few that suit the usual reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hyperslab.io.chunk_shapes import ceil_chunk
from hyperslab.io.source import SourceVariable
from hyperslab.io.variable import Variable

from .axes import axes_of, axis_letters
from .target import Choice, Target, chunked_format, packs

CHUNK_BYTES = 2**20
"""What a chunk is meant to take where nobody says it; `rechunk` shortens chunks to it too."""
MOST_BYTES, LEAST_BYTES = 4 * 2**20, 64 * 2**10  # of chunks for maps, and of any
Ints = Sequence[int]


def candidates(
    format: str, variables: Mapping[str, SourceVariable], chosen: Sequence[SourceVariable]
) -> list[Target]:
    """Return the layouts that are tried when none is named, each once."""
    chunked = chunked_format(format)
    tried = [Target("copy", format), Target("default chunks", chunked, Choice("default"))]
    for name, each in shapes(variables, chosen).items():
        tried.append(Target(name, chunked, each=tuple((v, Choice(n)) for v, n in each.items())))
    if other := _other_codec(chunked, chosen):
        last = tried[-1]
        packed = replace(other, chunks=last.choice.chunks)
        repacked = tuple((v, replace(other, chunks=own.chunks)) for v, own in last.each)
        tried.append(Target(f"{last.name}, {other.codec} {other.level}", chunked, packed, repacked))
    different: dict[tuple[object, ...], Target] = {}
    for target in tried:
        different.setdefault(tuple(target.layouts(chosen).items()), target)
    return list(different.values())


def shapes(
    variables: Mapping[str, Variable], chosen: Sequence[Variable]
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return chunk shapes by what they suit, for each variable: one usual read, or both alike."""
    # Rew 2013, "Chunking Data: Choosing Shapes" (Unidata).
    axes = axes_of(variables)
    by_name: dict[str, dict[str, tuple[int, ...]]] = {}
    filled = [v for v in chosen if v.shape and 0 not in v.shape]
    fields = [v for v in filled if len(v.shape) > 1]
    for variable in fields or filled:  # coordinates beside fields stay as they are
        letters = axis_letters(variable.dims, variable.unlimited, axes)
        for name, chunks in _shapes(variable.shape, variable.itemsize, letters).items():
            by_name.setdefault(name, {})[variable.name] = chunks
    return by_name


def _shapes(
    shape: tuple[int, ...], itemsize: int, letters: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    plane = [axis for axis, letter in enumerate(letters) if letter in ("Y", "X")]
    line = next((letters.index(letter) for letter in ("T", "Z") if letter in letters), None)
    if line is not None and plane:
        name = "series chunks" if letters[line] == "T" else "profile chunks"
        return {
            "map chunks": along(shape, itemsize, plane, MOST_BYTES, LEAST_BYTES),
            name: along(shape, itemsize, [line], CHUNK_BYTES, CHUNK_BYTES),
            "balanced chunks": balanced(shape, itemsize, [line], plane),
        }
    if len(shape) == 1:
        return {"1 MiB chunks": along(shape, itemsize, [0], CHUNK_BYTES, LEAST_BYTES)}
    last = len(shape) - 1
    return {
        "row chunks": along(shape, itemsize, [last], CHUNK_BYTES, LEAST_BYTES),
        "column chunks": along(shape, itemsize, [0], CHUNK_BYTES, LEAST_BYTES),
        "balanced chunks": balanced(shape, itemsize, [0], [last]),
    }


def along(shape: Ints, itemsize: int, whole: Ints, most: int, fill: int = 0) -> tuple[int, ...]:
    """Return a chunk of some axes whole, up to `most` bytes, and the others alike, up to `fill`."""
    chunk, room = [1] * len(shape), most // itemsize
    for axis in reversed(whole):
        chunk[axis] = max(min(shape[axis], room), 1)
        room //= chunk[axis]
    rest = [axis for axis in range(len(shape)) if axis not in whole]
    share(chunk, shape, rest, fill // itemsize // math.prod(chunk))
    return tuple(chunk)


def balanced(shape: Ints, itemsize: int, line: Ints, plane: Ints) -> tuple[int, ...]:
    """Return a chunk for which a line (a series) and a plane (a map) touch as many chunks."""
    room = max(CHUNK_BYTES // itemsize, 1)
    lines, points = (math.prod(shape[axis] for axis in group) for group in (line, plane))
    count = max(lines * points / room, 1.0)
    across = min(max(math.sqrt(count), count / points), lines)
    chunk = [1] * len(shape)
    for group, number in ((line, across), (plane, count / across)):
        left = number
        for done, axis in enumerate(sorted(group, key=lambda axis: shape[axis])):
            each = min(left ** (1 / (len(group) - done)), shape[axis])
            chunk[axis] = ceil_chunk(shape[axis], math.ceil(each - 1e-9))
            left = max(left / each, 1.0)
    rest = [axis for axis in range(len(shape)) if axis not in (*line, *plane)]
    share(chunk, shape, rest, room // math.prod(chunk))
    return tuple(chunk)


def share(chunk: list[int], shape: Ints, axes: Ints, room: int, most: Ints = ()) -> None:
    """Give a chunk lengths alike along some axes, of so many elements together, each at most so."""
    most = most or shape
    for done, axis in enumerate(sorted(axes, key=lambda axis: most[axis])):
        side = max(int(max(room, 1) ** (1 / (len(axes) - done)) + 1e-9), 1)
        chunk[axis] = ceil_chunk(shape[axis], -(-shape[axis] // min(side, most[axis])))
        room //= chunk[axis]


def _other_codec(format: str, chosen: Sequence[SourceVariable]) -> Choice | None:
    """Return a codec worth a try beside the file's own."""
    tries = [Choice(codec="zstd", level=3)]
    if not any(variable.codec for variable in chosen):
        deflate = Choice(codec="deflate", level=1, shuffle=True)
        tries = [deflate, replace(tries[0], shuffle=False)]
    able = (c for c in tries if packs(format, c.codec, c.level, bool(c.shuffle)))
    return next(able, None)
