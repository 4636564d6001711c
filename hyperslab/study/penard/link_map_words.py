"""The sentences about the map of links, with their numbers from the records."""

import pandas as pd

from .link_map import NEAR, RATES_MBIT, ROUND_TRIPS_MS, grounds, spelled
from .link_words import WORDS
from .local_results import PANELS


def caption(timed: pd.DataFrame) -> str:
    """Return the caption of the map.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    found = timed[timed["link"] == "delay"]
    least, most = int(found["n"].min()), int(found["n"].max())
    blocks = f"{most} block{'s' * (most > 1)}" if least == most else f"{least} to {most} blocks"
    delay = f"{1e3 * float(found['round_trip_s'].iloc[0]):g} ms"
    return (
        f"The fastest of {found['way'].nunique()} ways to read over links of any round trip and "
        "rate; lines where the lead changes, hatched where the next, of another file or library, "
        f"is within {100 * (NEAR - 1):.0f} %. Each reader's round trips, bytes and CPU time are "
        f"those of its own reads over the delay of {delay} alone ({blocks}, medians; the "
        "table above has them); the seconds over all other links are the model's. Square: the "
        "document's link as stated; circle: 100 Mbit/s with the same delay. TCP's slow start and "
        "losses are left out: they punish bytes on new connections."
    )


def where(timed: pd.DataFrame) -> str:
    """Return who leads how much of each map, and what is missing on one that is on another.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    found = grounds(timed)
    lines = [f"- {WORDS[panel]}: {_led(ground.shares())}." for panel, ground in found.items()]
    known = list(dict.fromkeys(way for ground in found.values() for way in ground.ways))
    gone = [
        f"{spelled(way)} ({', '.join(panels)})"
        for way in known
        if (panels := [WORDS[panel] for panel, ground in found.items() if way not in ground.ways])
    ]
    not_there = f"\n\nNot timed, and so not on the map: {'; '.join(gone)}." if gone else ""
    return "Who leads how much of the map:\n\n" + "\n".join(lines) + not_there


def spared(timed: pd.DataFrame, stated: pd.DataFrame, limit_s: float) -> str:
    """Return which ways are by the model over the link as stated though they would be quick enough.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    stated : pandas.DataFrame
        From `link_model.predictions`, over the link as stated.
    limit_s : float
        Reads that take no longer by the model are timed there.
    """
    known = set(timed[timed["link"] == "stated"]["way"])
    left = stated[(stated["seconds"] <= limit_s) & ~stated["way"].isin(list(known))]
    if left.empty:
        return ""
    names = "; ".join(spelled(str(way)) for way in left["way"].drop_duplicates())
    return f" To save minutes these are by the model there too: {names}."


def alt(timed: pd.DataFrame) -> str:
    """Return what the map shows, for who cannot see it.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    told = [
        f"{PANELS[panel].partition('. ')[2]}: {_led(ground.shares())}"
        for panel, ground in grounds(timed).items()
    ]
    return (
        f"Maps of links, one a read: round trip from {_span(ROUND_TRIPS_MS)} ms across, rate from "
        f"{_span(RATES_MBIT)} Mbit/s upwards, both logarithmic, divided among the fastest readers. "
        f"{'. '.join(told)}."
    )


def _led(shares: dict[str, float]) -> str:
    return "; ".join(f"{_percent(share)} {spelled(way)}" for way, share in shares.items())


def _span(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"
