"""Plain binary read from C and from Python: cases and results (Jones 2016, section 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ...measure.case import Case
from ...measure.machine import memory_bytes
from ...measure.records import main
from ...measure.stats import Interval, geometric_mean_ratio, mean_sd, median_interval, paired_ratio
from . import plan
from .files import ITEMSIZE, Files, make_files
from .plan import WARM_BLOCKS, Cell, buffers, cells, fewer, size_bytes
from .spots import PATTERNS

MODULES = tuple(f"hyperslab.study.jones.{name}" for name in ("baseline", "latencies", "dd"))
FIGURE_3 = ("c-fread", "python-read")
"""What the document reads plain binary with."""
OTHERS = ("c-pread", "python-readinto", "numpy-fromfile", "numpy-memmap")
OTHER_SIZES = ("64KiB", "1MiB", "64MiB")
_ALIGNED = ("4KiB", "64KiB")  # at which random reads by fread and by pread are told apart
ORDERED = 8 * 2**20
"""Up to this size of buffer a sample of any pattern has several reads, and patterns are judged."""
_MET = "64MiB"
"""Where the patterns are said to meet, and numpy to read as fast as Python."""
_MET_READS = 4
"""Of which a cold sample has so many at least: one alone has no pattern."""


@dataclass(frozen=True)
class Stated:
    """A rate that the document states in words; its figures give no numbers.

    Parameters
    ----------
    where : str
    what : str
    rate : float
        Bytes in a second.
    pattern, size : str
        The nearest of our cells; "" for the largest buffer that a sample reads several of.
    """

    where: str
    what: str
    rate: float
    pattern: str
    size: str = ""


STATED = (
    Stated("JASMIN (Panasas)", "strided reads of 512 MiB", 400e6, "strided", "512MiB"),
    Stated("ARCHER (Lustre)", "expected, and met", 500e6, "sequential"),
    Stated("JASMIN (Panasas)", "link of a node, at most", 1.25e9, "sequential"),
)


def files_of(
    scratch: Path, directory: str, file_mib: int, *, warm: bool = True
) -> dict[str, Files]:
    """Return where the file lies that is read cold, and the one that stays in memory.

    Parameters
    ----------
    scratch : Path
        For files that may go when the run ends.
    directory : str
        Where the cold file is kept instead; "" for `scratch`.
    file_mib : int
        Size in MiB; 0 for over twice the memory, rounded up to a GiB, as in the document.
    warm : bool
        Whether there is one that stays in memory.

    Examples
    --------
    >>> files_of(Path("scratch"), "", 64)["cold"].nbytes // 2**20
    64
    """
    file_mib = file_mib or 1024 * (2 * memory_bytes() // 2**30 + 1)
    values = file_mib * 2**20 // ITEMSIZE
    cold = Path(directory) if directory else scratch / "cold"
    return {"cold": Files(cold, values)} | (
        {"warm": Files(scratch / "warm", values)} if warm else {}
    )


def make(files: Mapping[str, Files]) -> None:
    """Stream the plain files to disk; what is there already is left alone."""
    for made in files.values():
        make_files(made, ["binary"])


def cases(
    profile: str,
    files: Mapping[str, Files],
    limit_s: float,
    seed: int = 0,
    sizes: str = "",
    other_blocks: int = 0,
) -> list[Case]:
    """Return the cases of Figures 3 to 5, and of other ways to read the same file.

    Parameters
    ----------
    profile : str
    files : mapping
        By cache state.
    limit_s : float
        Seconds of reading after which a sample stops.
    seed : int
        Of the random reads.
    sizes : str
        Sizes of buffers, with spaces between; "" for the profile's.
    other_blocks : int
        Blocks of what no claim compares; 0 is all.

    Examples
    --------
    >>> made = cases("smoke", files_of(Path("scratch"), "", 64), 0.1)
    >>> sorted({case.cache_state for case in made}), made[0].name
    (['cold', 'warm'], 'c-fread/sequential/512B')
    """
    found: list[Case] = []
    for state, made in files.items():
        chosen = chosen_sizes(profile, made.nbytes, sizes)
        # The smallest profile shows with the sequential reads alone what memory does.
        patterns = PATTERNS[:1] if (profile, state) == ("smoke", "warm") else PATTERNS
        wanted = cells(FIGURE_3, patterns, chosen)
        if (profile, state) == ("quick", "warm"):
            wanted = [c for c in wanted if c.pattern == PATTERNS[0] or c.size in OTHER_SIZES]
        asked = OTHER_SIZES[-1:] if profile == "smoke" else OTHER_SIZES
        others = [size for size in asked if size in chosen]
        wanted += cells(OTHERS, ["sequential"], others)
        if state == "cold":
            wanted += cells(["c-pread"], ["random"], [s for s in _ALIGNED if s in chosen])
        found += [
            plan.case(cell, made, state, limit_s, seed, aa=number == 0, least=_least(cell, state))
            for number, cell in enumerate(wanted)
        ]
    return [_as_often(made, other_blocks) for made in found]


def _least(cell: Cell, state: str) -> int:
    """Return how many reads a sample has at least, whatever its limit of time."""
    judged = cell.size == _MET if cell.reader == "c-fread" else False
    judged |= cell.reader in FIGURE_3 and size_bytes(cell.size) <= ORDERED
    return _MET_READS if judged and state == "cold" else 1


def _as_often(made: Case, other_blocks: int) -> Case:
    """Return a case with its blocks: Python's patterns are claimed, and large are the effects."""
    cell = Cell.named(made.name)
    order = (cell.reader, made.cache_state) == ("python-read", "cold")
    order = order and cell.pattern != "sequential" and size_bytes(cell.size) <= ORDERED
    if order and other_blocks and not _claimed(made):
        return fewer(made, max(other_blocks, WARM_BLOCKS), judged=False)
    return fewer(made, other_blocks, _claimed(made))


def _claimed(made: Case) -> bool:
    """Whether a claim compares the times of a case."""
    cell = Cell.named(made.name)
    if made.cache_state == "warm":
        return cell.size == _MET and cell.pattern == "sequential"
    if cell.reader == "python-read":
        return cell.pattern == "sequential" or (cell.pattern, cell.size) == ("random", "64KiB")
    return cell.reader == "c-fread" or (cell.reader, cell.size) == ("numpy-fromfile", _MET)


def chosen_sizes(profile: str, file_bytes: int, sizes: str = "") -> tuple[str, ...]:
    """Return the sizes that are asked for, as far as the file can fill them.

    Raises
    ------
    ValueError
        For what is no size, or when no size is left.

    Examples
    --------
    >>> chosen_sizes("quick", 2**20, "4KiB 1MiB 1GiB")
    ('4KiB', '1MiB')
    """
    if not sizes:
        return buffers(profile, file_bytes)
    found = tuple(size for size in sizes.split() if size_bytes(size) <= file_bytes)
    if not found:
        raise ValueError(f"sizes={sizes!r}: the file of {file_bytes} bytes fills none of them")
    return found


def rates(records: pd.DataFrame) -> pd.DataFrame:
    """Return the rate of each case, and what it asked of the system.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "patterns".

    Returns
    -------
    pandas.DataFrame
        reader, pattern, size, nbytes, state, n; in bytes a second mean, sd (as the document has
        them), median, low, high; then medians: reads (made in a sample), calls (read calls of
        the system for each read), fetched (bytes from the device for each byte asked for), asked
        (bytes through read calls for each), faults (minor page faults for each GB), cpu (share
        of the time).
    """
    rows = _read_rows(records)
    found = []
    for (case, state), part in rows.groupby(["case", "cache_state"], sort=False):
        cell, rate = Cell.named(str(case)), part["useful_bytes"] / part["wall_s"]
        middle, (mean, sd) = median_interval(rate), mean_sd(rate)
        reads, useful = part["stages"], part["useful_bytes"]
        found.append(
            {
                "reader": cell.reader, "pattern": cell.pattern, "size": cell.size,
                "nbytes": size_bytes(cell.size), "state": state, "n": len(part),
                "mean": mean, "sd": sd,
                "median": middle.value, "low": middle.low, "high": middle.high,
                "reads": reads.median(),
                "calls": (part["syscr"] / reads).median(),
                "fetched": (part["read_bytes"] / useful).median(),
                "asked": (part["rchar"] / useful).median(),
                "faults": (part["minflt"] / useful * 1e9).median(),
                "cpu": ((part["user_s"] + part["sys_s"]) / part["wall_s"]).median(),
            }
        )  # fmt: skip
    return pd.DataFrame(found)


def ratio(records: pd.DataFrame, state: str, of: str, to: str) -> Interval | None:
    """Return the ratio of two rates, or its geometric mean where a * stands for the sizes.

    Parameters
    ----------
    records : pandas.DataFrame
    state : str
        Of the cache.
    of, to : str
        Names of cases, such as c-fread/random/4KiB or c-fread/random/*.

    Returns
    -------
    Interval or None
        None where the records lack one.
    """
    rows = _read_rows(records)
    rows = rows[rows["cache_state"] == state]
    table = rows.assign(rate=rows["useful_bytes"] / rows["wall_s"]).pivot_table(
        index="block", columns="case", values="rate"
    )
    sizes = {case.rpartition("/")[2] for case in table.columns} if of.endswith("*") else {""}
    pairs = [(of.removesuffix("*") + size, to.removesuffix("*") + size) for size in sizes]
    pairs = [pair for pair in sorted(pairs) if set(pair) <= set(table.columns)]
    both = table[sorted({case for pair in pairs for case in pair})].dropna()
    if not pairs or both.empty:
        return None
    values = [(both[a].to_numpy(), both[b].to_numpy()) for a, b in pairs]
    return paired_ratio(*values[0]) if len(values) == 1 else geometric_mean_ratio(values)


def pick(
    table: pd.DataFrame, state: str, reader: str, pattern: str, size: str
) -> "pd.Series[float] | None":
    """Return one row of `rates`; None where it was not measured."""
    named = {"state": state, "reader": reader, "pattern": pattern, "size": size}
    keep = pd.Series(True, index=table.index)
    for column, value in named.items():
        keep &= table[column] == value
    return table[keep].iloc[0] if keep.any() else None


def sizes_of(table: pd.DataFrame, readers: Sequence[str] = FIGURE_3) -> list[str]:
    """Return the sizes of buffers in a table of rates, from the smallest."""
    part = table[table["reader"].isin(readers)].sort_values("nbytes")
    return list(dict.fromkeys(part["size"]))


def _read_rows(records: pd.DataFrame) -> pd.DataFrame:
    rows = main(records)
    return rows[rows["phase"] == "read"]


def seconds(table: pd.DataFrame, state: str, nbytes: int) -> float:
    """Return the time of a sequential read from C, from its rate; NaN where it was not measured."""
    part = table[(table["reader"] == "c-fread") & (table["pattern"] == "sequential")]
    part = part[(part["state"] == state) & (part["nbytes"] == nbytes)]
    return nbytes / float(part["median"].iloc[0]) if len(part) else float("nan")
