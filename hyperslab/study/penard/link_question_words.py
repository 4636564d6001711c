"""Which link the document's seconds fit, as a question to its authors."""

import math

import pandas as pd

from ...text import number
from .link_model import TABLE_3
from .link_words import WORDS, seconds_of
from .wire_figures import labels

_START = (
    "TCP's slow start, which our links leave out, and a delay that traffic control may add there "
    "and back are arithmetic here, not measured."
)


def bytes_of(timed: pd.DataFrame, *, whole: bool) -> str:
    """Return the rates that the document's seconds imply for the bytes that its reads move here.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    whole : bool
        Whether the files have as many chunks as the document's.
    """
    found = timed[timed["link"] == "delay"]
    sizes = dict(zip(found["case"], found["wire_bytes"], strict=True))
    least = "" if whole else "at least "
    lines = []
    for panel, theirs in TABLE_3.items():
        for way in ("h5py-off", "h5py-on"):
            moved = {
                "without any read-ahead": sizes.get(f"{panel}-today/{way}-nocache"),
                "with fsspec's cache as it comes today": sizes.get(f"{panel}/{way}"),
            }
            told = [
                f"{size / 1e6:.3g} MB {how}, {_rate(size / theirs[way])}"
                for how, size in moved.items()
                if size is not None and way in theirs
            ]
            if told:
                lines.append(
                    f"- {WORDS[panel]}, h5py, shuffle {way.rpartition('-')[2]}, {theirs[way]:.4g} "
                    f"s: {least}{'; '.join(told)}"
                )
    return (
        "The document states 100 kB/s and 100 ms, made by the traffic control of its machine. "
        "From the bytes that the same read moves of our stand-in for its file, and the seconds it "
        "reports:\n\n" + "\n".join(lines)
    )


def compared(expected: dict[str, pd.DataFrame], *, whole: bool) -> pd.DataFrame:
    """Return the document's seconds beside those of other links, by the model.

    Parameters
    ----------
    expected : dict
        From the words for a link to `link_candidates.Candidate.seconds`.
    whole : bool
        Whether the files have as many chunks as the document's; if not, nothing compares.
    """
    if not whole:
        return pd.DataFrame()
    seconds = {words: seconds_of(found) for words, found in expected.items()}
    rows = []
    for panel, theirs in TABLE_3.items():
        for way, stated_s in theirs.items():
            row = {"read": WORDS[panel], "reader": _label(way), "document, s": f"{stated_s:.4g}"}
            for words, found in seconds.items():
                ours = found.get(f"{panel}/{way}", math.nan)
                row[f"{words}, s"] = "–" if math.isnan(ours) else f"{float(f'{ours:.3g}'):,g}"
            rows.append(row)
    return pd.DataFrame(rows)


def nearest(expected: dict[str, pd.DataFrame], *, whole: bool) -> str:
    """Return how near each link comes to the document's seconds, and the question.

    Parameters
    ----------
    expected, whole
        As of `compared`.
    """
    asked = (
        "A read that moves more than 100 kB in each of its seconds did not go over such a link. "
        "Perhaps the limit of rate was not in force, or stood for another unit? We would be glad "
        "to be told."
    )
    if not whole:
        return asked
    off = {}
    for words, found in expected.items():
        ours = seconds_of(found)
        ratios = [
            math.exp(abs(math.log(ours[f"{panel}/{way}"] / theirs)))
            for panel, cells in TABLE_3.items()
            for way, theirs in cells.items()
            if f"{panel}/{way}" in ours
        ]
        if ratios:
            off[words] = float(pd.Series(ratios).median()), max(ratios)
    if not off:
        return asked
    best = min(off, key=lambda words: off[words][1])
    told = "; ".join(
        f"{words}: {number(middle, 2)} ({number(most, 2)})" for words, (middle, most) in off.items()
    )
    return (
        "By what factor each link's times are off from the document's, as a median over its Table "
        f"3, in brackets the worst: {told}. None is fitted. The worst is least with {best}. "
        f"{_START} "
        f"{asked}"
    )


def _label(way: str) -> str:
    known = labels()
    name = known[way][0] if way in known else way
    return f"{name}, shuffle {way.rpartition('-')[2]}" if way.endswith(("-on", "-off")) else name


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.3g} MB/s" if rate >= 1e6 else f"{rate / 1e3:.3g} kB/s"
