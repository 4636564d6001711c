"""The sentences of the page on local reads, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from ...text import comparison
from ..lee.rate_words import than
from .local_figures import NAMES, split
from .local_results import CHUNKS, PANELS, TABLE_3, gain
from .subchunk_results import on_toy_grid


def summary(reads: pd.DataFrame, timed: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    reads : pandas.DataFrame
        Records of the experiment "reads".
    timed : pandas.DataFrame
        From `times`.
    """
    against = [
        f"{comparison(gain(reads, 'gfs/series/h5py-on', f'gfs/series/{way}'), 'faster', 'slower')} "
        f"{words}"
        for way, words in (
            ("zarr", "from Zarr as the document has it, compressed by Blosc"),
            ("zarr-deflate", "from Zarr with the deflate and shuffle of the netCDF file"),
            ("nczarr", "from NCZarr, which is not compressed"),
        )
    ]
    frames = [
        comparison(gain(reads, f"{kind}/frame/chunkindex-on", f"{kind}/frame/h5py-on"),
                   "slower", "faster")
        for kind in CHUNKS
    ]  # fmt: skip
    inside = comparison(
        gain(reads, "gfs/series/h5py-off", "gfs/series-today/subchunk-off"), "faster", "slower"
    )
    return (
        "**What we found.** Against h5py on netCDF-4 with deflate and shuffle, the series of the "
        f"temperature was read {against[0]}, {against[1]}, and {against[2]}. On the first map "
        "the document's kind of index was, against h5py and with shuffle, "
        f"{frames[0]} (ocean) and {frames[1]} (temperature). {_slowest(timed)} "
        "Our index, without shuffle, "
        f"read the series of the temperature {inside} than h5py read the same file."
    )


def _slowest(timed: pd.DataFrame) -> str:
    """Return which reader was the slowest on each map."""
    found = []
    for panel in ("cmems/frame", "gfs/frame"):
        part = timed[(timed["panel"] == panel) & (timed["state"] == "warm")]
        found.append(spelled(str(part.sort_values("ms")["way"].iloc[-1])))
    return f"The slowest of all was {found[0]} on the ocean's map and {found[1]} on the other."


def spelled(way: str) -> str:
    """Return a way to read in words.

    Examples
    --------
    >>> spelled("h5py-on"), spelled("zarr")
    ('h5py (shuffle on)', 'Zarr, Blosc')
    """
    name, shuffle = split(way)
    return f"{NAMES[name]} (shuffle {shuffle})" if shuffle else NAMES[name]


def taken(records: pd.DataFrame) -> str:
    """Return what was scaled down, empty when nothing was.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "reads".
    """
    kinds = records["case"].str.partition("/")[0]
    frames = {kind: int(records[kinds == kind]["stages"].max()) for kind in CHUNKS}
    if frames == CHUNKS:
        return ""
    toy = " Its grid of temperature is a toy besides." if on_toy_grid(records) else ""
    return (
        f"This run reads {frames['cmems']} of the {CHUNKS['cmems']} chunks of the ocean and "
        f"{frames['gfs']} of the {CHUNKS['gfs']} of the temperature. Times are given for one chunk "
        f"touched, and so are the document's; opening weighs more where chunks are fewer.{toy}"
    )


def absent(timed: pd.DataFrame) -> str:
    """Return which libraries are not installed here, empty when all are.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    """
    seen = {split(way)[0] for way in timed["way"]}
    lacking = [words for name, words in NAMES.items() if name not in seen]
    return f"Not installed here, and so not read: {', '.join(lacking)}." if lacking else ""


def caption_8(timed: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of Figure 8."""
    warm, cold = (timed[timed["state"] == state]["n"] for state in ("warm", "cold"))
    beside = f", {cold.max()} when cold" if len(cold) else "; nothing could be read cold here"
    if len(cold) and not timed[timed["state"] == "cold"]["way"].str.endswith("-off").any():
        beside += " (with shuffle only)"
    return (
        "Time of each read for a chunk touched, opening included, as in Figure 8 of "
        f"{{cite:t}}`penard2025`: medians, with 95 % intervals, of {warm.max()} interleaved blocks "
        f"when warm{beside}. Where there are fewer than six blocks the bars are the "
        "range of all. The document's are means over ten on another machine, of which its Table 3 "
        "gives the fastest three of each read; its chunkindex is read here as it describes it. "
        f"Run {records['run_id'].iloc[0]}."
    )


def table_8(timed: pd.DataFrame) -> pd.DataFrame:
    """Return Figure 8 as text: milliseconds for a chunk, warm, and cold in brackets."""
    ways = [way for name in NAMES for way in sorted(set(timed["way"])) if split(way)[0] == name]
    rows = []
    for way in ways:
        row = {"library and format": spelled(way)}
        for panel, title in PANELS.items():
            row[title.partition(". ")[2]] = _cell(timed, panel, way)
        rows.append(row)
    return pd.DataFrame(rows)


def _cell(timed: pd.DataFrame, panel: str, way: str) -> str:
    part = timed[(timed["panel"] == panel) & (timed["way"] == way)].set_index("state")["ms"]
    words = f"{part['warm']:.3g}" if "warm" in part else "–"
    words += f" ({part['cold']:.3g})" if "cold" in part else ""
    theirs = TABLE_3[panel].get(way)
    if theirs:
        touched = CHUNKS[panel.partition("/")[0]] if panel.endswith("series") else 1
        words += f"; document {1e3 * theirs / touched:.3g}"
    return words


def advice(reads: pd.DataFrame) -> str:
    """Return what to do today.

    Parameters
    ----------
    reads : pandas.DataFrame
        Records of the experiment "reads".
    """
    codec = comparison(
        gain(reads, "gfs/series/zarr-deflate", "gfs/series/zarr"), "faster", "slower"
    )
    same = slower(gain(reads, "gfs/series/h5py-on", "gfs/series/zarr-deflate"), "Zarr")
    inside = [
        comparison(
            gain(reads, f"gfs/series/h5py-{shuffle}", f"gfs/series-today/subchunk-{shuffle}"),
            "faster",
            "slower",
        )
        for shuffle in ("off", "on")
    ]
    return (
        "## What to do today\n\n"
        "```python\n"
        '# once, in a shell: hyperslab index "air.nc"\n'
        "import xarray as xr\n"
        'data = xr.open_dataset("air.nc", engine="subchunk")\n'
        'data["air_temperature"][:, 0, 280, 506].values\n'
        "```\n\n"
        "- **Look at the codec before the format.** Zarr with Blosc read the series of the "
        f"temperature {codec} than Zarr with deflate; at the same codec, h5py was {same}. "
        "netCDF-4 can be written with Blosc or zstd too "
        '(`compression="blosc_lz4"` in netCDF4-python), where every reader has the plugin.\n'
        "- **Leave the chunk cache alone for reads that want each chunk once;** it is for those "
        "that come back.\n"
        f"- **For series from large deflated chunks, index them:** {inside[0]} than h5py without "
        f"shuffle, {inside[1]} with it, and the file stays as it is. Of a chunk that is wanted "
        "whole an index can leave nothing out.\n"
        "- **Open once.** What opening costs, and a library's late imports, is paid again by every "
        "script that opens a file for one small read."
    )


def slower(found: Interval, other: str) -> str:
    """Return a ratio of times in words.

    Examples
    --------
    >>> slower(Interval(2.0, 1.9, 2.1, 7), "h5py"), slower(Interval(1.0, 0.9, 1.1, 7), "h5py")
    ('2× slower than h5py', 'not told apart from h5py [0.90, 1.10]')
    """
    return than(found, "slower", "faster", other)
