"""The sentences and tables of the page on FLASH, with their numbers from the records."""

from typing import Any

import pandas as pd

from ..claims.words import comparison, listing, spread
from .document import CHECKPOINT_MB
from .results import MODES, NAMES, in_order, lead, ratio, requests, rows_of, slower

_FEW = 2  # ranks: as many as a small machine has cores
_FILES = {
    "checkpoint": "checkpoint",
    "centres": "plot file, centres",
    "corners": "plot file, corners",
}


def summary(counted: pd.DataFrame, checkpoint: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    counted, checkpoint : pandas.DataFrame
        The experiments "requests" and "checkpoint".
    """
    if counted.empty:
        return "**What we found.** Nothing can write in parallel here, so nothing was measured."
    library, ranks = lead(counted), int(counted["ranks"].max())
    a = requests(counted, f"{library}/independent/16", ranks)
    b = requests(counted, f"{library}/collective/16", ranks)
    said = [
        f"**What we found.** {ranks} ranks write the checkpoint with {NAMES[library]} in {a:,} "
        f"requests independently and {b:,} collectively"
    ]
    said[0] += (
        ": MPI-IO leaves contiguous parts that do not interleave as they are."
        if a == b
        else f", {comparison(a / b, 'more', 'fewer')}."
    )
    found = None
    if len(checkpoint):
        rows = checkpoint[checkpoint["ranks"] == _FEW]
        found = ratio(rows, "hdf5/collective/16", "pnetcdf/collective/16", 0.0)
    if found is not None:
        said.append(
            f"Collectively, with {_FEW} ranks and blocks of 16³: {slower('HDF5', 'PnetCDF', found)}"
        )
    return " ".join(said)


def table_files(written: pd.DataFrame) -> pd.DataFrame:
    """Return the bytes of each file beside the document's.

    Parameters
    ----------
    written : pandas.DataFrame
        The experiment "files".
    """
    rows = []
    for row in rows_of(written):
        side, checkpoint = int(row["size"]), row["pattern"] == "checkpoint"
        rows.append(
            {
                "file": _FILES[row["pattern"]],
                "block": f"{side}³",
                "library": NAMES[row["library"]],
                "MB of a rank": f"{row['chunk_bytes'] / 1e6:.3g}",
                "document": f"about {CHECKPOINT_MB[side]}" if checkpoint else "–",
                "MB in all": f"{row['useful_bytes'] / 1e6:.4g}",
                "write requests": f"{int(row['requests']):,}",
            }
        )
    return pd.DataFrame(rows)


def table_requests(counted: pd.DataFrame) -> pd.DataFrame:
    """Return the requests of each way by ranks, with and without the hint.

    Parameters
    ----------
    counted : pandas.DataFrame
        The experiment "requests".
    """
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows_of(in_order(counted)):
        hint = f"`{row['hints']}`" if row["hints"] else "as it comes"
        key = (f"{row['size']}³", NAMES[row["library"]], MODES[row["mode"]], hint)
        head = dict(zip(("block", "library", "mode", "hint"), key, strict=True))
        rows.setdefault(key, head)[_ranks(row["ranks"])] = f"{int(row['requests']):,}"
    columns = ["block", "library", "mode", "hint"]
    columns += [_ranks(ranks) for ranks in sorted(counted["ranks"].unique())]
    return pd.DataFrame(rows.values(), columns=columns).fillna("–")


def table_rates(times: pd.DataFrame) -> pd.DataFrame:
    """Return the rates in MB/s by ranks.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows_of(times):
        key = (f"{row['size']}³", NAMES[row["library"]], MODES[row["mode"]])
        head = dict(zip(("block", "library", "mode"), key, strict=True))
        rows.setdefault(key, head)[_ranks(row["ranks"])] = _rate(row)
    columns = ["block", "library", "mode"]
    columns += [_ranks(ranks) for ranks in sorted(times["ranks"].unique())]
    return pd.DataFrame(rows.values(), columns=columns).fillna("–")


def caption(counted: pd.DataFrame, times: pd.DataFrame, checkpoint: pd.DataFrame) -> str:
    """Return the caption of the figure; "" where nothing was counted.

    Parameters
    ----------
    counted : pandas.DataFrame
        The experiment "requests".
    times : pandas.DataFrame
        From `results.timed`.
    checkpoint : pandas.DataFrame
        The experiment "checkpoint".
    """
    if counted.empty:
        return ""
    if checkpoint.empty:
        return "Write requests of the checkpoint; nothing was timed."
    part = checkpoint[(checkpoint["phase"] == "write") & (checkpoint["ranks"] == 1)]
    size = f" ({part['useful_bytes'].iloc[0] / 1e6:.3g} MB of a rank)" if len(part) else ""
    return (
        "The document's Figures 1 and 2, which print no numbers: write requests of the checkpoint, "
        "counted exactly, and the rate of writing it into this machine's page cache"
        f"{size}: medians with {spread(times['n'].max(), times['n'].min())}. On one "
        "machine ranks share its memory and cores, so the rates say little of a cluster; the "
        "requests say all."
    )


def why(counted: pd.DataFrame) -> str:
    """Return what the requests consist of, and what the hint changes.

    Parameters
    ----------
    counted : pandas.DataFrame
        The experiment "requests".
    """
    if counted.empty:
        return ""
    said, plain = [], counted[counted["hints"] == ""]
    for library in NAMES:
        mine = plain[(plain["case"] == f"{library}/collective/16")].sort_values("ranks")
        if len(mine) < 2:
            continue
        ends = mine.iloc[[0, -1]]
        ranks, writes = ends["ranks"].to_numpy(), ends["requests"].to_numpy()
        slope = (writes[1] - writes[0]) / (ranks[1] - ranks[0])
        said.append(
            f"- **{NAMES[library]}, collective**: {writes[0]:,.0f} requests of {_ranks(ranks[0])}, "
            f"{writes[1]:,.0f} of {ranks[1]:.0f}: {slope:.3g} more for each rank, for 30 datasets."
        )
    for row in rows_of(counted[counted["hints"] != ""]):
        before = requests(plain, row["case"], row["ranks"])
        if before > 0:
            change = comparison(row["requests"] / before, "more", "fewer")
            said.append(
                f"- `{row['hints']}`, {NAMES[row['library']]}, {row['ranks']:.0f} ranks, blocks of "
                f"{row['size']}³: {before:,} → {int(row['requests']):,} requests, {change}."
            )
    return "\n".join(said)


def cache(records: pd.DataFrame) -> str:
    """Return what the chunk cache did for files open in parallel.

    Parameters
    ----------
    records : pandas.DataFrame
        The experiment "cache".
    """
    if records.empty:
        return "Parallel HDF5 is not here, so that the chunk cache was not tried."
    reads = records[records["phase"] == "read"].set_index("case")["requests"]
    serial, both, only = (
        int(reads[name]) for name in ("serial", "parallel", "parallel, read only")
    )
    shown = {"for reading and writing": both, "for reading alone": only}
    past = [how for how, count in shown.items() if count > serial]
    kept = [how for how, count in shown.items() if count <= serial]
    tail = []
    if past:
        tail.append(f"opened in parallel {listing(past)} the file is read past the chunk cache")
    if kept:
        tail.append(f"opened in parallel {listing(kept)} the chunk cache is used as ever")
    return (
        f"One rank reads the same four chunks eight times. Opened serially that takes {serial:,} "
        f"read requests, in parallel for reading and writing {both:,}, and in parallel for reading "
        f"alone {only:,}: {'; '.join(tail)}."
    )


def advice(counted: pd.DataFrame, cached: pd.DataFrame) -> str:
    """Return what to do today, as far as the counts carry it.

    Parameters
    ----------
    counted, cached : pandas.DataFrame
        The experiments "requests" and "cache".
    """
    if counted.empty:
        return ""
    said, plain = ["**What to do today.**"], counted[counted["hints"] == ""]
    tried = [
        (row, requests(plain, row["case"], row["ranks"]))
        for row in rows_of(counted[counted["hints"] != ""])
    ]
    better = [row for row, before in tried if row["requests"] < before]
    if better:
        said.append(
            "Where ranks write blocks one after the other, collective calls alone do not merge "
            f"them; with the hint `{better[0]['hints']}` they do: `MPI_Info_set(info, "
            f'"{better[0]["hints"].partition("=")[0]}", "enable")`, and give that info to '
            "`H5Pset_fapl_mpio` or `ncmpi_create`."
        )
    elif tried:
        said.append("The hint that was tried merges nothing here: leave it as it comes.")
    if len(cached):
        reads = cached[cached["phase"] == "read"].set_index("case")["requests"]
        if reads["parallel, read only"] < reads["parallel"]:
            said.append(
                "Open what you only read for reading alone (`H5F_ACC_RDONLY`): it keeps the chunk "
                "cache."
            )
    return " ".join(said)


def _ranks(ranks: float) -> str:
    return "1 rank" if ranks == 1 else f"{ranks:.0f} ranks"


def _rate(row: dict[str, Any]) -> str:
    ends = (row["rate_low"] / 1e6, row["rate_high"] / 1e6)
    inside = f" [{ends[0]:,.0f}, {ends[1]:,.0f}]" if row["n"] > 1 else ""
    return f"{row['rate'] / 1e6:,.0f}{inside} MB/s"
