"""The chunks that netCDF-C picks for variables of many shapes, and those of a model of its rule."""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..io.chunk_shapes import default_chunks

DTYPES = {1: "i1", 2: "i2", 4: "f4", 8: "f8"}
GROWN = 1500  # steps that an unlimited dimension has before the next variable is defined

# Grids, series and images as people have them.
_USUAL = (
    (72, 380, 1287), (13, 13, 721, 1440), (365, 721, 1440), (8760, 181, 360), (240, 37, 361, 720),
    (50, 30, 40, 180, 360), (100, 400, 800), (87600,), (87600, 500), (500, 87600), (744, 10),
    (10980, 10980), (21, 1500, 1500), (100000, 4096), (2160, 4320, 4),
)  # fmt: skip
# An axis too short to be cut, lengths around a power of two, products past 2**24, and no end.
_AWKWARD = (
    (1,), (1, 1, 1, 1, 1, 1), (1, 1, 10**9), (1, 30000, 30000), (2, 3, 5 * 10**7), (4, 3162, 3162),
    (12, 721, 1440), (2, 2, 2, 2, 2, 10**7), (2**24 - 1,), (2**24,), (2**24 + 1,), (4096, 4096),
    (4097, 4097), (99991, 99989), (7919, 7907, 3), (16777259, 3), (2**40,), (10**6, 10**6),
    (10**5, 10**5, 10**5), (4000,) * 4, (1000,) * 6,
)  # fmt: skip
_DRAWN = 60
SHOWN = {  # variables that the page names
    "f4 3162x3162": "a square image",
    "f4 *x721x1440": "maps, time unlimited",
    "f4 365x721x1440": "maps of a year, all fixed",
    "i2 *x500": "500 stations, time unlimited",
    "f4 *": "a series, time unlimited",
    "f4 *x*": "both dimensions unlimited",
    "f4 1x30000x30000": "a large map with one level",
    "f4 1x1x1000000000": "a series with two dimensions of length one",
}


@dataclass(frozen=True)
class Defined:
    # lengths of its axes; of unlimited ones the length that netCDF-C knows of when the variable
    # is defined, 0 in a new file
    shape: tuple[int, ...]
    itemsize: int  # bytes a value: 1, 2, 4 or 8
    unlimited: tuple[int, ...] = ()  # which axes are unlimited

    @property
    def name(self) -> str:
        """Type and lengths; an unlimited axis is a star, with its length where it has one."""
        lengths = [
            (f"*{n or ''}" if axis in self.unlimited else f"{n}")
            for axis, n in enumerate(self.shape)
        ]
        return f"{DTYPES[self.itemsize]} {'x'.join(lengths)}"

    @property
    def kind(self) -> str:
        """Which axes are unlimited: "none", "some", "all", or "lone" for the only axis."""
        if not self.unlimited:
            return "none"
        if len(self.unlimited) < len(self.shape):
            return "some"
        return "all" if len(self.shape) > 1 else "lone"

    @property
    def fixed_bytes(self) -> int:
        lengths = (n for axis, n in enumerate(self.shape) if axis not in self.unlimited)
        return self.itemsize * math.prod(lengths)


def variables(shapes: Iterable[tuple[int, ...]] = ()) -> list[Defined]:
    """Return the variables that are tried: 1 to 6 dimensions, values of 1 to 8 bytes."""
    definitions = []
    for number, shape in enumerate((*_USUAL, *_AWKWARD, *shapes)):
        rank = len(shape)
        growing = [(), (), (0,), (rank - 1,), (0, 1)[:rank], tuple(range(rank))]
        for step, unlimited in enumerate(growing):
            definitions.append(_new(shape, (1, 2, 4, 8)[(number + step % 4) % 4], unlimited))
    definitions += map(named, SHOWN)
    draw = random.Random(0)
    for _ in range(_DRAWN):
        rank = draw.randint(1, 6)
        most = draw.choice((6, 12, 60 // rank))
        shape = tuple(max(1, int(2 ** draw.uniform(0, most))) for _ in range(rank))
        unlimited = tuple(axis for axis in range(rank) if draw.random() < 0.3)
        definitions.append(_new(shape, draw.choice((1, 2, 4, 8)), unlimited))
    definitions += [Defined((GROWN,), size, (0,)) for size in (4, 8)]
    definitions += [Defined((GROWN, 0), 4, (0, 1)), Defined((GROWN, 721, 1440), 4, (0,))]
    return list({item.name: item for item in definitions}.values())


def named(name: str) -> Defined:
    kind, text = name.split()
    lengths = text.split("x")
    unlimited = tuple(axis for axis, n in enumerate(lengths) if n.startswith("*"))
    return Defined(tuple(int(n.strip("*") or 0) for n in lengths), int(kind[1]), unlimited)


def growing() -> list[Defined]:
    fixed = (
        (10,), (500,), (721, 1440), (1500, 1500), (4000, 4000), (37, 361, 720), (13, 721, 1440),
        (30, 40, 180, 360), (2, 3, 4, 5, 6),
    )  # fmt: skip
    definitions = [Defined((0, *shape), size, (0,)) for shape in fixed for size in (4, 8)]
    definitions += [Defined((0, 0, *shape), 4, (0, 1)) for shape in ((721, 1440), (10,))]
    definitions += [Defined((0,) * rank, 4, tuple(range(rank))) for rank in (1, 2, 3, 4)]
    return definitions


def picked(items: Iterable[Defined], folder: Path) -> Iterator[dict[str, object]]:
    """Yield what the library picks for each variable, and what the model says it picks."""
    items, size = list(items), default_chunk_bytes(folder)
    for item, chunks in zip(items, library_chunks(items, folder), strict=True):
        model = default_chunks(item.shape, item.itemsize, item.unlimited, size)
        yield {
            "variable": item.name,
            "phase": "define",
            "library": "netCDF4",
            "format": "netcdf4",
            "mode": item.kind,
            "chunks": "x".join(map(str, chunks)),
            "predicted_chunks": "x".join(map(str, model)),
            "useful_bytes": math.prod(chunks) * item.itemsize,
            "predicted_bytes": math.prod(model) * item.itemsize,
        }


def constants(folder: Path) -> Iterator[dict[str, object]]:
    """Yield the size the build was made for, and what it does where nothing asks for chunks."""
    import netCDF4

    common = {"phase": "define", "library": "netCDF4"}
    size = default_chunk_bytes(folder)
    yield {"variable": "default chunk size", "useful_bytes": size, **common}
    path = folder / "unfiltered.nc"
    with netCDF4.Dataset(path, "w") as file:
        for axis, n in enumerate((1000, 1000)):
            file.createDimension(f"d{axis}", n)
        chunking = file.createVariable("v", "f4", ("d0", "d1")).chunking()
    path.unlink()
    yield {"variable": "fixed, no filter", "mode": str(chunking), **common}


def default_chunk_bytes(folder: Path) -> int:
    """Return what a chunk is meant to take in the installed build of netCDF-C, to the byte."""
    # A lone fixed axis too long to be spread evenly gets one value less than the rule aims at.
    [[length]] = library_chunks([Defined((2**60,), 1)], folder)
    return length + 1


def library_chunks(items: Sequence[Defined], folder: Path) -> list[tuple[int, ...]]:
    """Return the chunks the installed library picks when variables are defined; none is written."""
    import netCDF4

    path = folder / "defined.nc"
    path.unlink(missing_ok=True)
    chunks: list[tuple[int, ...]] = []
    with netCDF4.Dataset(path, "w") as file:
        for number, item in enumerate(items):
            names = [f"d{number}_{axis}" for axis in range(len(item.shape))]
            for axis, (name, n) in enumerate(zip(names, item.shape, strict=True)):
                file.createDimension(name, None if axis in item.unlimited else n)
                if axis in item.unlimited and n:
                    file.createVariable(f"{name}_grown", "i1", (name,))[:n] = 0
                    len(file.dimensions[name])  # until asked, the library takes it for 0
            # A filter: fixed axes alone would not be chunked.
            variable = file.createVariable(f"v{number}", DTYPES[item.itemsize], names, zlib=True)
            chunks.append(tuple(map(int, variable.chunking())))
    path.unlink()
    return chunks


def _new(shape: tuple[int, ...], itemsize: int, unlimited: tuple[int, ...]) -> Defined:
    now = tuple(0 if axis in unlimited else n for axis, n in enumerate(shape))
    return Defined(now, itemsize, unlimited)
