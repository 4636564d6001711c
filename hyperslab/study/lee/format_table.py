"""Table 2 of Lee et al. 2008, with this machine's rates beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from ...measure.stats import Interval
from .format_rates import rates, ratio

# Table 2: MB/s of netCDF-3 and netCDF-4, means over six shapes, and by how many per cent which of
# the two is printed as faster (netCDF-3 negative; from rates that were not rounded yet). The
# figures' bars, one for each shape, have no numbers in the text.
TABLE_2: Mapping[tuple[str, str, str, str], tuple[int, int, int]] = MappingProxyType(
    {
        ("contiguous", "default", "write", "large"): (351, 279, -26),
        ("contiguous", "default", "write", "small"): (317, 255, -25),
        ("contiguous", "default", "read", "large"): (334, 424, 27),
        ("contiguous", "default", "read", "small"): (321, 385, 20),
        ("contiguous", "override", "write", "large"): (41, 42, 3),
        ("contiguous", "override", "write", "small"): (11, 11, 4),
        ("contiguous", "override", "read", "large"): (40, 27, -47),
        ("contiguous", "override", "read", "small"): (38, 42, 9),
        ("chunked", "default", "write", "large"): (339, 153, -121),
        ("chunked", "default", "write", "small"): (343, 321, -7),
        ("chunked", "default", "read", "large"): (331, 431, 30),
        ("chunked", "default", "read", "small"): (315, 223, -41),
        ("chunked", "override", "write", "large"): (37, 42, 13),
        ("chunked", "override", "write", "small"): (10, 10, -9),
        ("chunked", "override", "read", "large"): (42, 44, 5),
        ("chunked", "override", "read", "small"): (40, 39, -2),
    }
)
WINNER = 0.05  # a difference that the document highlights
SPREAD = 41 / 37 - 1  # the most by which its netCDF-3, which has no chunks, differs from itself
# Section 3.2.2, added to the 153 MB/s of Table 2.
EARLY_GAIN, CACHE_GAIN = 100, 200
# Experiment, cache state and phases of each setting of Table 2.
SETTINGS: Mapping[tuple[str, str], tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        ("default", "write"): ("write-cached", "", ("write",)),
        ("default", "read"): ("read", "warm", ("read",)),
        ("override", "write"): ("write-disk", "", ("write", "sync")),
        ("override", "read"): ("read", "cold", ("read",)),
    }
)


@dataclass(frozen=True)
class Setting:
    """One cell of Table 2: the document's two rates and ours.

    Parameters
    ----------
    storage, caching, operation, size : str
        "contiguous" or "chunked", "default" or "override", "write" or "read", "large" or "small".
    document : tuple of int
        Its line of `TABLE_2`.
    netcdf3, netcdf4 : float
        Ours: MB/s, means over the shapes of the medians over blocks.
    mean8 : tuple of float
        The same by the document's own statistic, netCDF-3 and netCDF-4.
    ratio : Interval
        netCDF-4's rate over netCDF-3's, geometric mean over the shapes.
    """

    storage: str
    caching: str
    operation: str
    size: str
    document: tuple[int, int, int]
    netcdf3: float
    netcdf4: float
    mean8: tuple[float, float]
    ratio: Interval

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Its place in `TABLE_2`."""
        return self.storage, self.caching, self.operation, self.size

    @property
    def documents_best(self) -> str:
        """The winner that the document highlights."""
        percent = self.document[2]
        return winner(1 + percent / 100 if percent > 0 else 1 / (1 - percent / 100))

    @property
    def best(self) -> str:
        """The winner that the whole interval names; "open" where its ends name different ones."""
        low, high = winner(self.ratio.low), winner(self.ratio.high)
        return low if low == high else "open"


def winner(ratio: float) -> str:
    """Return which of the two a ratio of rates names: the document asks for more than 5 %.

    Examples
    --------
    >>> winner(279 / 351), winner(42 / 41), winner(424 / 334)
    ('netCDF-3', 'neither', 'netCDF-4')
    """
    if max(ratio, 1 / ratio) <= 1 + WINNER + 1e-9:
        return "neither"
    return "netCDF-4" if ratio > 1 else "netCDF-3"


def table_2(experiments: Mapping[str, pd.DataFrame]) -> list[Setting]:
    """Return the cells of Table 2 with ours beside, those that were measured.

    Parameters
    ----------
    experiments : mapping
        Records of "write-cached", "write-disk" and "read".
    """
    rated = {key: rates(experiments[key[0]], key[2]) for key in SETTINGS.values()}
    found = []
    for (storage, caching, operation, size), document in TABLE_2.items():
        key = SETTINGS[caching, operation]
        experiment, state, phases = key
        kind = f"netcdf4-{storage}"
        both = ratio(experiments[experiment], phases, f"{kind}/{size}/", f"netcdf3/{size}/", state)
        if both is None:
            continue
        rows = rated[key]
        rows = rows[(rows["size"] == size) & (rows["cache_state"] == state)]
        means = rows.groupby("kind")["rate"].mean()
        eights = rows.groupby("kind")["mean8"].mean()
        found.append(
            Setting(
                storage, caching, operation, size, document,
                float(means["netcdf3"]), float(means[kind]),
                (float(eights["netcdf3"]), float(eights[kind])), both,
            )
        )  # fmt: skip
    return found
