"""What row sweeps cost: time, CPU time, and chunks fetched, from their records."""

import math

import pandas as pd

from ...measure.records import main
from ...measure.stats import median_interval

MIB = 2**20


def counted(records: pd.DataFrame) -> pd.DataFrame:
    """Return what each sweep cost: time, CPU time, and the chunks it fetched.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment of sweeps.

    Returns
    -------
    pandas.DataFrame
        case, library, ms, low, high (median time of the sweep and its 95 % interval), cpu_ms (in
        the program itself: inflating), asked (bytes passed through read calls), chunk_mib,
        cache_bytes, rows, fetched (chunks counted: bytes asked for over those of a chunk in the
        file), predicted (chunks by the model), n.
    """
    part = main(records)
    part = part[part["phase"] == "read"]
    rows = []
    for name, group in part.groupby("case", sort=False):
        median = median_interval(1e3 * group["wall_s"].to_numpy())
        asked = float(group["rchar"].median())
        first = group.iloc[0]
        rows.append(
            {
                "case": name,
                "library": first["library"],
                "ms": median.value,
                "low": median.low,
                "high": median.high,
                "cpu_ms": 1e3 * group["user_s"].median(),
                "asked": asked,
                "chunk_mib": 4 * math.prod(map(int, first["chunks"].split("x"))) / MIB,
                "cache_bytes": first["cache_bytes"],
                "rows": int(first["pattern"].split()[0]),
                "fetched": asked // first["chunk_bytes"],
                "predicted": first["predicted_reads"],
                "n": median.n,
            }
        )
    return pd.DataFrame(rows)


def row_bytes(swept: pd.DataFrame) -> float:
    """Return the bytes of the chunks of a row, each of which a large enough cache fetches once.

    Parameters
    ----------
    swept : pandas.DataFrame
        From `counted`, of sweeps over one array, one of them through a large enough cache.

    Examples
    --------
    >>> row_bytes(pd.DataFrame({"chunk_mib": [0.5, 0.5], "predicted": [64.0, 4.0]})) / MIB
    2.0
    """
    return float(swept["chunk_mib"].iloc[0] * swept["predicted"].min() * MIB)
