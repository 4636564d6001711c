"""The sentences of the page on the sub-chunk index, with their numbers from the records."""

import math
from typing import Any

import pandas as pd

from ...measure.stats import Interval
from ...text import amount, comparison, number, percent
from .subchunk_results import DOCUMENT_CHUNKS, FILES, gain, on_toy_grid, one

_KIB = 1024.0


def summary(timed: pd.DataFrame, sized: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    timed, sized : pandas.DataFrame
        From `times` and `sizes`.
    """
    share = sized[sized["index"] == "ours"]["share"]
    return (
        "**What we found.** An index as `hyperslab index` makes it takes "
        f"{percents(share)} of the compressed data here. Through it, opening included, the "
        f"series of a point was read {_gains(timed, 'series')} than by h5py; the first map, which "
        f"in the ocean is a whole chunk, {_gains(timed, 'frame')}. The same was read through "
        f"the document's kind of index: the series {_gains(timed, 'series', 'document')} than by "
        f"h5py, the map {_gains(timed, 'frame', 'document')}."
    )


def taken(records: pd.DataFrame) -> str:
    """Return what was scaled down, empty when nothing was.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "spacing".
    """
    frames = records.groupby(records["case"].str.startswith("gfs"))["stages"].max()
    if (frames[False], frames[True]) == (72, DOCUMENT_CHUNKS):
        return ""
    toy = " Its grid of temperature is a toy besides." if on_toy_grid(records) else ""
    return (
        f"This run reads {frames[True]:.0f} of the 13 chunks of the temperature and "
        f"{frames[False]:.0f} of the 72 of the ocean; times are given for one chunk.{toy}"
    )


def caption_points(places: pd.DataFrame) -> str:
    """Return the caption of the points."""
    ends = places[places["phase"] == "end"].set_index("case")
    end = ends.loc["gfs/document"]
    return (
        "Where decompression can start in the first chunk of the temperature, drawn from the index "
        f"of the file: {end['out_at'] / 1e6:.1f} MB of values, {end['stored_at'] / 1e6:.1f} MB "
        "compressed without shuffle. Each line joins the place of a point in both. After Figure 2 "
        "of {cite:t}`penard2025`, which has a sketch of four."
    )


def caption_shuffle(sections: pd.DataFrame) -> str:
    """Return the caption of the row's scatter."""
    del sections
    return (
        "One row of a map, of 1 latitude and all longitudes, in the first chunk of the "
        "temperature: the bytes wanted, and the sections that are decoded for them. After Figure 4 "
        "of {cite:t}`penard2025`; the four planes of shuffled bytes are equally long decompressed, "
        "and far from equal compressed. Marks are widened to be seen."
    )


def caption_boxes() -> str:
    """Return the caption of the boxes."""
    return (
        "A row, a patch of a map and a box over levels, of as many values each, in the first chunk "
        "of the temperature without shuffle. After Figure 5 of {cite:t}`penard2025`."
    )


def caption_spacing(timed: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of times over sizes."""
    rows = timed[timed["read"] == "series"]
    modules = sorted(set(records["mode"]) - {""})
    return (
        "Time for each chunk that a series touches, opening of file and index included, over the "
        "size of the index: the finer the points, the larger. Means over the document's point and "
        f"three others; medians with 95 % intervals of {rows['n'].max():.0f} interleaved blocks, "
        f"warm, one core. Ours inflates with {', '.join(modules)}, the document's reader with "
        "zlib. h5py reads the document's point. The document's own time, 1.22 s for 13 "
        "chunks without shuffle (its Table 3), was measured on another machine. "
        f"Run {records['run_id'].iloc[0]}."
    )


def table_spacing(curves: pd.DataFrame, timed: pd.DataFrame) -> pd.DataFrame:
    """Return size, points and times of every index, as text.

    Parameters
    ----------
    curves, timed : pandas.DataFrame
        From `curves` and `times`.
    """
    rows = []
    for file, words in FILES.items():
        for row in curves[curves["file"] == file].to_dict("records"):
            rows.append(
                {
                    "file": words,
                    "index": spelled(str(row["index"])),
                    "points a chunk": f"{row['points']:.0f}",
                    "index, % of the data": f"{100 * row['share']:.2f}",
                    "ms a chunk": _median(row),
                    "against h5py": _factor(row["gain"]),
                    "read, a chunk": amount(float(row["bytes"]), "B"),
                }
            )
        whole = one(timed, file=file, read="series", index="h5py")
        rows.append(
            {
                "file": words,
                "index": "none: h5py",
                "points a chunk": "–",
                "index, % of the data": "–",
                "ms a chunk": _median(whole),
                "against h5py": "–",
                "read, a chunk": amount(real(whole["bytes"]), "B"),
            }
        )
    return pd.DataFrame(rows)


def table_frames(timed: pd.DataFrame) -> pd.DataFrame:
    """Return the times of the first map, as text."""
    rows = []
    for file, words in FILES.items():
        found = {name: one(timed, file=file, read="frame", index=name) for name in _FRAMED}
        rows.append(
            {"file": words}
            | {f"{label}, ms": _median(found[name]) for name, label in _FRAMED.items()}
            | {"against h5py": _factor(gain(timed, file, "frame", "ours"))}
        )
    return pd.DataFrame(rows)


def spelled(index: str) -> str:
    """Return an index in words.

    Examples
    --------
    >>> spelled("ours-64KiB"), spelled("document")
    ('ours, 64 KiB apart', "document's layout, 2 MB or three a chunk")
    """
    if index in _NAMED:
        return _NAMED[index]
    whose, spacing = index.split("-")
    whose = "document's layout" if whose == "document" else whose
    if spacing.endswith("KiB"):
        return f"{whose}, {spacing.removesuffix('KiB')} KiB apart"
    return f"{whose}, {spacing.removesuffix('MiB')} MiB apart"


def why(timed: pd.DataFrame) -> str:
    """Return the counts behind the times.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    """
    whole, ours, theirs = (
        one(timed, file="gfs", read="series", index=name) for name in ("h5py", "ours", "document")
    )
    if math.isnan(real(whole["bytes"])):
        return ""
    bytes_, calls, cpu = (
        [real(row[name]) for row in (whole, ours, theirs)] for name in ("bytes", "calls", "cpu_ms")
    )
    return (
        f"For one value of a chunk of the temperature (shuffle off) h5py passed "
        f"{amount(bytes_[0], 'B')} through {number(calls[0])} read calls and spent "
        f"{number(cpu[0])} ms of CPU time, inflating all of it. Our index took "
        f"{amount(bytes_[1], 'B')}, {number(calls[1])} calls and {number(cpu[1])} ms, the index "
        f"itself included; the document's layout {amount(bytes_[2], 'B')}, {number(calls[2])} "
        f"calls and {number(cpu[2])} ms. Time follows what must be inflated: from the point before "
        "to the value, half the spacing on average."
    )


def compromise(curves: pd.DataFrame) -> str:
    """Return how the document's spacing stands among the others.

    Parameters
    ----------
    curves : pandas.DataFrame
        From `curves`.
    """
    lines = []
    for file, words in FILES.items():
        part = curves[curves["file"] == file]
        theirs, planned = one(part, index="document"), one(part, index="planned")
        line = (
            f"- {words}: the document's points take {percent(real(theirs['share']))} of the data "
            f"and {number(real(theirs['ms']))} ms a chunk, {number(real(planned['ms']))} ms when "
            "our reader reads them."
        )
        small = part[part["share"] <= real(theirs["share"])]
        small = small[~small["index"].isin(("document", "planned"))].sort_values("ms")
        for best in small.head(1).to_dict("records"):
            faster = comparison(float(best["ms"]) / real(theirs["ms"]), "slower", "faster")
            line += (
                f" Of the other indexes that are no larger, {spelled(str(best['index']))} "
                f"({percent(float(best['share']))}) is the quickest: {number(float(best['ms']))} "
                f"ms, {faster}."
            )
        lines.append(line)
    return (
        "The document calls three points a chunk, or one every 2 MB, a good compromise. Its layout "
        "is read as it describes, one request after another, and once more by our reader, so that "
        "what the points do is told apart from what the reader does:\n\n"
    ) + "\n".join(lines)


def advice(timed: pd.DataFrame, sized: pd.DataFrame, costs: pd.DataFrame) -> str:
    """Return what to do today."""
    longest, least = costs["times"].map(_value).max(), costs["times"].map(_value).min()
    share = sized[sized["index"] == "ours"]["share"]
    return (
        "## What to do today\n\n"
        "```python\n"
        '# once, in a shell: hyperslab index "air.nc"\n'
        "import xarray as xr\n"
        'data = xr.open_dataset("air.nc", engine="subchunk")\n'
        'data["air_temperature"][:, 0, 280, 506].values\n'
        "```\n\n"
        "- **If you read points or small boxes from files whose chunks are large and deflated,** "
        f"index them once; the file stays as it is. Series were read {_gains(timed, 'series')} "
        f"than by h5py here, for an index of {percents(share)} of the data. Building cost "
        f"{least:.1f} to {longest:.1f} times the CPU time of reading the file once with h5py.\n"
        "- **Leave the spacing to the budget:** it is set for each variable by what its windows "
        "take. Give `--budget` more where the files are read often.\n"
        "- **Whole maps:** the first one was read "
        f"{_gains(timed, 'frame')} than by h5py.\n"
        "- **If you write the files,** smaller chunks or Zarr shards need no index."
    )


_NAMED = {
    "ours": "ours, as it comes",
    "document": "document's layout, 2 MB or three a chunk",
    "planned": "document's layout, read by our reader",
}
_FRAMED = {"h5py": "h5py", "document": "document's layout", "ours": "ours"}


def _gains(timed: pd.DataFrame, read: str, index: str = "ours") -> str:
    found = [
        f"{_factor(gain(timed, file, read, index))} ({words})" for file, words in FILES.items()
    ]
    return ", ".join(found[:-1]) + f" and {found[-1]}"


def _factor(value: Any) -> str:
    """Return h5py's time over another in words."""
    assert isinstance(value, Interval)
    return comparison(1 / value.value, "slower", "faster")


def percents(shares: "pd.Series[float]") -> str:
    """Return the least and the largest share, in percent."""
    low, high = percent(float(shares.min())), percent(float(shares.max()))
    return low if low == high else f"{low} to {high}"


def _median(row: dict[Any, Any]) -> str:
    return f"{row['ms']:.3g} [{row['low']:.3g}, {row['high']:.3g}]"


def _value(value: Any) -> float:
    assert isinstance(value, Interval)
    return value.value


def real(value: object) -> float:
    """Return a number of a table as one."""
    assert isinstance(value, int | float)
    return float(value)
