"""What the experiments on Penard et al. (2025) found, side by side: Table 3, and what to do."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ...measure.records import load, main
from ...measure.stats import median_interval
from ..profile import check_profile, root
from .link_model import PHASES, place
from .link_model import TABLE_3 as LINKED
from .local_results import TABLE_3 as LOCAL
from .s3_words import TABLE_3 as STORED

PLACES = {"local": "local disk", "link": "delay of the link", "s3": "S3 server here"}
TABLE_3 = {"local": LOCAL, "link": LINKED, "s3": STORED}
"""The document's seconds, by place, panel and way: the fastest three of each read."""
EXPERIMENTS = {
    "local": ("penard_local", ("reads", "others")),
    "link": ("penard_link", ("observed", "observed-today")),
    "s3": ("penard_s3", ("s3", "s3-today")),
}
"""The notebook and the experiments of each place; the first holds what Table 3 ranks."""
BASE = "h5py-off"
REMEDIES = {
    "subchunk-off": ("index it: hyperslab.subchunk", False),
    "h5py-off-nocache": ("tune the cache: none", False),
    "h5py-off-64k": ("tune the cache: 64 KiB ahead", False),
    "kerchunk-off": ("references: kerchunk", False),
    "h5py-paged": ("write it in pages", True),
    "zarr-deflate": ("convert: Zarr, same codec", True),
    "zarr": ("convert: Zarr, Blosc", True),
}
"""Ways out for who has a file with deflate: what they are called, and whether it is rewritten."""


@dataclass(frozen=True)
class Summary:
    """The records of the three pages.

    Parameters
    ----------
    profile : str
    results : Path
        Where figures go.
    seconds : pandas.DataFrame
        From `seconds`.
    notebook : str
        Its own name.
    """

    profile: str
    results: Path
    seconds: pd.DataFrame
    notebook: str = "penard_summary"


def drawn(*, profile: str = "quick", workdir: str = "build/adhoc", records: str = "") -> Summary:
    """Read the records of the pages on local files, the link and S3.

    Parameters
    ----------
    profile : str
        smoke, quick, full or paper.
    workdir : str
        Where results are; relative to the repository.
    records : str
        A folder of records; empty for the results of the profile.

    Raises
    ------
    FileNotFoundError
        When one of the pages was not measured.
    """
    check_profile(profile)
    results = (root() / workdir).resolve() / "results" / profile
    folder = (root() / records).resolve() if records else results
    found = {
        where: load(folder / f"{notebook}.parquet") for where, (notebook, _) in EXPERIMENTS.items()
    }
    return Summary(profile, results, seconds(found))


def seconds(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the time of each read in each place, opening included.

    Parameters
    ----------
    found : mapping
        Records by place.

    Returns
    -------
    pandas.DataFrame
        place, panel, way, seconds, low, high, n, ranked (whether Table 3 ranks it).
    """
    rows = []
    for where, records in found.items():
        _, experiments = EXPERIMENTS[where]
        good = main(records)
        good = good[
            good["experiment"].isin(experiments)
            & good["phase"].isin(PHASES)
            & (good["cache_state"] != "cold")
        ]
        whole = good.groupby(["experiment", "case", "block"], sort=False)["wall_s"].sum()
        for (experiment, case), values in whole.groupby(["experiment", "case"], sort=False):
            panel, way = place(str(case))
            middle = median_interval(values)
            rows.append(
                {
                    "place": where,
                    "panel": panel,
                    "way": way,
                    "seconds": middle.value,
                    "low": middle.low,
                    "high": middle.high,
                    "n": middle.n,
                    "ranked": experiment == experiments[0] and "-today" not in str(case),
                }
            )
    return pd.DataFrame(rows)


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """Return how much faster each remedy is than h5py as it comes, on the file without shuffle.

    Parameters
    ----------
    table : pandas.DataFrame
        From `seconds`.

    Returns
    -------
    pandas.DataFrame
        place, panel, way, gain, low, high: medians divided, with the widest interval that both
        intervals allow.
    """
    rows = []
    for (where, panel), part in table.groupby(["place", "panel"], sort=False):
        known = part.set_index("way")
        if BASE not in known.index:
            continue
        base = known.loc[BASE]
        for way in REMEDIES:
            if way in known.index:
                one = known.loc[way]
                rows.append(
                    {
                        "place": where,
                        "panel": panel,
                        "way": way,
                        "gain": base["seconds"] / one["seconds"],
                        "low": base["low"] / one["high"],
                        "high": base["high"] / one["low"],
                    }
                )
    return pd.DataFrame(rows)


def fastest(table: pd.DataFrame, where: str, panel: str, count: int = 3) -> pd.DataFrame:
    """Return the fastest few of what Table 3 ranks, fastest first."""
    mine = table[(table["place"] == where) & (table["panel"] == panel) & table["ranked"]]
    return mine.sort_values("seconds").head(count)
