"""The sentences and tables that sum Penard et al. (2025) up, with numbers from the records."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from .link_model import WORDS
from .local_results import PANELS
from .local_words import spelled
from .summary_choice import BASE, MOST, NEAR, REMEDIES, WORK, compared, labels, saved
from .summary_seconds import TABLE_3, fastest

_READS = {
    "gfs/series": "A series through chunks",
    "cmems/series": "A series through chunks",
    "gfs/frame": "A map out of a chunk",
    "cmems/frame": "A map that is a chunk",
}
_TUNED = "h5py-off-64k"
_INDEX = "subchunk-off"


def summary(seconds: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    """
    named = labels(seconds)
    hits = {
        where: [
            len(set(fastest(seconds, where, panel)["way"]) & set(theirs))
            for panel, theirs in TABLE_3[where].items()
        ]
        for where in TABLE_3
        if where in named
    }
    told = [f"{sum(found)} of {3 * len(found)} ({named[where]})" for where, found in hits.items()]
    return " ".join(
        part
        for part in (
            "**What we found.** Of the fastest three that the document names for each read, ours "
            f"share {', '.join(told)}."
            if told
            else "**What we found.**",
            _tally(seconds),
            _shares(seconds),
        )
        if part
    )


def absent(missing: tuple[str, ...], others: dict[str, str], profile: str) -> str:
    """Return in a line each what is not on the page, or is of another profile; empty when all is.

    Parameters
    ----------
    missing : tuple of str
        Pages without records.
    others : mapping
        Pages whose records are of another profile, and which.
    profile : str
        The page's own.
    """
    lines = [
        f"- No records of {name}: `hyperslab run {name} --profile {profile}`" for name in missing
    ]
    lines += [f"- The records of {name} are of the profile {of}" for name, of in others.items()]
    if not lines:
        return ""
    return "\n".join(["```{admonition} Not measured here", ":class: warning", *lines, "```"])


def table_3(seconds: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 of the document and ours beside it.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    """
    rows = []
    named = labels(seconds)
    for where, document in TABLE_3.items():
        if where not in named:
            continue
        for panel, title in PANELS.items():
            ours = fastest(seconds, where, panel)
            rows.append(
                {
                    "from": named[where],
                    "read": title.partition(". ")[2],
                    "document, s": "; ".join(
                        f"{spelled(way)} {value:.3g}" for way, value in document[panel].items()
                    ),
                    "ours, s": "; ".join(
                        f"{spelled(str(row['way']))} {_seconds(row)}"
                        for row in ours.to_dict("records")
                    ),
                }
            )
    return pd.DataFrame(rows)


def table_choice(seconds: pd.DataFrame) -> pd.DataFrame:
    """Return for each place and read the quickest remedy, the least work, and what tuning gives.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    """
    found = compared(seconds)
    rows = []
    for where, words in labels(found).items():
        for panel, title in PANELS.items():
            part = found[(found["place"] == where) & (found["panel"] == panel)]
            if part.empty:
                continue
            known = part.set_index("way").to_dict("index")
            [best] = part[part["best"]].to_dict("records")
            [chosen] = part[part["chosen"]].to_dict("records")
            rows.append(
                {
                    "from": words,
                    "read": title.partition(". ")[2],
                    "quickest, s": f"{_words(best)}, {_seconds(best)}",
                    f"least work within {NEAR:g} times, s": f"{_words(chosen)}, {_seconds(chosen)}",
                    "64 KiB ahead, s": _seconds(known.get(_TUNED)),
                    "hyperslab.subchunk, s": _seconds(known.get(_INDEX)),
                    "as it is, s": _seconds(known.get(BASE)),
                }
            )
    return pd.DataFrame(rows)


def advice(seconds: pd.DataFrame) -> str:
    """Return what to do for each read: the least work that is near the quickest, by place.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    """
    found = compared(seconds)
    named = labels(found)
    lines = []
    for panel, read in _READS.items():
        part = found[found["panel"] == panel]
        if part.empty:
            continue
        size = part["chunk_bytes"].max()
        of = "" if math.isnan(size) else f" of {size / 1e6:.3g} MB"
        groups: dict[tuple[int, str], list[str]] = {}
        for where in named:
            here = part[part["place"] == where]
            if here.empty:
                continue
            [chosen] = here[here["chosen"]].to_dict("records")
            [best] = here[here["best"]].to_dict("records")
            key = int(chosen["work"]), REMEDIES[chosen["way"]].words
            groups.setdefault(key, []).append(_place(named[where], chosen, best))
        told = "; ".join(f"{words}: {', '.join(at)}" for (_, words), at in sorted(groups.items()))
        lines.append(f"- **{read}{of}.** {told[0].upper()}{told[1:]}.")
    star = (
        " A star: by the model." if any("*" in line[2:].replace("**", "") for line in lines) else ""
    )
    return "\n".join(
        [
            f"The least work for a time within {NEAR:g} times that of the quickest remedy, which "
            f"stands in brackets where it is another.{star}\n",
            *lines,
        ]
    )


def _place(label: str, chosen: Mapping[Hashable, Any], best: Mapping[Hashable, Any]) -> str:
    star = "" if chosen["n"] and best["n"] else "*"
    if chosen["best"]:
        return f"{label}{star}"
    return f"{label}{star} ({chosen['times']:.1f} times {REMEDIES[best['way']].short})"


def _tally(seconds: pd.DataFrame) -> str:
    """Return how often each kind of remedy is the least work that is near the quickest."""
    found = compared(seconds)
    counts = found[found["chosen"]]["work"].value_counts()
    told = [f"{WORK[work]}, {counts[work]}" for work in sorted(counts.index)]
    return (
        f"Four reads from {found['place'].nunique()} places: the remedy that is the least work "
        f"among those that take up to {NEAR:g} times as long as the quickest, and how often it is: "
        f"{'; '.join(told)}."
    )


def _shares(seconds: pd.DataFrame) -> str:
    """Return where a tuned cache gives most of what an index does, by place."""
    found = saved(compared(seconds))
    named = labels(seconds)
    if found.empty:
        return ""
    good = found[found["share"] >= MOST]
    told = []
    for where, part in good.groupby("place", sort=False):
        shares = [
            f"{WORDS[str(row['panel'])]} {100 * row['share']:.0f} %"
            for row in part.to_dict("records")
        ]
        told.append(f"{named[str(where)]}, {', '.join(shares)}")
    return (
        "Of the seconds that an index saves, another cache, which is a line of code, saves "
        f"{100 * MOST:g} % or more in {len(good)} of {len(found)} cases"
        f"{': ' * bool(told)}{'; '.join(told)}."
    )


def _words(row: Mapping[Hashable, Any]) -> str:
    return REMEDIES[row["way"]].words


def _seconds(row: Mapping[Hashable, Any] | None) -> str:
    """Return seconds with their interval; a star where they are by the model."""
    if row is None:
        return "–"
    text = f"{float(format(row['seconds'], '.3g')):,g}"
    if not row["n"]:
        return f"{text}*"
    return f"{text} [{row['low']:.3g}, {row['high']:.3g}]" if row["n"] > 1 else text
