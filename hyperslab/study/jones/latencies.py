"""How long each of many successive reads takes: read-ahead, seen from a program."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ...kernels import kernel
from ...measure.case import Case, Stopwatch
from ...measure.cold import resident_fraction
from ...measure.counters import Counts
from ...measure.records import main
from .files import Files, holds
from .loops import CPlain
from .readers import READERS
from .reads import right
from .spots import Spots

EXPERIMENT = "latencies"
READS = 512
NBYTES = 2**16
"""Of one read; eight of them are the 512 KiB that a pattern of eight would span."""
LINK = 1.25e9
"""Bytes in a second that reach a node of the document's: what is quicker was there before."""
DOCUMENT = {"slow": (1, 100e6), "medium": (1, 460e6), "fast": (6, 3e9)}
"""Of eight successive reads: how many, and their rate in bytes a second (section 3.1)."""

# What the counters say of the loop belongs to all its reads together.
_NOT_EACH = dict.fromkeys(["overhead_s", *(name for name in Counts.__dataclass_fields__)])


@dataclass(frozen=True)
class ReadEach:
    """Read a file's head in C with a clock around each call: a phase read for every one.

    The loop runs in one piece, the times kept in an array; the last read is compared whole. What
    of the file was in memory before the loop stands with each of its reads.

    Parameters
    ----------
    path : Path
    reader : str
        "c-fread" or "c-pread".
    reads : int
    """

    path: Path
    reader: str
    spots: Spots
    reads: int

    def __call__(self, watch: Stopwatch) -> bool:
        kernel()
        loop = READERS[self.reader].loop(self.path, self.spots.count)
        assert isinstance(loop, CPlain)
        watch.chill()
        resident = resident_fraction([self.path])
        starts = self.spots.between(0, self.reads)
        each = np.zeros(len(starts))
        loop.ready(starts, each)()
        for number, seconds in enumerate(each.tolist()):
            name = f"{self.reader}/{self.spots.pattern}/{number:04d}"
            with watch("read", case=name):
                pass
            known = {"resident_before": resident, "useful_bytes": self.spots.nbytes}
            watch.note(**_NOT_EACH | known | {"wall_s": seconds})
        same = holds(loop.last(), int(starts[-1]))
        loop.close()
        return same


def cases(files: Files, reads: int = READS) -> list[Case]:
    """Return the case of each reader in C: sequential, cold, in reads of 64 KiB."""
    path = files.path("binary")
    spots = Spots("sequential", NBYTES, files.nbytes)
    return [
        Case(
            f"{reader}/sequential",
            ReadEach(path, reader, spots, min(reads, len(spots))),
            check=right,
            columns={"library": "C", "format": "binary", "pattern": "sequential", "size": "64KiB"},
            files=[path],
            cache_state="cold",
            aa=number == 0,
        )
        for number, reader in enumerate(("c-fread", "c-pread"))
    ]


def table(records: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each read, in the order in which they were made.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "latencies".

    Returns
    -------
    pandas.DataFrame
        reader, read (its number), seconds and rate (medians over blocks), low and high (smallest
        and largest seconds).
    """
    rows = main(records)
    rows = rows[rows["phase"] == "read"]
    parts = rows["case"].str.rsplit("/", n=1, expand=True)
    rows = rows.assign(reader=parts[0].str.split("/").str[0], read=parts[1].astype(int))
    groups = rows.groupby(["reader", "read"], sort=True)
    found = groups["wall_s"].agg(seconds="median", low="min", high="max").reset_index()
    return found.assign(rate=NBYTES / found["seconds"])


@dataclass(frozen=True)
class Shape:
    """What successive reads look like.

    Parameters
    ----------
    reads : int
    fast : float
        Share of reads that are quicker than the document's link.
    fast_rate, slow_rate : float
        Median rates of those and of the others, bytes a second; NaN where there is none.
    slow_share : float
        Share of the time that the others take.
    places : tuple of float
        Where those others lie, in MiB of the file.
    """

    reads: int
    fast: float
    fast_rate: float
    slow_rate: float
    slow_share: float
    places: tuple[float, ...]


def shape(timed: pd.DataFrame, reader: str = "c-fread") -> Shape:
    """Return what the successive reads of one reader look like.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `table`.
    reader : str

    Examples
    --------
    >>> rates = [1e8, 4.6e8, *6 * [3e9]] * 4
    >>> frame = pd.DataFrame({"reader": "c-fread", "read": range(32), "rate": rates})
    >>> found = shape(frame.assign(seconds=NBYTES / frame["rate"]))
    >>> found.fast, found.fast_rate, round(found.slow_share, 2)
    (0.75, 3000000000.0, 0.86)
    """
    part = timed[timed["reader"] == reader].sort_values("read")
    fast = part["rate"] >= LINK
    return Shape(
        len(part),
        float(fast.mean()),
        float(part["rate"][fast].median()),
        float(part["rate"][~fast].median()),
        float(part["seconds"][~fast].sum() / part["seconds"].sum()),
        tuple((part["read"][~fast] * NBYTES / 2**20).tolist()),
    )
