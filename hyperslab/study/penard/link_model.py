"""What a read takes over a link, for the page whose cases have no labels yet."""

import math

import pandas as pd

from ...analysis.cost import PHASES
from ...measure.records import main
from ...measure.stats import median_interval
from ...network import Link

COUNTS = ("stages", "handshakes", "idle_stages", "wire_bytes", "requests")
_READS = {"ocean": "cmems", "temperature": "gfs", "series": "series", "map": "frame"}
# By reader and layout: what the cases of the other pages are called.
_STORES = {
    "netCDF-4": "off", "netCDF-4, shuffle": "on", "HDF5 in pages": "", "Zarr, Blosc": "",
    "Zarr, deflate": "deflate", "Zarr 3, shards": "", "NCZarr": "",
}  # fmt: skip
_OTHERS = {("zarr", "Zarr 3, shards"): "zarr3-shards", ("zarr", "NCZarr"): "nczarr"}
_VARIANTS = {
    "no read-ahead": "nocache", "64 KiB read-ahead": "64k", "blocks of 1 MiB": "blocks",
    "pages": "paged",
}  # fmt: skip
_UNKNOWN = Link(math.inf, 0.0)
_USED = ["stages", "handshakes", "wire_bytes", "cpu_s", "idle_stages"]


def samples(*records: pd.DataFrame) -> pd.DataFrame:
    """Return one row a sample: what it took, opening included, and what it moved.

    Parameters
    ----------
    *records : pandas.DataFrame
        Of experiments over links.

    Returns
    -------
    pandas.DataFrame
        case, link, block, wall_s, cpu_s, stages, handshakes, idle_stages, wire_bytes, requests.
    """
    rows = main(pd.concat(records))
    rows = rows[rows["phase"].isin(PHASES)]
    found = rows.groupby(["case", "link", "block"], sort=False).agg(
        wall_s=("wall_s", "sum"),
        user_s=("user_s", "sum"),
        sys_s=("sys_s", "sum"),
        **{name: (name, "max") for name in COUNTS},
    )
    found["cpu_s"] = found.pop("user_s") + found.pop("sys_s")
    return found.reset_index()


def table(links: dict[str, Link], *records: pd.DataFrame) -> pd.DataFrame:
    """Return measured and predicted times of each case over each link.

    Parameters
    ----------
    links : mapping
        By name; what is known of no other is rate and delay alone.
    *records : pandas.DataFrame
        Of experiments over links.

    Returns
    -------
    pandas.DataFrame
        panel, way, case, link, seconds, low, high (measured, with a 95 % interval), predicted
        (seconds), error (predicted over measured, less 1), round_trip_s, n, and medians of the
        counts and of cpu_s.
    """
    rows = []
    for (case, link), part in samples(*records).groupby(["case", "link"], sort=False):
        middle = median_interval(part["wall_s"])
        counts = {name: float(part[name].median()) for name in (*COUNTS, "cpu_s")}
        over = links.get(str(link), _UNKNOWN)
        predicted = _seconds(over, counts)
        panel, way = place(str(case))
        rows.append(
            {
                "panel": panel,
                "way": way,
                "case": case,
                "link": link,
                "seconds": middle.value,
                "low": middle.low,
                "high": middle.high,
                "n": middle.n,
                "predicted": predicted,
                "error": predicted / middle.value - 1,
                "round_trip_s": over.round_trip_s,
                **counts,
            }
        )
    return pd.DataFrame(rows)


def place(case: str) -> tuple[str, str]:
    """Return a case's panel and way.

    Examples
    --------
    >>> place("gfs/series-today/subchunk-off")
    ('gfs/series', 'subchunk-off')
    """
    kind, read, way = case.split("/")
    return f"{kind}/{read.removesuffix('-today')}", way


def _seconds(link: Link, counts: dict[str, float]) -> float:
    return link.seconds(*(counts[name] for name in _USED))


def named(records: pd.DataFrame) -> pd.DataFrame:
    """Return records of `penard_link` with its cases named as those of the other pages.

    Examples
    --------
    >>> labels = {"read": "ocean map", "layout": "netCDF-4", "reader": "h5py, no read-ahead"}
    >>> named(pd.DataFrame([labels]))["case"].tolist()
    ['cmems/frame/h5py-off-nocache']
    """
    if "reader" not in records:
        return records
    labels = records[["read", "layout", "reader"]].drop_duplicates()
    names = {key: _named(*key) for key in labels.itertuples(index=False, name=None)}
    keys = zip(records["read"], records["layout"], records["reader"], strict=True)
    return records.assign(case=[names[key] for key in keys])


def _named(read: str, layout: str, reader: str) -> str:
    kind, _, pattern = read.partition(" ")
    if kind not in _READS:
        return read
    library, _, variant = reader.partition(", ")
    parts = [_OTHERS.get((library, layout), library), _STORES[layout]]
    parts.append(_VARIANTS.get(variant, variant))
    return f"{_READS[kind]}/{_READS[pattern]}/{'-'.join(part for part in parts if part)}"
