"""The sentences and tables of the page on slow links, with their numbers from the records."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...network import Link
from ...text import spread
from .local_results import CHUNKS, PANELS
from .wire_figures import labels

WORDS = {
    "cmems/series": "the ocean's series",
    "gfs/series": "the temperature's series",
    "cmems/frame": "the ocean's map",
    "gfs/frame": "the temperature's map",
}
_OPENER = {"subchunk-off": "by fsspec", "subchunk-off-obstore": "by obstore"}
"""What brings our index its bytes."""
_LINKS = {"delay": "delay alone", "observed": "as observed", "stated": "as stated"}


def whole(records: pd.DataFrame) -> bool:
    """Return whether a series goes through as many chunks as in the document's files."""
    return _frames(records) == CHUNKS


def summary(timed: pd.DataFrame, expected: Mapping[str, pd.DataFrame]) -> str:
    """Return what was found.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    expected : mapping
        From the name of a link to `link_model.predictions`.
    """
    found = ["**What we found.**"]
    over = "Over 100 Mbit/s and a delay of"
    for panel in ("gfs/series", "cmems/series"):
        theirs, index, ours = _three(panel, "observed", timed, expected)
        found.append(
            f"{over} {_milliseconds(timed)} ms {WORDS[panel]} took h5py {theirs}, the document's "
            f"kind of index {index} and ours, {_OPENER['subchunk-off']}, {ours}, from the same "
            "file without shuffle."
        )
    theirs, index, ours = _three("gfs/series", "stated", timed, expected)
    found.append(
        "Over the link as stated, where each byte counts, the temperature's would take "
        f"{theirs}, {index} and {ours}."
    )
    return " ".join(found)


def _three(
    panel: str, link: str, timed: pd.DataFrame, expected: Mapping[str, pd.DataFrame]
) -> list[str]:
    """Return the seconds of h5py, the document's kind of index and ours, from the same file."""
    measured = seconds_of(timed[timed["link"] == link])
    model = seconds_of(expected[link])
    names = [f"{panel}/{way}" for way in ("h5py-off", "chunkindex-off", "subchunk-off")]
    return [
        _spelled(measured[name]) if name in measured else f"{_spelled(model[name])} (by the model)"
        for name in names
    ]


def taken(records: pd.DataFrame) -> str:
    """Return what was scaled down, empty when nothing was.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "delay", or of one from a store.
    """
    if whole(records):
        return ""
    frames = _frames(records)
    delays = records["latency_s"].dropna().unique()  # none on the way to a store of others
    less = "".join(f" Its links have a delay of {1e3 * s:.0f} ms." for s in delays if s != 0.1)
    return (
        f"This run reads {frames['cmems']} of the {CHUNKS['cmems']} chunks of the ocean and "
        f"{frames['gfs']} of the {CHUNKS['gfs']} of the temperature. The seconds of a series grow "
        "with its chunks, by another law for each reader, so the document's do not stand beside "
        f"ours, and what compares seconds is not judged: the profile full does both.{less}"
    )


def served(records: pd.DataFrame) -> str:
    """Return what serves the files.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "delay".
    """
    if (records["mode"] == "lighttpd").all():
        return "The files are served by lighttpd, as in the document."
    return (
        "The files are served by a server of our own; lighttpd, which the document had, is not "
        "installed here (`hyperslab doctor` says how to have it)."
    )


def model(timed: pd.DataFrame, links: Mapping[str, Link]) -> str:
    """Return how well the model fits.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    links : mapping
        From `link_carried.with_rates`.
    """
    rate = links["delay"].bytes_per_s
    own = (
        "A delay alone has no rate, but the program that delays has one on this machine, "
        f"{rate / 1e9:.2g} GB/s by a plain request, and it is counted. "
        if math.isfinite(rate)
        else ""
    )
    off = timed["error"].abs()
    worst = timed.assign(off=off).sort_values("off").iloc[-1]
    label, shuffle = labels()[str(worst["way"])]
    return (
        "A read takes the round trips of its stages and of the connections it has to wait for, "
        "its bytes over the rate, and the CPU time of the process. Where a reader asks on while "
        "other answers are under way, the longest of the three counts, the bytes that come last "
        "only after the last of those round trips, and the rest of its stages. "
        f"Nothing is fitted. {own}Over the "
        f"{len(timed)} reads that were timed the model is off by {100 * off.median():.1f} % "
        f"(median) and {100 * off.max():.0f} % at most: {label}{', shuffle ' * bool(shuffle)}"
        f"{shuffle}, {WORDS[str(worst['panel'])]}, {_LINKS[str(worst['link'])]}, "
        f"{_spelled(worst['predicted'])} against {_spelled(worst['seconds'])} measured."
    )


def table_model(timed: pd.DataFrame) -> pd.DataFrame:
    """Return the model beside each measured read.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    rows = []
    for panel, title in PANELS.items():
        for _, row in timed[timed["panel"] == panel].iterrows():
            label, shuffle = labels()[str(row["way"])]
            interval = f" [{row['low']:.3g}, {row['high']:.3g}]" if row["n"] > 1 else ""
            rows.append(
                {
                    "read": title.partition(". ")[2],
                    "reader": f"{label}, {shuffle}" if shuffle else label,
                    "link": _LINKS[str(row["link"])],
                    "measured, s": f"{row['seconds']:.3g}{interval}",
                    "model, s": f"{row['predicted']:.3g}",
                    "off by": f"{100 * row['error']:+.1f} %",
                    "round trips": f"{row['stages']:.0f} ({row['idle_stages']:.0f}) + "
                    f"{row['handshakes']:.0f}",
                    "MB": f"{row['wire_bytes'] / 1e6:.3g}",
                    "CPU, s": f"{row['cpu_s']:.2g}",
                }
            )
    return pd.DataFrame(rows)


def caption_9(timed: pd.DataFrame, limit_s: float, *, beside: bool) -> str:
    """Return the caption of Figure 9.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    limit_s : float
        What a read over the link as stated may take to be timed.
    beside : bool
        Whether the document's seconds are drawn.
    """
    least, most = int(timed["n"].min()), int(timed["n"].max())
    theirs = (
        " Diamonds: the document's fastest three."
        if beside
        else " The document's seconds are for more chunks, and are not drawn."
    )
    return (
        "Time of each read over a link, opening, index and references included, as in Figure 9 of "
        f"{{cite:t}}`penard2025`: medians with {spread(most, least)}; "
        "hollow, by the model, where it was not timed: as stated, what would take more than "
        f"{_spelled(limit_s)}. As observed: 100 Mbit/s, the usual rate next above what the "
        "document's bytes and seconds imply (see below), with the delay that it states; as "
        f"stated: 100 kB/s and that delay.{theirs}"
    )


def best(timed: pd.DataFrame, expected: pd.DataFrame) -> str:
    """Return how our index does against the next reader of the same file, over 100 Mbit/s.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    expected : pandas.DataFrame
        From `link_model.predictions`, over that link, for what was not timed.
    """
    observed = timed[timed["link"] == "observed"]
    measured = observed[observed["panel"] == "gfs/series"].set_index("way")["seconds"]
    model = expected[expected["panel"] == "gfs/series"].set_index("way")["seconds"]
    both = measured.combine_first(model)
    same = both.index.str.endswith("-off") | both.index.str.contains("-off-")
    seconds = both[same].sort_values()
    mine = seconds[seconds.index.isin(_OPENER)]
    ours = float(mine.iloc[0])
    rest = seconds[~seconds.index.str.startswith("subchunk")]
    said = []
    for others, what in (
        (rest, "the next reader of the same file"),
        (rest[~rest.index.str.startswith("chunkindex")], "the next that needs no index"),
    ):
        if len(others):
            label, theirs = labels()[str(others.index[0])][0], float(others.iloc[0])
            by = "" if others.index[0] in measured.index else " by the model"
            said.append(
                f"{what}, {label}, takes {_spelled(theirs)}{by}, {theirs / ours:.3g} times as long"
            )
    told = [
        f"{_OPENER[str(way)]} in {_spelled(float(took))}"
        f"{'' if way in measured.index else ' by the model'}"
        for way, took in mine.items()
    ]
    return (
        f"At 100 Mbit/s and {_milliseconds(timed)} ms our index reads the temperature's series, "
        f"without shuffle, {' and '.join(told)}; {'; '.join(said)}."
    )


def advice(timed: pd.DataFrame) -> str:
    """Return what to do today.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    found = timed[timed["link"] == "delay"]
    low, high = found["stages"].min(), found["stages"].max()
    trip_s = float(found["round_trip_s"].iloc[0])
    return (
        "## What to do today\n\n"
        "- **Count round trips first, then bytes.** The reads of this page wait for "
        f"{low:.0f} to {high:.0f} requests one after another; at {_milliseconds(timed)} ms that is "
        f"{trip_s * low:.2g} to {trip_s * high:.2g} s before any byte counts.\n"
        "- **Find your link on the map above**, by `ping` and the rate of any large download, "
        "and read by what wins there.\n"
    )


def _frames(records: pd.DataFrame) -> dict[str, int]:
    """Return chunks of a series in this run, by file."""
    kinds = records["case"].str.partition("/")[0]
    return {kind: int(np.nanmax(records[kinds == kind]["predicted_reads"])) for kind in CHUNKS}


def seconds_of(rows: pd.DataFrame) -> dict[str, float]:
    """Return the seconds of each panel and way, by their names joined."""
    return {
        f"{panel}/{way}": float(seconds)
        for panel, way, seconds in rows[["panel", "way", "seconds"]].itertuples(index=False)
    }


def _milliseconds(timed: pd.DataFrame) -> str:
    return f"{1e3 * float(timed['round_trip_s'].iloc[0]):.0f}"


def _spelled(seconds: float) -> str:
    return f"{float(f'{seconds:.3g}'):,g} s"
