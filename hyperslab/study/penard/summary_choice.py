"""What helps who has a file with deflate and no shuffle, in the order of the work it makes."""

from dataclasses import dataclass

import pandas as pd

from .summary_seconds import PLACES

BASE = "h5py-off"
NEAR = 1.5
"""A remedy is good enough when its time is within this factor of the quickest's."""
MOST = 0.5
"""Share of what an index saves that is most of it."""
WORK = (
    "leave it as it is",
    "tune the cache",
    "index it",
    "write it in pages",
    "convert it",
)
"""Kinds of remedy, from the least work to the most: a line of code, a file beside the file; from
the fourth on the file is rewritten."""

_SHORT = {0: "h5py as it comes", 3: "HDF5 in pages"}


@dataclass(frozen=True)
class Remedy:
    """One way out.

    Parameters
    ----------
    work : int
        Its place in `WORK`.
    what : str
        With what it is done; empty where `WORK` says it all.
    """

    work: int
    what: str = ""

    @property
    def label(self) -> str:
        """Return what figures call it.

        Examples
        --------
        >>> Remedy(1, "no cache").label
        'tune the cache: no cache'
        """
        return ": ".join(part for part in (WORK[self.work], self.what) if part)

    @property
    def words(self) -> str:
        """Return what sentences call it.

        Examples
        --------
        >>> Remedy(1, "no cache").words, Remedy(3).words
        ('tune the cache (no cache)', 'write it in pages')
        """
        return WORK[self.work] + (f" ({self.what})" if self.what else "")

    @property
    def short(self) -> str:
        """Return what it is called beside others.

        Examples
        --------
        >>> Remedy(4, "Zarr, Blosc").short, Remedy(3).short
        ('Zarr, Blosc', 'HDF5 in pages')
        """
        return self.what or _SHORT[self.work]


REMEDIES = {
    BASE: Remedy(0),
    "h5py-off-nocache": Remedy(1, "no cache"),
    "h5py-off-64k": Remedy(1, "64 KiB ahead"),
    "kerchunk-off": Remedy(2, "kerchunk"),
    "subchunk-off": Remedy(2, "hyperslab.subchunk"),
    "subchunk-off-obstore": Remedy(2, "hyperslab.subchunk, obstore"),
    "h5py-paged": Remedy(3),
    "zarr-deflate": Remedy(4, "Zarr, same codec"),
    "zarr": Remedy(4, "Zarr, Blosc"),
    "zarr-obstore": Remedy(4, "Zarr, Blosc, obstore"),
    "zarr3-shards": Remedy(4, "Zarr 3, shards"),
    "zarr3-shards-obstore": Remedy(4, "Zarr 3, shards, obstore"),
}
"""By way: the file without shuffle, or what it is turned into."""


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Return each remedy's time beside that of the quickest from the same place.

    Parameters
    ----------
    table : pandas.DataFrame
        From `summary_seconds.seconds`.

    Returns
    -------
    pandas.DataFrame
        Its rows of `REMEDIES`, with times (as long as the quickest), work (a number of `WORK`),
        best (whether it is the quickest) and chosen (whether it is the one of least work within
        `NEAR` of that; of the same work, the quicker).
    """
    found = []
    mine = table[table["way"].isin(list(REMEDIES))]
    for _, part in mine.groupby(["place", "panel"], sort=False):
        quickest = part["seconds"].min()
        part = part.assign(
            times=part["seconds"] / quickest,
            work=[REMEDIES[way].work for way in part["way"]],
            best=part.index == part["seconds"].idxmin(),
        )
        near = part[part["times"] <= NEAR].sort_values(["work", "seconds"])
        found.append(part.assign(chosen=part.index == near.index[0]))
    return pd.concat(found, ignore_index=True)


def labels(table: pd.DataFrame) -> dict[str, str]:
    """Return what the places are called that a table has, in their order."""
    named = dict(table[["place", "label"]].itertuples(index=False, name=None))
    return {where: named[where] for where in PLACES if where in named}


def saved(found: pd.DataFrame) -> pd.DataFrame:
    """Return how much of the seconds that an index saves a tuned cache saves already.

    Parameters
    ----------
    found : pandas.DataFrame
        From `compared`.

    Returns
    -------
    pandas.DataFrame
        place, panel, share (1: as much as the quicker index; below 0: it costs time) and times
        (as long as that index); where an index saves less than a sixth there is no row.
    """
    rows = []
    for (where, panel), part in found.groupby(["place", "panel"], sort=False):
        base, tuned, index = (
            float(part[part["work"] == work]["seconds"].min()) for work in (0, 1, 2)
        )
        if base > 1.2 * index and tuned > 0:
            rows.append(
                {
                    "place": where,
                    "panel": panel,
                    "share": (base - tuned) / (base - index),
                    "times": tuned / index,
                }
            )
    return pd.DataFrame(rows, columns=["place", "panel", "share", "times"])
