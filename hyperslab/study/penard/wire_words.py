"""The sentences and tables of the page on the wire, with their numbers from the records."""

import math

import pandas as pd

from .datasets import FRAMES, MIB, TABLE_1
from .local_results import PANELS
from .wire_figures import labels

TIMES = {"gfs/series/h5py-on": 27.57, "cmems/series/h5py-off": 16.51}
"""Seconds that the document's Table 3 gives for h5py over its link of 100 kB/s."""
LEFT_OUT = (
    " Left to the profile full: the large chunks by netCDF4-python, as netCDF-C takes seconds of "
    "CPU time for a chunk that comes by #mode=bytes, and by h5netcdf and xarray, which read as "
    "h5py does; the files with shuffle by all but h5py, the document's kind of index and ours; and "
    "from S3 these files, the map of the temperature, and what only wraps another reader."
)
LEFT_TO_PAPER = (
    "Left to the profile paper: the large chunks by xarray on netCDF-C, which reads as "
    "netCDF4-python does, and from S3 by what reads as h5py does. netCDF4-python reads nothing "
    "from S3: {doc}`penard_s3` has what it says."
)
_OPENER = {"http": "aiohttp", "s3": "s3fs"}
LINK = 100_000
"""Bytes a second that the document's link carried, as stated."""


def summary(counted: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of the experiment "wire".
    """
    rows = by_case(counted)
    found = ["**What we found.**"]
    for panel, words in (("gfs/series", "temperature"), ("cmems/series", "ocean")):
        ours, theirs = f"{panel}/subchunk-off", f"{panel}/h5py-off"
        if ours in rows.index and theirs in rows.index:
            found.append(
                f"For the series of the {words} h5py, as it comes, was sent "
                f"{megabytes(rows, theirs)} in {requested(rows, theirs)}; our index "
                f"{megabytes(rows, ours)} in {requested(rows, ours)}, "
                f"{_compared(rows, ours, theirs)}, from the same file."
            )
    cached = _pair(rows, "cmems/series/chunkindex-off", "cmems/series/h5py-off")
    bare = _pair(rows, "cmems/series/chunkindex-off-nocache", "cmems/series/h5py-off-nocache")
    if cached and bare:
        found.append(
            "The document's kind of index reads the ocean's series by "
            f"{cached} with fsspec's cache as it comes, and by {bare} without one."
        )
    return " ".join(found)


def bandwidth(counted: pd.DataFrame) -> str:
    """Return what the document's times imply for its link, as a question.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of the experiment "wire".
    """
    rows = by_case(counted)
    lines = []
    for case, seconds in TIMES.items():
        if case not in rows.index:
            continue
        kind = case.partition("/")[0]
        taken, whole = int(value(rows, case, "predicted_reads")), FRAMES[kind]
        share = "" if taken == whole else f" ({taken} of the {whole} chunks: at least that)"
        told = []
        for name, how in ((f"{case}-nocache", "without read-ahead"), (case, "as it comes today")):
            if name in rows.index:
                size = value(rows, name, "wire_bytes")
                told.append(
                    f"{how} {size / 1e6:.3g} MB{share}, {size / seconds / 1e6:.3g} MB/s, and "
                    f"{float(f'{size / LINK:.3g}'):,g} s at {LINK / 1e3:.0f} kB/s"
                )
        lines.append(f"- {_read(case)} in the document's {seconds} s: {'; '.join(told)}.")
    return "\n".join(
        [
            "{cite:t}`penard2025` states a link of 100 kB/s with a delay of 100 ms. The bytes "
            "that h5py moves here, without any read-ahead and with what fsspec has today, divided "
            "by the time that it took there:",
            "",
            *lines,
            "",
            _theirs(),
            "",
            "Was the rate limited to 100 kB/s, or to another number, or the delay alone? We may "
            "have misread how the link was set up: it is a question to the authors.",
        ]
    )


def _read(case: str) -> str:
    """Return a case of h5py's in words.

    Examples
    --------
    >>> _read("gfs/series/h5py-on")
    "The temperature's series with shuffle"
    """
    kind, read, way = case.split("/")
    name = {"gfs": "temperature", "cmems": "ocean"}[kind]
    return f"The {name}'s {read} {'with' if way.endswith('-on') else 'without'} shuffle"


def _theirs() -> str:
    """Say which file the bytes are of, and what the document's own makes of its seconds."""
    mib = TABLE_1["gfs"]["on"]
    size, seconds = mib * MIB, TIMES["gfs/series/h5py-on"]
    return (
        "These are the bytes of our stand-ins, which were made to fit the document's sizes and "
        f"are not quite of them. The document's own file of the temperature has {mib} MiB, "
        f"{size / 1e6:.0f} MB, and its series needs every chunk of it: "
        f"{size / seconds / 1e6:.2g} MB/s."
    )


def taken(counted: pd.DataFrame) -> str:
    """Return what was scaled down or left out, empty when nothing was.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of the experiment "wire".
    """
    kinds = counted["case"].str.partition("/")[0]
    frames = {kind: int(counted[kinds == kind]["predicted_reads"].max()) for kind in FRAMES}
    if frames == FRAMES:
        return "" if "gfs/series/xarray-netcdf4-on" in set(counted["case"]) else LEFT_TO_PAPER
    left = "" if "gfs/series/netcdf4-on" in set(counted["case"]) else LEFT_OUT
    toy = "" if "1x13x721x1440" in set(counted["chunks"]) else " Its temperature is a toy besides."
    return (
        f"This run reads files of {frames['cmems']} of the ocean's {FRAMES['cmems']} chunks and "
        f"{frames['gfs']} of the temperature's {FRAMES['gfs']}. Nothing is scaled up: read-ahead, "
        "opening and the index do not grow with the number of chunks, so a rule of three would "
        f"be no arithmetic.{toy}{left}"
    )


def table(counted: pd.DataFrame) -> pd.DataFrame:
    """Return requests, megabytes, connections and stages, a row a reader and shuffle.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of one kind of server.
    """
    rows = counted.set_index("case")
    found = []
    for way, (label, shuffle) in labels().items():
        if not any(f"{panel}/{way}" in rows.index for panel in PANELS):
            continue
        row = {"reader": label, "shuffle": shuffle or "–"}
        for panel, title in PANELS.items():
            row[title.partition(". ")[2] or title] = _cell(rows, f"{panel}/{way}")
        found.append(row)
    return pd.DataFrame(found)


def caption_table(place: str) -> str:
    """Return the caption of a table.

    Examples
    --------
    >>> caption_table("http")[:30]
    'Over HTTP: requests / MB of bo'
    """
    spelled = {"http": "HTTP", "s3": "S3"}[place]
    asking = {name: name for name in ("fsspec", _OPENER[place], "obstore", "zarr")}
    asking |= {"h5py's HDF5": "hdf5 (h5py)"} | ({"netCDF-C": "netcdf-c"} if place == "http" else {})
    known = ", ".join(f"{words} {{version}}`{name}`" for words, name in asking.items())
    return (
        f"Over {spelled}: requests / MB of bodies / connections / serial stages of each read, "
        "opening and any index or references included; a dash where it was not read. Requests and "
        f"bytes are the same in every run with the same versions, here {known} "
        "({doc}`all of them </book/machine>`); where requests are made together, a busy machine "
        "can show one or two stages or connections more or fewer."
    )


def caption_touched(counted: pd.DataFrame) -> str:
    """Return the caption of the picture of ranges."""
    return (
        "Bytes of the files without shuffle that the server sent at least once, over HTTP; what "
        "is less than 0.4 % of a file is drawn as wide as that. Indexes and references are files "
        "of their own and not drawn; a row without a bar was not read. "
        f"Run {counted['run_id'].iloc[0]}."
    )


def caption_moved(counted: pd.DataFrame) -> str:
    """Return the caption of the figure of counts."""
    return (
        "Bytes and serial stages of each read over HTTP, all files a read touches together: the "
        "link's rate divides the first, its round trip multiplies the second. "
        f"Run {counted['run_id'].iloc[0]}."
    )


def advice(counted: pd.DataFrame) -> str:
    """Return what to do today.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of the experiment "wire".
    """
    rows = by_case(counted)
    as_it_comes = "cmems/frame/h5py-off"
    lines = []
    for case, words in (
        ("cmems/frame/h5py-off-nocache", "no cache"),
        ("cmems/frame/h5py-off-64k", "read-ahead of 64 KiB"),
    ):
        if case in rows.index and as_it_comes in rows.index:
            lines.append(
                f"{words}: {megabytes(rows, case)} in {requested(rows, case)}, "
                f"{_compared(rows, case, as_it_comes)}"
            )
    tuned = (
        "- **Set fsspec's cache for maps of small chunks.** The ocean's map by h5py as it comes "
        f"took {megabytes(rows, as_it_comes)}; {'; '.join(lines)}.\n"
        if lines
        else ""
    )
    return (
        "## What to do today\n\n"
        "```python\n"
        "import fsspec, h5py\n"
        'far = fsspec.open("https://example.org/sst.nc", cache_type="readahead", '
        "block_size=2**16)\n"
        'with far as stream, h5py.File(stream) as file:\n    values = file["uo"][0]\n'
        "```\n\n"
        f"{tuned}"
        "- **Count before you tune.** Bytes divide by the rate and stages multiply the round "
        "trip: `hyperslab.network.Wire` counts both for any reader on this machine.\n"
    )


def lost(*frames: pd.DataFrame) -> str:
    """Return which reads failed, and how; empty when none did."""
    lines = []
    for frame in frames:
        failed = frame[frame["status"] != "ok"]
        ways = failed["case"].str.split("/").str[-1]
        for (experiment, way), part in failed.groupby(["experiment", ways], sort=False):
            count = f"{len(part)} reads, of which the first" if len(part) > 1 else "1 read"
            lines.append(f"- {experiment}: `{way}`: {count}: {part['status'].iloc[0]}")
    if not lines:
        return ""
    return "\n".join(["```{admonition} Not read", ":class: warning", *lines, "```"])


def by_case(counted: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of what was read, by case."""
    return counted[counted["status"] == "ok"].set_index("case")


def _cell(rows: pd.DataFrame, case: str) -> str:
    if case not in rows.index:
        return "–"
    if rows.loc[case, "status"] != "ok":
        return "failed"
    return (
        f"{value(rows, case, 'requests'):.0f} / {value(rows, case, 'wire_bytes') / 1e6:.3g} / "
        f"{value(rows, case, 'connections'):.0f} / {value(rows, case, 'stages'):.0f}"
    )


def value(rows: pd.DataFrame, case: str, column: str) -> float:
    """Return a count of a case, from `by_case`."""
    return float(rows.loc[[case], column].iloc[0])


def megabytes(rows: pd.DataFrame, case: str) -> str:
    """Return in words what a case was sent, from `by_case`."""
    return f"{value(rows, case, 'wire_bytes') / 1e6:.3g} MB"


def requested(rows: pd.DataFrame, case: str) -> str:
    """Return in words how often a case asked, from `by_case`."""
    count = int(value(rows, case, "requests"))
    return f"{count} request{'s' if count != 1 else ''}"


def _compared(rows: pd.DataFrame, one: str, other: str) -> str:
    ratio = value(rows, other, "wire_bytes") / value(rows, one, "wire_bytes")
    return f"{_times(ratio)} fewer bytes" if ratio >= 1 else f"{_times(1 / ratio)} more"


def _times(ratio: float) -> str:
    digits = max(0, 1 - math.floor(math.log10(ratio)))
    return f"{ratio:.{digits}f}×"


def _pair(rows: pd.DataFrame, one: str, other: str) -> str:
    if one not in rows.index or other not in rows.index:
        return ""
    return f"{megabytes(rows, one)} against h5py's {megabytes(rows, other)}"
