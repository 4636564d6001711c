"""Which reads are made: the sizes of buffers, and cases of readers, patterns and sizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product

from ...kernels.build import KernelError, compiler
from ...measure.case import Case
from .files import Files
from .readers import READERS
from .reads import ReadBuffers, right
from .spots import PATTERNS, Spots

EXPERIMENT = "patterns"
WARM_BLOCKS = 7
"""Blocks of what claims compare and other things than noise decide."""
_UNITS = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}


def size_name(nbytes: int) -> str:
    """Return the name of a size, as cases have it.

    Examples
    --------
    >>> size_name(512), size_name(4096), size_name(2**30)
    ('512B', '4KiB', '1GiB')
    """
    unit = next(unit for unit, factor in _UNITS.items() if nbytes % factor == 0)
    return f"{nbytes // _UNITS[unit]}{unit}"


def size_bytes(name: str) -> int:
    """Return the bytes of a named size.

    Raises
    ------
    ValueError
        When it is no such name.

    Examples
    --------
    >>> size_bytes("64KiB")
    65536
    """
    unit = next((unit for unit in _UNITS if name.endswith(unit)), "")
    number = name.removesuffix(unit)
    if not unit or not number.isdigit():
        raise ValueError(f"{name!r} is no size: write it as 512B, 4KiB, 1MiB or 1GiB")
    return int(number) * _UNITS[unit]


def spaced(name: str) -> str:
    """Return the name of a size as it stands in a sentence.

    Examples
    --------
    >>> spaced("4KiB"), spaced("512B")
    ('4 KiB', '512 B')
    """
    number = name.rstrip("KMGiB")
    return f"{number} {name.removeprefix(number)}"


_JUDGED = ("512B", "4KiB", "16KiB", "64KiB", "1MiB", "8MiB", "64MiB")
_DOUBLING = tuple(size_name(2**n) for n in range(9, 31))
BUFFERS = {
    "smoke": ("512B", "4KiB", "64KiB", "1MiB", "64MiB"),
    "quick": _JUDGED,
    "full": _DOUBLING,
    "paper": _DOUBLING,
}
"""Sizes of buffers by profile: those that claims name, or the document's."""


def buffers(profile: str, file_bytes: int) -> tuple[str, ...]:
    """Return the sizes of buffers of a profile that a file can fill.

    Examples
    --------
    >>> buffers("full", 2**30)[-1], len(buffers("full", 2**30))
    ('1GiB', 22)
    >>> buffers("smoke", 2**20)
    ('512B', '4KiB', '64KiB', '1MiB')
    """
    return tuple(name for name in BUFFERS[profile] if size_bytes(name) <= file_bytes)


@dataclass(frozen=True)
class Cell:
    """A reader, a pattern and a size of buffer.

    Parameters
    ----------
    reader : str
        One of `READERS`.
    pattern : str
        One of `PATTERNS`.
    size : str
        Such as 4KiB.

    Examples
    --------
    >>> Cell("c-fread", "random", "4KiB").name
    'c-fread/random/4KiB'
    """

    reader: str
    pattern: str
    size: str

    @property
    def name(self) -> str:
        """The name of its case."""
        return f"{self.reader}/{self.pattern}/{self.size}"

    @staticmethod
    def named(name: str) -> "Cell":
        """Return the cell of a case's name."""
        return Cell(*name.split("/"))


def cells(
    readers: Iterable[str], patterns: Iterable[str] = PATTERNS, sizes: Iterable[str] = _JUDGED
) -> list[Cell]:
    """Return all combinations, without those readers that are missing here.

    Examples
    --------
    >>> [cell.name for cell in cells(["python-read"], ["random"], ["512B", "4KiB"])]
    ['python-read/random/512B', 'python-read/random/4KiB']
    """
    return [Cell(*parts) for parts in product(available(readers), patterns, sizes)]


def available(readers: Iterable[str]) -> list[str]:
    """Return those readers that can be used here.

    Raises
    ------
    ValueError
        For a reader that there is not.
    """
    asked = list(readers)
    if unknown := [name for name in asked if name not in READERS]:
        raise ValueError(f"no reader {unknown[0]!r}: give some of {', '.join(READERS)}")
    return [name for name in asked if not missing(name)]


def missing(reader: str) -> str:
    """Return what a reader lacks here; "" when it can be used.

    Examples
    --------
    >>> missing("python-read")
    ''
    """
    lacks = [module for module in READERS[reader].modules if find_spec(module) is None]
    if READERS[reader].in_c:
        try:
            compiler()
        except KernelError:
            lacks.append("a C compiler")
    return " and ".join(lacks)


def modules(readers: Iterable[str]) -> list[str]:
    """Return what is imported before the processes of these readers are forked.

    Examples
    --------
    >>> modules(["python-read", "zarr"])
    ['zarr', 'hyperslab.study.jones.reads']
    """
    found = dict.fromkeys(module for name in readers for module in READERS[name].modules)
    return [*found, "hyperslab.study.jones.reads"]


def cases(
    wanted: Sequence[Cell], files: Mapping[str, Files], limit_s: float, seed: int = 0
) -> list[Case]:
    """Return a case for each cell in each state of the cache; the first of each state is paired.

    Parameters
    ----------
    wanted : sequence of Cell
    files : mapping
        By cache state, "cold" or "warm".
    limit_s : float
        Seconds of reading after which a sample stops.
    seed : int
        Of the random reads.
    """
    return [
        case(cell, made, state, limit_s, seed, aa=number == 0)
        for state, made in files.items()
        for number, cell in enumerate(wanted)
    ]


def fewer(case: Case, blocks: int, judged: bool) -> Case:
    """Return a case that stops after some blocks; less soon if claims compare it.

    From memory a few more blocks will do; from the device all are made, and of what is paired.
    """
    if not blocks or case.aa or (judged and case.cache_state == "cold"):
        return case
    return replace(case, most_blocks=max(blocks, WARM_BLOCKS) if judged else blocks)


def case(
    cell: Cell,
    files: Files,
    state: str,
    limit_s: float,
    seed: int = 0,
    *,
    aa: bool = False,
    least: int = 1,
) -> Case:
    """Return the case of one cell, of so many reads at least."""
    reader = READERS[cell.reader]
    path = files.path(reader.format)
    spots = Spots(cell.pattern, size_bytes(cell.size), files.nbytes, seed)
    return Case(
        cell.name,
        ReadBuffers(path, cell.reader, spots, limit_s, least),
        check=right,
        columns={
            "library": reader.library,
            "format": reader.format,
            "pattern": cell.pattern,
            "size": cell.size,
            "file_bytes": files.nbytes,
        },
        files=[path],
        cache_state=state,
        aa=aa,
    )
