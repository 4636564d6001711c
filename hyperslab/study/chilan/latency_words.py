"""The sentences and tables on the time of the four patterns, their numbers from the records."""

from typing import Any

import numpy as np
import pandas as pd

from ...measure.stats import Interval
from ...parallel import counted as in_words
from ...text import ENOUGH, amount, listing, number, spread
from .document import PROCESSORS, WRITES
from .results import (
    MODES,
    NAMES,
    TITLES,
    added,
    apart,
    best_words,
    by,
    few,
    in_order,
    lead,
    longest,
    ratio,
    rows_of,
    slower,
    timed,
)  # fmt: skip

_BEST = "best of three"


def table_latency(times: pd.DataFrame, latency: pd.DataFrame) -> pd.DataFrame:
    """Return each timed write with its requests and the document's ratio.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    latency : pandas.DataFrame
        The records it was made from.
    """
    rows = []
    for name, title in TITLES.items():
        part = times[times["pattern"] == name]
        for cell in rows_of(part[["library", "latency_s"]].drop_duplicates()):
            library, latency_s = cell["library"], cell["latency_s"]
            mine = part[(part["library"] == library) & (part["latency_s"] == latency_s)]
            first = apart(library)
            of, to = f"{library}/{name}/{first}", f"{library}/{name}/collective"
            found = ratio(latency, of, to, latency_s)
            by = {row["case"]: row for row in rows_of(mine)}
            if found is None:
                continue
            shown = f"{found.value:.3g}"
            rows.append(
                {
                    "pattern": title,
                    "library": NAMES[library],
                    "rows × columns": mine["size"].iloc[0].replace("x", " × "),
                    "added": f"{1e3 * latency_s:g} ms",
                    f"{MODES['independent']}": _cell(by[of]),
                    f"{MODES['collective']}": _cell(by[to]),
                    "ratio": shown
                    + (f" [{found.low:.3g}, {found.high:.3g}]" if found.n > 1 else ""),
                    _BEST: _best(by[of], by[to]),
                    "document": f"{WRITES[name].ratio:.3g}",
                }
            )
    table = pd.DataFrame(rows)
    return table if times["best"].notna().any() else table.drop(columns=_BEST, errors="ignore")


def caption_table(times: pd.DataFrame) -> str:
    """Return the caption of the table; "" where nothing was timed.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    if times.empty:
        return ""
    n = times["n"]
    return (
        "Seconds of writing the rows and columns of a rank, the requests that the busiest rank "
        "makes one after another, and independent over collective, beside the document's ratio of "
        f"{PROCESSORS} processors: medians with {spread(n.max(), n.min())}{best_words(times)}."
    )


def caption_latency(times: pd.DataFrame) -> str:
    """Return the caption of the figure of seconds over requests; "" where nothing was timed.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    if times.empty:
        return ""
    ranks, n = int(times["ranks"].iloc[0]), times["n"]
    return (
        f"Seconds of writing by {in_words(ranks)} over the requests of the rank that makes the "
        "most, "
        f"{_with(times)}: medians with {spread(n.max(), n.min())}. Dashed: requests times "
        "latency alone. Star: the document's interleaved columns of 32 processors, a "
        "request for each of 512K rows."
    )


def document(records: pd.DataFrame) -> str:
    """Return what more rows gave, "" where that was not measured.

    Parameters
    ----------
    records : pandas.DataFrame
        The experiment "document".
    """
    if records.empty:
        return ""
    library = lead(records)
    of, to = f"{library}/interleaved/{apart(library)}", f"{library}/interleaved/collective"
    latency_s = longest(records)
    found = ratio(records, of, to, latency_s)
    if found is None:
        return ""
    times = {row["case"]: row for row in rows_of(timed(records))}
    rows = int(times[of]["size"].partition("x")[0])
    return (
        f"{added(latency_s)}, with {rows:,} rows a rank {NAMES[library]} took "
        f"{amount(times[of]['seconds'], 's')} {by(library)} and "
        f"{amount(times[to]['seconds'], 's')} collectively: "
        f"{found.value:.0f}×{few(found.n)}, beside the document's "
        f"{WRITES['interleaved'].ratio:.0f}×."
    )


def local(latency: pd.DataFrame) -> str:
    """Return how the two modes compare where nothing is added, "" where that was not timed.

    Parameters
    ----------
    latency : pandas.DataFrame
        The experiment "latency".
    """
    here = latency[latency["latency_s"] == 0]
    if here.empty:
        return ""
    said = []
    turns = {row["case"]: row["stages"] for row in rows_of(timed(here))}
    for row in rows_of(in_order(here[["library", "pattern", "size"]].drop_duplicates())):
        library, name = row["library"], row["pattern"]
        of, to = f"{library}/{name}/{apart(library)}", f"{library}/{name}/collective"
        found = ratio(here, of, to, 0.0)
        if found is not None:
            size = row["size"].replace("x", " × ")
            compared = counting(f"writing {by(library)}", found, turns[of], turns[to])
            said.append(f"- {NAMES[library]}, {TITLES[name]}, {size} of a rank: {compared}")
    head = (
        f"{added(0.0)}, each rank writes as many rows as where requests are counted, since fewer "
        "are over before they tell anything:"
    )
    return "\n".join([head, "", *dict.fromkeys(said)]) if said else ""


def counting(of: str, found: Interval, its: float, theirs: float) -> str:
    """Return how a way of writing compares with writing collectively, and whether requests say why.

    Parameters
    ----------
    of : str
        The way, as the beginning of the sentence.
    found : Interval
        Its seconds over those of writing collectively.
    its, theirs : float
        Requests that the busiest rank makes in turn, that way and collectively.

    Examples
    --------
    >>> counting("writing independently", Interval(2.35, 2.3, 2.7, 7), 2048, 18)
    'writing independently is 2.35× slower than writing collectively: 2,048 requests in turn ...'
    >>> counting("writing independently", Interval(0.2, 0.1, 0.3, 7), 4, 1)
    'writing independently is 5× faster than writing collectively, which its requests do not ...'
    >>> counting("writing independently", Interval(2.97, 1.1, 3.1, 3), 1, 1)
    'as many requests in turn (1) as collectively, and too few blocks (3) to tell a direction: ...'
    """
    if its == theirs and found.n < ENOUGH:
        inside = f"lies in [{found.low:.2f}, {found.high:.2f}]"
        return (
            f"as many requests in turn ({its:,.0f}) as collectively, and too few blocks "
            f"({found.n}) to tell a direction: the ratio of the times "
            f"{inside if found.n > 1 else f'is {found.value:.2f}'}."
        )
    compared = slower(of, "writing collectively", found).removesuffix(".")
    if found.contains(1):
        return f"{compared}; {its:,.0f} requests in turn against {theirs:,.0f}."
    if its == theirs or (its > theirs) != (found.value > 1):
        compared += ", which its requests do not explain"
    return f"{compared}: {its:,.0f} requests in turn against {theirs:,.0f}."


def line(times: pd.DataFrame) -> str:
    """Return how well requests times latency tells the time, and where the document lies.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    slow = times[times["latency_s"] > 0]
    if slow.empty:
        return ""
    beyond = slow["seconds"] - slow["stages"] * slow["latency_s"]
    many = slow[slow["stages"] >= 30]
    said = ""
    if len(many):
        off = (many["seconds"] / (many["stages"] * many["latency_s"]) - 1).abs().max()
        said = f" Where a rank makes 30 requests or more it is off by at most {100 * off:.0f} %."
    theirs = WRITES["interleaved"]
    row_s = theirs.independent_s / theirs.rows
    return (
        "A rank makes its requests one after another, and the ranks wait side by side: a write "
        "takes the requests of its busiest rank times the latency, and what it takes without. "
        f"Beyond that product our writes took {amount(beyond.median(), 's')} (median) and "
        f"{amount(beyond.max(), 's')} at most.{said} The document's "
        f"{number(theirs.independent_s)} s for {theirs.rows:,} rows are {amount(row_s, 's')} a "
        "row, so its point lies on such a line; its "
        f"{theirs.ratio:.0f}× is that line over {theirs.collective_s} s of a write that has "
        "almost no requests. What was added here is a sleep in each request: there are no "
        "servers that get busy, no locks and no network."
    )


def _with(times: pd.DataFrame) -> str:
    latencies = sorted(times["latency_s"].unique())
    shown = [f"{1e3 * x:g} ms" if x else "nothing" for x in latencies]
    return f"with {listing(shown, 6)} added to each request"


def _best(of: dict[str, Any], to: dict[str, Any]) -> str:
    ratio = of["best"] / to["best"]
    return "–" if np.isnan(ratio) else f"{ratio:.3g}"


def _cell(row: dict[str, Any]) -> str:
    inside = f" [{row['low']:.3g}, {row['high']:.3g}]" if row["n"] > 1 else ""
    return f"{row['seconds']:.3g} s{inside}, {row['stages']:.0f} in turn"
