"""The time of each read from five places: measured, or by the model of a link."""

import math

import pandas as pd

from ...analysis.cost import PHASES
from ...measure.records import main
from ...measure.stats import median_interval
from ...network import Link
from .link_model import links, place, predictions
from .local_results import CHUNKS
from .local_results import TABLE_3 as LOCAL
from .s3_reads import ABROAD, NEAR
from .s3_words import TABLE_3 as STORED

LINKED = {
    "cmems/series": {"chunkindex-off": 16.49, "h5py-off": 16.51, "chunkindex-on": 19.69},
    "gfs/series": {"chunkindex-off": 11.49, "chunkindex-on": 20.41, "h5py-on": 27.57},
    "cmems/frame": {"zarr": 2.08, "nczarr": 2.55, "chunkindex-on": 3.76},
    "gfs/frame": {"chunkindex-off": 3.65, "chunkindex-on": 5.06, "h5py-on": 5.63},
}
TABLE_3 = {"local": LOCAL, "link": LINKED, "s3": STORED}
"""The document's seconds, by place, panel and way: the fastest three of each read."""
EXPERIMENTS = {
    "local": ("penard_local", ("reads", "others")),
    "link": ("penard_link", ("observed", "observed-today")),
    "s3": ("penard_s3", ("s3", "s3-today")),
}
"""The notebook and the experiments of each place; the first holds what Table 3 ranks."""
LINKS = {
    "delay": ("delay", "delay-today"),
    "link": EXPERIMENTS["link"][1],
    "stated": ("stated",),
}
"""Places of the page on links, and their experiments; what each read moves is of the first."""
PLACES = ("local", "delay", "link", "stated", "s3")
"""In the order that tables and figures have them in."""
_ITEM_BYTES = 4  # of both variables, float32


def delay_of(records: pd.DataFrame) -> float:
    """Return the delay of the links, in seconds.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the page on links.
    """
    return float(records["latency_s"].dropna().median())


def spelled_link(link: Link) -> str:
    """Return a link in words, its rate in the unit that people give it in.

    Examples
    --------
    >>> [spelled_link(link) for link in links().values()]
    ['a delay of 100 ms', '100 kB/s and 100 ms', '100 Mbit/s and 100 ms']
    """
    trip = f"{1e3 * link.round_trip_s:g} ms"
    rate = link.bytes_per_s
    if math.isinf(rate):
        return f"a delay of {trip}"
    bits = 8 * rate
    if bits >= 1e9:
        return f"{bits / 1e9:g} Gbit/s and {trip}"
    return f"{bits / 1e6:g} Mbit/s and {trip}" if rate > 1e6 else f"{rate / 1e3:g} kB/s and {trip}"


def seconds(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the time of each read in each place, opening included.

    Parameters
    ----------
    found : mapping
        Records by a key of `EXPERIMENTS`; what was not measured is left out.

    Returns
    -------
    pandas.DataFrame
        place (of `PLACES`), label, panel, way, seconds, low, high, n (blocks; 0 by the model, and
        then without interval), ranked (whether Table 3 ranks it), whole (whether a series goes
        through as many chunks as the document's), chunk_bytes.
    """
    rows = []
    for where, records in found.items():
        if where == "link":
            rows += _linked(records)
        else:
            rows += _measured(where, records, EXPERIMENTS[where][1])
    return pd.DataFrame(rows)


def fastest(table: pd.DataFrame, where: str, panel: str, count: int = 3) -> pd.DataFrame:
    """Return the fastest few of what Table 3 ranks, fastest first."""
    mine = table[(table["place"] == where) & (table["panel"] == panel) & table["ranked"]]
    return mine.sort_values("seconds").head(count)


def _linked(records: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows of the links: measured, the others by the model."""
    moved = records[records["experiment"].isin(LINKS["delay"])]
    known = {"link": "observed", "stated": "stated"}
    rows = _measured("delay", records, LINKS["delay"])
    for name, link in known.items():
        measured = _measured(name, records, LINKS[name], beside=moved)
        timed = {(row["panel"], row["way"]) for row in measured}
        shared = _shared(name, moved)
        expected = predictions(moved, links(delay_of(records))[link])
        rows += measured
        rows += [
            {
                **shared,
                "panel": row.panel,
                "way": row.way,
                "seconds": row.seconds,
                "low": math.nan,
                "high": math.nan,
                "n": 0,
                "ranked": False,
                "chunk_bytes": _chunk_bytes(moved, str(row.case)),
            }
            for row in expected.itertuples()
            if (row.panel, row.way) not in timed and math.isfinite(float(row.seconds))  # type: ignore[arg-type]
        ]
    return rows


def _measured(
    where: str,
    records: pd.DataFrame,
    experiments: tuple[str, ...],
    beside: pd.DataFrame | None = None,
) -> list[dict[str, object]]:
    good = main(records)
    good = good[
        good["experiment"].isin(experiments)
        & good["phase"].isin(PHASES)
        & (good["cache_state"] != "cold")
    ]
    shared = _shared(where, good if beside is None else beside)
    whole = good.groupby(["experiment", "case", "block"], sort=False)["wall_s"].sum()
    rows: list[dict[str, object]] = []
    for (experiment, case), values in whole.groupby(["experiment", "case"], sort=False):
        panel, way = place(str(case))
        middle = median_interval(values)
        rows.append(
            {
                **shared,
                "panel": panel,
                "way": way,
                "seconds": middle.value,
                "low": middle.low,
                "high": middle.high,
                "n": middle.n,
                "ranked": experiment == EXPERIMENTS.get(where, ("", ("",)))[1][0]
                and "-today" not in str(case),
                "chunk_bytes": _chunk_bytes(good, str(case)),
            }
        )
    return rows


def _shared(where: str, records: pd.DataFrame) -> dict[str, object]:
    """Return what all rows of a place have."""
    kinds = records["case"].str.partition("/")[0]
    touched = {kind: records[kinds == kind]["predicted_reads"].max() for kind in CHUNKS}
    return {"place": where, "label": _label(where, records), "whole": touched == CHUNKS}


def _label(where: str, records: pd.DataFrame) -> str:
    if where == "local":
        return "this machine's disk"
    if where == "s3":
        if (records["link"] == ABROAD).any():
            return "S3 of others"
        if (records["link"] == NEAR).any():
            return "S3 on this machine"
        return "S3 server here"
    delay_s = delay_of(records)
    return spelled_link(links(delay_s)["observed" if where == "link" else where])


def _chunk_bytes(records: pd.DataFrame, case: str) -> float:
    """Return the bytes of a chunk of the netCDF file that a case's panel reads; nan if untold."""
    kind = case.partition("/")[0]
    mine = records[records["case"].str.startswith(f"{kind}/") & (records["format"] == "netcdf4")]
    if mine.empty:
        return math.nan
    return float(_ITEM_BYTES * math.prod(map(int, str(mine["chunks"].iloc[0]).split("x"))))
