"""Sizes, times and what rounding left, from the records of the page on codecs."""

from __future__ import annotations

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from .codecs import REFERENCE
from .codecs_files import CODECS, FIELDS

NAMES = {
    "none": "none",
    "deflate-1": "deflate 1",
    "deflate-4": "deflate 4",
    "shuffle-deflate-1": "shuffle, deflate 1",
    "shuffle-deflate-4": "shuffle, deflate 4",
    "zstd": "zstd",
    "blosc-lz4": "Blosc, LZ4",
    "blosc-zstd": "Blosc, zstd",
    "szip": "szip",
    "bzip2": "bzip2",
    "zarr-deflate": "Zarr 3, gzip",
    "zarr-zstd": "Zarr 3, zstd",
    "zarr-blosc-lz4": "Zarr 3, Blosc, LZ4",
    "zarr-blosc-zstd": "Zarr 3, Blosc, zstd",
    "bitgroom-3": "BitGroom, 3 digits",
    "granular-3": "Granular BitRound, 3 digits",
    "bitround-12": "BitRound, 12 bits",
    "bitround-10": "BitRound, 10 bits",
    "bitround-8": "BitRound, 8 bits",
    "bitround-10-blosc-zstd": "BitRound, 10 bits, Blosc, zstd",
}
"""What the page calls a codec; after BitGroom and the like comes shuffle and deflate 1."""
assert set(NAMES) == set(CODECS)
_PHASES = ("open", "read")


def table(reads: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Return size and times of every codec.

    Parameters
    ----------
    reads, written : pandas.DataFrame
        Records of the experiments of those names.

    Returns
    -------
    pandas.DataFrame
        field, codec (a key of `NAMES`), lossy, ratio (bytes of the values over those of the file),
        write_s (CPU seconds, once); for each of series and map: ms, low, high (opening included),
        cpu_ms, and gain, gain_low, gain_high (time of `REFERENCE` over its, paired by block); n.
    """
    rows = main(reads)
    rows = rows[rows["phase"].isin(_PHASES)]
    wall = rows.pivot_table(index="block", columns="case", values="wall_s", aggfunc="sum")
    cpu = rows.assign(cpu=rows["user_s"] + rows["sys_s"]).pivot_table(
        index="block", columns="case", values="cpu", aggfunc="sum"
    )
    found = []
    for field in FIELDS:
        for codec in NAMES:
            size = written[written["case"] == f"{field}/{codec}"].iloc[0]
            row: dict[str, object] = {
                "field": field,
                "codec": codec,
                "lossy": CODECS[codec].get("quantize") is not None,
                "ratio": size["useful_bytes"] / size["file_bytes"],
                "write_s": size["user_s"],
            }
            for pattern in ("series", "map"):
                case, known = f"{field}/{pattern}/{codec}", f"{field}/{pattern}/{REFERENCE}"
                middle = median_interval(1e3 * wall[case])
                both = wall[[known, case]].dropna() if case != known else None
                gain = (
                    Interval(1.0, 1.0, 1.0, middle.n)
                    if both is None
                    else paired_ratio(both[known], both[case])
                )
                row |= {
                    f"{pattern}_ms": middle.value,
                    f"{pattern}_low": middle.low,
                    f"{pattern}_high": middle.high,
                    f"{pattern}_cpu_ms": 1e3 * cpu[case].median(),
                    f"{pattern}_gain": gain.value,
                    f"{pattern}_gain_low": gain.low,
                    f"{pattern}_gain_high": gain.high,
                    "n": middle.n,
                }
            found.append(row)
    return pd.DataFrame(found)


def counts(reads: pd.DataFrame) -> pd.DataFrame:
    """Return what each read takes from its file once that is open.

    Parameters
    ----------
    reads : pandas.DataFrame
        Records of the experiment of that name.

    Returns
    -------
    pandas.DataFrame
        field, pattern, codec, nbytes, requests (of the system): medians over the blocks; none where
        the system does not count them.
    """
    rows = main(reads)
    rows = rows[rows["phase"] == "read"].dropna(subset=["rchar", "syscr"])
    middle = rows.groupby("case", sort=False)[["rchar", "syscr"]].median()
    parts = [str(case).split("/") for case in middle.index]
    return pd.DataFrame(
        {
            "field": [field for field, _, _ in parts],
            "pattern": [pattern for _, pattern, _ in parts],
            "codec": [codec for _, _, codec in parts],
            "nbytes": middle["rchar"].to_numpy(),
            "requests": middle["syscr"].to_numpy(),
        }
    )


def gain(found: pd.DataFrame, field: str, codec: str, pattern: str) -> Interval:
    """Return the time of `REFERENCE` over that of a codec."""
    row = one(found, field, codec)
    value, low, high = (float(row[f"{pattern}_gain{end}"]) for end in ("", "_low", "_high"))
    return Interval(value, low, high, int(row["n"]))


def one(found: pd.DataFrame, field: str, codec: str) -> pd.Series[float]:
    """Return the row of a field and a codec."""
    return found[(found["field"] == field) & (found["codec"] == codec)].iloc[0]


def best(found: pd.DataFrame, field: str, pattern: str, *, library: str = "") -> str:
    """Return the lossless codec that a field is read fastest from, uncompressed left out.

    What was read less often than others takes no part.

    Parameters
    ----------
    found : pandas.DataFrame
        From `table`.
    field, pattern : str
    library : str
        "zarr-" for Zarr's; the others are netCDF's.
    """
    rows = found[(found["field"] == field) & ~found["lossy"] & (found["codec"] != "none")]
    rows = rows[rows["n"] == found["n"].max()]
    rows = rows[rows["codec"].str.startswith("zarr-") == bool(library)]
    return str(rows.sort_values(f"{pattern}_ms")["codec"].iloc[0])


def smallest(found: pd.DataFrame, field: str) -> str:
    """Return the lossless codec whose file of a field is smallest."""
    rows = found[(found["field"] == field) & ~found["lossy"]]
    return str(rows.sort_values("ratio")["codec"].iloc[-1])


def rounding(fidelity: pd.DataFrame) -> pd.DataFrame:
    """Return what each rounding left of each field.

    Parameters
    ----------
    fidelity : pandas.DataFrame
        Records of the experiment "fidelity".

    Returns
    -------
    pandas.DataFrame
        field, codec, error, relative, changed, spectra, kept (grid lengths), lowest (coherence),
        shortest (grid lengths: the least that there is).
    """
    found = []
    for case, part in fidelity.groupby("case", sort=False):
        field, codec = str(case).split("/")
        row = part.iloc[0]
        found.append(
            {
                "field": field,
                "codec": codec,
                "error": row["error"],
                "relative": row["relative_error"],
                "changed": row["changed"],
                "spectra": row["spectra"],
                "kept": row["kept_from"],
                "lowest": part["coherence"].min(),
                "shortest": part["wavelength"].min(),
            }
        )
    return pd.DataFrame(found)
