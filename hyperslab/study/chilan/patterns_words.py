"""The sentences and tables of the page on the four patterns, their numbers from the records."""

import pandas as pd

from ...parallel import counted as in_words
from ...text import comparison, listing
from .document import PROCESSORS, WRITES
from .results import (
    MODES,
    NAMES,
    TITLES,
    added,
    apart,
    by,
    lead,
    longest,
    most_ranks,
    parts,
    ratio,
    requests,
    rows_of,
    slower,
)  # fmt: skip

_CALLS = {
    "hdf5": "`H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)` in C, `with dataset.collective:` in an "
    "h5py built with MPI, `variable.set_collective(True)` in netCDF4",
    "pnetcdf": "`ncmpi_put_vara_all`",
    "mpiio": "`file.Write_all(buffer)` on a file view",
}
"""How each library is told to write collectively."""


def summary(counted: pd.DataFrame, latency: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    counted : pandas.DataFrame
        The experiment "requests".
    latency : pandas.DataFrame
        The experiment "latency".
    """
    if counted.empty:
        return "**What we found.** Nothing can write in parallel here, so nothing was measured."
    library, ranks = lead(counted), most_ranks(counted)
    of, to = f"{library}/interleaved/{apart(library)}", f"{library}/interleaved/collective"
    a, b = requests(counted, of, ranks), requests(counted, to, ranks)
    size = counted[counted["case"] == of]["size"].iloc[0].replace("x", " × ")
    said = [
        f"**What we found.** {ranks} ranks write interleaved columns of {size} doubles each with "
        f"{NAMES[library]}: {a:,} write requests {by(library)}, {b:,} collectively."
    ]
    latency_s = longest(latency) if len(latency) else 0.0
    found = ratio(latency, of, to, latency_s) if len(latency) else None
    if found is not None:
        rows = _rows(latency[latency["latency_s"] == latency_s], of)
        theirs = WRITES["interleaved"]
        compared = slower(f"writing {by(library)}", "writing collectively", found)
        said.append(
            f"{added(latency_s)}, with {rows:,} rows a rank {compared} The "
            f"document has {theirs.ratio:.0f}× for {theirs.rows // 1024}K rows of {PROCESSORS} "
            f"processors{_grows(a, ranks * _rows(counted, of)) if latency_s else ''}."
        )
    return " ".join(said)


def why(counted: pd.DataFrame, sizes: pd.DataFrame) -> str:
    """Return where the requests come from.

    Parameters
    ----------
    counted, sizes : pandas.DataFrame
        The experiments "requests" and "sizes".
    """
    if counted.empty:
        return ""
    ranks = most_ranks(counted)
    said = []
    for library in ("hdf5", "pnetcdf", "mpiio"):
        case = f"{library}/interleaved/independent"
        writes, reads = (requests(counted, case, ranks, c) for c in ("requests", "syscr"))
        if writes < 0:
            continue
        rows = _rows(counted, case)
        how = (
            "a request for each row of each rank"
            if writes >= ranks * rows
            else "fewer than the rows: MPI-IO was told the whole selection, read blocks of the "
            "file, changed its own columns in them and wrote them back (data sieving)"
            if reads
            else "fewer than the rows"
        )
        said.append(
            f"- **{NAMES[library]}, independent**: {writes:,} writes and {reads:,} reads for "
            f"{ranks * rows:,} rows: {how}.{_consist(sizes, case, ranks)}"
        )
    library = lead(counted)
    over = counted[(counted["case"] == f"{library}/overhang/independent")]
    if len(over):
        a = requests(counted, f"{library}/overhang/independent", ranks)
        b = requests(counted, f"{library}/overhang/collective", ranks)
        rows = ranks * int(over["size"].iloc[0].partition("x")[0])
        tail = (
            "The derived datatypes that were announced for HDF5 1.8 do not reach MPI-IO in "
            "independent mode: it is a request for each row still."
            if library == "hdf5" and a >= rows
            else "In independent mode it is fewer than a request for each row."
            if a < rows
            else "It is a request for each row."
        )
        said.append(
            f"- **The chunk that overhangs**, {NAMES[library]}: {a:,} writes independently and "
            f"{b:,} collectively, for {rows:,} rows. {tail}"
        )
    return "\n".join(said)


def table_requests(counted: pd.DataFrame) -> pd.DataFrame:
    """Return the write requests of each pattern and way, and the reads that sieving made."""
    if counted.empty:
        return pd.DataFrame()
    ranks = most_ranks(counted)
    mine = counted[counted["ranks"] == ranks]
    rows = []
    for way in rows_of(mine[["library", "mode"]].drop_duplicates()):
        library, mode = way["library"], way["mode"]
        row = {"library": NAMES[library], "mode": MODES[mode]}
        for name, title in TITLES.items():
            case = f"{library}/{name}/{mode}"
            writes, reads = (requests(mine, case, ranks, c) for c in ("requests", "syscr"))
            if writes >= 0:
                row[title] = f"{writes:,}" + (f" + {reads:,}" if reads else "")
        rows.append(row)
    return pd.DataFrame(rows).fillna("–")


def caption_requests(counted: pd.DataFrame) -> str:
    """Return the caption of the figure and of the table; "" where nothing was counted."""
    if counted.empty:
        return ""
    mine = counted[counted["ranks"] == most_ranks(counted)]
    shapes = mine.drop_duplicates("pattern")
    said = [f"{TITLES[r['pattern']]} {r['size'].replace('x', ' × ')}" for r in rows_of(shapes)]
    return (
        "Write requests of all ranks from the file's creation to its end, counted exactly "
        f"(rows × columns of a rank: {', '.join(said)})."
    )


def table_hints(hints: pd.DataFrame) -> pd.DataFrame:
    """Return the requests with each hint.

    Parameters
    ----------
    hints : pandas.DataFrame
        The experiment "hints".
    """
    return pd.DataFrame(
        {
            "library": NAMES[row["library"]],
            "ranks": int(row["ranks"]),
            "pattern": TITLES[row["pattern"]],
            "mode": MODES[row["mode"]],
            "hint": f"`{row['hints']}`" if row["hints"] else "as it comes",
            "writes": f"{int(row['requests']):,}",
            "reads": f"{int(row['syscr']):,}",
            "MB written": f"{row['wchar'] / 1e6:.3g}",
        }
        for row in rows_of(hints)
    )


def hinted(hints: pd.DataFrame) -> str:
    """Return what each hint changed, library by library."""
    if hints.empty:
        return ""
    mine = hints[hints["ranks"] == most_ranks(hints)]
    said: dict[str, list[str]] = {}
    for row in rows_of(mine[mine["hints"] != ""]):
        before = requests(mine, row["case"])
        change = comparison(row["requests"] / before, "more", "fewer")
        words = "as many" if change == "the same" else change
        head = f"- `{row['hints']}`, {TITLES[row['pattern']]}, {MODES[row['mode']]}"
        said.setdefault(head, []).append(
            f"{NAMES[row['library']]} {words} ({before:,} → {int(row['requests']):,})"
        )
    ranks = in_words(most_ranks(hints))
    lines = [f"{head}: {'; '.join(each)}" for head, each in said.items()]
    return "\n".join([f"What each hint makes of the write requests of {ranks}:", "", *lines])


def advice(counted: pd.DataFrame) -> str:
    """Return what to do today, as far as the counts carry it."""
    if counted.empty:
        return ""
    library, ranks = lead(counted), most_ranks(counted)
    fewer: list[str] = []
    same: list[str] = []
    more: list[str] = []
    for name in TITLES:
        a = requests(counted, f"{library}/{name}/{apart(library)}", ranks)
        b = requests(counted, f"{library}/{name}/collective", ranks)
        if a >= 0 and b >= 0:
            (fewer if b < a else same if a == b else more).append(TITLES[name])
    said = [f"**What to do today.** With {NAMES[library]}, writing collectively"]
    told = []
    if fewer:
        told.append(f"makes fewer requests of {listing(fewer, 4)}")
    if same:
        told.append(f"as many of {listing(same, 4)}")
    if more:
        told.append(f"more of {listing(more, 4)}")
    said.append(", ".join(told) + ".")
    if fewer and not more:
        said.append(
            f"So write collectively: {_CALLS[library]}. On a parallel file system each request "
            "costs milliseconds, and it is the requests that you can count beforehand."
        )
    else:
        said.append("Count the requests of your own pattern before you choose.")
    return " ".join(said)


def _rows(records: pd.DataFrame, case: str) -> int:
    return int(records[records["case"] == case]["size"].iloc[0].partition("x")[0])


def _grows(writes: int, rows: int) -> str:
    """Say how the ratio goes on, where each row is a request."""
    if writes < rows:
        return ""
    return "; the ratio grows with the rows, because of a request for each row"


def _consist(sizes: pd.DataFrame, case: str, ranks: int) -> str:
    found = parts(sizes, case, ranks)
    return f" By phase and size: {found}." if found else ""
