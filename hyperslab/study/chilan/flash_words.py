"""The sentences and tables of the page on FLASH, with their numbers from the records."""

import pandas as pd

from ...parallel import counted as in_words
from ...text import comparison, spread
from .document import CHECKPOINT_MB
from .flash import CHECKPOINT, DATASETS, FEW, UNKNOWNS, WITHOUT_TREE
from .results import (
    MODES,
    NAMES,
    faster,
    in_order,
    lead,
    parts,
    rates,
    requests,
    rows_of,
)

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
        f"**What we found.** {in_words(ranks)} write the checkpoint with {NAMES[library]} in {a:,} "
        f"requests independently and {b:,} collectively"
    ]
    said[0] += (
        ": MPI-IO leaves contiguous parts that do not interleave as they are."
        if a == b
        else f", {comparison(a / b, 'more', 'fewer')}."
    )
    found = None
    if len(checkpoint):
        rows = checkpoint[checkpoint["ranks"] == FEW]
        found = rates(rows, "hdf5/collective/16", "pnetcdf/collective/16")
    if found is not None:
        compared = faster("HDF5", "PnetCDF", found)
        said.append(f"By the rates of {in_words(FEW)}, collectively, blocks of 16³: {compared}")
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
    for row in rows_of(in_order(counted[counted["pattern"] == CHECKPOINT])):
        hint = f"`{row['hints']}`" if row["hints"] else "as it comes"
        key = (f"{row['size']}³", NAMES[row["library"]], MODES[row["mode"]], hint)
        head = dict(zip(("block", "library", "mode", "hint"), key, strict=True))
        rows.setdefault(key, head)[in_words(row["ranks"])] = f"{int(row['requests']):,}"
    columns = ["block", "library", "mode", "hint"]
    columns += [in_words(ranks) for ranks in sorted(counted["ranks"].unique())]
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


def why(counted: pd.DataFrame, sizes: pd.DataFrame) -> str:
    """Return what the requests consist of, and what the hint changes.

    Parameters
    ----------
    counted, sizes : pandas.DataFrame
        The experiments "requests" and "sizes".
    """
    if counted.empty:
        return ""
    said, plain = [], counted[counted["hints"] == ""]
    for library in NAMES:
        case = f"{library}/collective/16"
        mine = plain[plain["case"] == case].sort_values("ranks")
        if mine.empty:
            continue
        ends = mine.iloc[[0, -1]]
        ranks, writes = ends["ranks"].to_numpy(), ends["requests"].to_numpy()
        head = f"- **{NAMES[library]}, collective**"
        text = f"{head}: {writes[-1]:,.0f} requests of {in_words(ranks[-1])}"
        if len(mine) > 1:
            slope = (writes[1] - writes[0]) / (ranks[1] - ranks[0])
            text += (
                f", {writes[0]:,.0f} of {in_words(ranks[0])}: {slope:.3g} more for each rank, for "
                f"{DATASETS} datasets"
            )
        found = parts(sizes, case, ranks[-1])
        said.append(f"{text}. By phase and size: {found}." if found else f"{text}.")
    tree = DATASETS - UNKNOWNS
    for row in rows_of(plain[plain["pattern"] == WITHOUT_TREE]):
        before = requests(plain, row["case"].removesuffix(" without tree"), row["ranks"])
        data, gone = int(tree * row["ranks"]), int(before - row["requests"])
        said.append(
            f"- {NAMES[row['library']]} without the {tree} datasets of the tree of blocks, "
            f"{in_words(row['ranks'])}, blocks of {row['size']}³: {before:,} → "
            f"{int(row['requests']):,} requests. Of the {gone} that are gone {data} are a request "
            f"of each rank for each of these datasets{_rest(gone - data)}."
        )
    for row in rows_of(counted[counted["hints"] != ""]):
        before = requests(plain, row["case"], row["ranks"])
        if before > 0:
            change = comparison(row["requests"] / before, "more", "fewer")
            said.append(
                f"- `{row['hints']}`, {NAMES[row['library']]}, {in_words(row['ranks'])}, blocks of "
                f"{row['size']}³: {before:,} → {int(row['requests']):,} requests, {change}."
            )
    return "\n".join(said)


def _rest(gone: int) -> str:
    return f", and {gone} what the file notes of them" if gone else ""


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
