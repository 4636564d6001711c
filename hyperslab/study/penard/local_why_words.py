"""Why local reads take what they take, in sentences with their numbers from the records."""

import math

import pandas as pd

from ...measure.records import main
from ...text import amount, number
from .local import CACHES
from .local_figures import NAMES
from .local_results import CHUNKS, PANELS, gain, one
from .local_words import slower, spelled


def caption_counts(counted: pd.DataFrame) -> str:
    """Return the caption of the counts."""
    useful = 4 * counted["touched"].max() / counted["touched"].max()
    return (
        "What one chunk of the temperature costs for one value of a series "
        f"({number(useful)} bytes): bytes decompressed (of the first chunk; exact), bytes passed "
        "through read calls and CPU time, opening included, warm. netCDF-C reads the first "
        "4 MiB of a file when it opens it, whatever is asked."
    )


def why(counted: pd.DataFrame, reads: pd.DataFrame) -> str:
    """Return the counts behind the times of the series of the temperature.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `counts`.
    reads : pandas.DataFrame
        Records of the experiment "reads".
    """
    rows = {way: one(counted, way=way) for way in ("h5py-on", "zarr-deflate", "zarr", "nczarr")}
    same = slower(gain(reads, "gfs/series/h5py-on", "gfs/series/zarr-deflate"), "Zarr")
    sentences = [
        f"{words} {_spent(rows[way])}"
        for way, words in (
            ("h5py-on", "h5py, deflate and shuffle:"),
            ("zarr-deflate", "Zarr, the same codec:"),
            ("zarr", "Zarr, Blosc:"),
            ("nczarr", "NCZarr, no codec:"),
        )
    ]
    return (
        "For one value of a chunk of the temperature:\n\n"
        + "\n".join(f"- {sentence}" for sentence in sentences)
        + "\n\nAll of them read whole chunks, of as many values; what differs is whether those are "
        f"decompressed, and by which codec. At the same codec, h5py was {same}. The "
        f"readers with an index decompress {_inside(counted)} of a chunk."
    )


def _spent(row: dict[str, float]) -> str:
    read = "" if math.isnan(row["bytes"]) else f"{amount(row['bytes'], 'B')} read, "
    return (
        f"{read}{amount(row['decompressed'], 'B')} decompressed, {number(row['cpu_ms'])} ms of "
        f"CPU time, {number(row['system_ms'])} of it in the system, which hands out memory."
    )


def _inside(counted: pd.DataFrame) -> str:
    whole = one(counted, way="h5py-off")["decompressed"]
    shares = [
        f"{100 * one(counted, way=way)['decompressed'] / whole:.2g} % ({spelled(way)})"
        for way in ("chunkindex-off", "chunkindex-on", "subchunk-off", "subchunk-on")
    ]
    return ", ".join(shares[:-1]) + f" and {shares[-1]}"


def cache(records: pd.DataFrame, unpacked: pd.DataFrame) -> str:
    """Return what a larger chunk cache does to a series.

    Parameters
    ----------
    records, unpacked : pandas.DataFrame
        Records of the experiments "cache" and "decompressed".
    """
    small, large = CACHES
    found = {
        kind: gain(records, f"{kind}/series/netcdf4-{small}", f"{kind}/series/netcdf4-{large}")
        for kind in CHUNKS
    }
    chunk = unpacked[unpacked["case"] == "gfs/series/h5py-on"]["predicted_bytes"].iloc[0]
    asked = [_counted(records, f"gfs/series/netcdf4-{size}", "rchar") for size in CACHES]
    same = (
        f" Both pass the same {amount(asked[0], 'B')} through read calls."
        if asked[0] == asked[0] and amount(asked[0], "B") == amount(asked[1], "B")
        else ""
    )
    faults = [_counted(records, f"cmems/series/netcdf4-{size}", "minflt") for size in CACHES]
    if min(faults) > 0 and max(faults) > 1.5 * min(faults):
        same += (
            f" What the larger cache keeps lies in new memory: {faults[1]:,.0f} minor page faults "
            f"for the ocean's series, against {faults[0]:,.0f}."
        )
    return (
        "The document explains Zarr's lead on the temperature by netCDF's cache of 16 MB, in "
        f"which a chunk of {amount(float(chunk), 'B')} has no place. A cache helps when a chunk is "
        "wanted again, and a series wants each chunk once. With netCDF4-python and shuffle a "
        f"cache of 16 MB was {slower(found['gfs'], 'one of 256 MB')} on the temperature, and "
        f"{slower(found['cmems'], 'that')} on the ocean, whose chunks fit in either.{same}"
    )


def _counted(records: pd.DataFrame, case: str, count: str) -> float:
    rows = main(records)
    rows = rows[(rows["case"] == case) & rows["phase"].isin(("open", "read"))]
    return float(rows.groupby("block")[count].sum(min_count=2).median())


def caption_opening() -> str:
    """Return the caption of opening apart from reading."""
    return (
        "Opening and reading apart, a whole read each, shuffle on, warm. xarray opens without "
        "decoding, dask or cache; opening reads all of the file's metadata and the coordinates. "
        "Whatever it imports late was imported before."
    )


def opening(reads: pd.DataFrame, first: pd.DataFrame, timed: pd.DataFrame) -> str:
    """Return what xarray adds to opening and to reading.

    Parameters
    ----------
    reads, first : pandas.DataFrame
        Records of the experiments "reads" and "first".
    timed : pandas.DataFrame
        From `times`.
    """
    lines = []
    for panel, title in PANELS.items():
        words = title.partition(". ")[2]
        both = [
            slower(gain(reads, f"{panel}/{of}-on", f"{panel}/{to}-on"), NAMES[to])
            for of, to in (("xarray-netcdf4", "netcdf4"), ("xarray", "h5py"))
        ]
        alone = [
            slower(gain(reads, f"{panel}/{of}-on", f"{panel}/{to}-on", phases=("read",)), "it")
            for of, to in (("xarray-netcdf4", "netcdf4"), ("xarray", "h5py"))
        ]
        lines.append(
            f"- {words}: on netCDF4 {both[0]}, reading alone {alone[0]}; on h5netcdf {both[1]}, "
            f"reading alone {alone[1]}."
        )
    rows = main(first)
    cold_start = rows[rows["case"].str.endswith("xarray-on")].groupby("phase")["wall_s"].median()
    warm = one(timed, panel="cmems/frame", way="xarray-on", state="warm")
    return (
        "xarray against the library below it, with shuffle:\n\n"
        + "\n".join(lines)
        + "\n\nThe first open and read in a process cost more: xarray then imports what it put "
        "off, dask among it, whether or not it is used. With that the ocean's map took "
        f"{1e3 * cold_start['open']:.0f} ms to open and {1e3 * cold_start['read']:.0f} ms to read; "
        f"without, {warm['open_ms']:.0f} ms and {warm['read_ms']:.0f} ms. A script that reads one "
        "small thing and ends pays for it; a longer one pays once."
    )
