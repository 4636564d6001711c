"""The documents' tables of sizes, and ours beside them."""

import pandas as pd

MIB = 2**20
# Penard et al. 2025, Table 1; its MB are MiB.
TABLE_1 = {
    "cmems": {"off": 117, "on": 106, "zarr": 114, "nczarr-zip": 117, "nczarr": 269},
    "gfs": {"off": 373, "on": 233, "zarr": 314, "nczarr-zip": 352, "nczarr": 670},
}
FRAMES = {"cmems": 72, "gfs": 13}
DRAWN = {"cmems": "ocean", "gfs": "gfs", "tile1": "radar", "tile2": "radar", "tile4": "radar"}
# Lee et al. 2008, Table 5: compression ratio of deflate 1.
TABLE_5 = {"tile1": 21, "tile2": 14, "tile4": 23}
PROBE = (280, 506)
"""Latitude and longitude index of the document's time series in the ocean."""
REAL_GAIN = (0.04, 0.13)
"""How much smaller level 9 makes real radar data than level 1."""


def sized(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1 with our sizes, the document's, and how far apart they are.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "table1".

    Returns
    -------
    pandas.DataFrame
        Columns name, kind, here and document (MiB), off (a fraction), stages.
    """
    parts = rows["case"].str.split("/", n=1, expand=True)
    table = pd.DataFrame({"name": parts[0], "kind": parts[1]})
    table["here"] = rows["file_bytes"].to_numpy() / MIB
    table["document"] = [
        TABLE_1[name][kind] for name, kind in zip(table["name"], table["kind"], strict=True)
    ]
    table["off"] = table["here"] / table["document"] - 1
    table["stages"] = rows["stages"].to_numpy()
    return table


def compressed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Table 5 with our ratios beside the document's.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "table5".

    Returns
    -------
    pandas.DataFrame
        Columns tile, here, document (ratios), off (a fraction).
    """
    table = pd.DataFrame({"tile": rows["case"].str.partition("/")[0]})
    table["here"] = rows["useful_bytes"].to_numpy() / rows["file_bytes"].to_numpy()
    table["document"] = [TABLE_5[tile] for tile in table["tile"]]
    table["off"] = table["here"] / table["document"] - 1
    return table


def gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how much smaller each level makes a tile than level 1.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "levels".

    Returns
    -------
    pandas.DataFrame
        Columns tile, level, gain (a fraction).
    """
    table = pd.DataFrame({"tile": rows["case"].str.partition("/")[0], "level": rows["level"]})
    bytes_ = rows["file_bytes"].to_numpy()
    first = {t: b for t, n, b in zip(table["tile"], table["level"], bytes_, strict=True) if n == 1}
    table["gain"] = 1 - bytes_ / table["tile"].map(first).to_numpy()
    return table.sort_values(["tile", "level"], ignore_index=True)
