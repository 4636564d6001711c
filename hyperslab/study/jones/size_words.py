"""Which size of buffer, or of chunk, is the fastest, in words."""

import re
from collections.abc import Sequence

import pandas as pd

from ...measure.records import main
from ...measure.stats import paired_ratio
from ...text import ENOUGH, amount, comparison, listing
from .plan import size_bytes, spaced

_NAMED = 5
_PAIR = 2


def by_block(records: pd.DataFrame, state: str, head: str) -> pd.DataFrame:
    """Return the rates of the sizes of one kind of read, block by block.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    state : str
        Of the cache.
    head : str
        What comes before the size in the names of the cases, such as h5py/sequential.

    Returns
    -------
    pandas.DataFrame
        Bytes a second: a row a block, a column a size, from the smallest.
    """
    rows = main(records)
    rows = rows[(rows["phase"] == "read") & (rows["cache_state"] == state)]
    rows = rows[rows["case"].str.fullmatch(f"{re.escape(head)}/[^/]+")]
    sizes = rows["case"].str.removeprefix(f"{head}/")
    found = rows.assign(size=sizes, rate=rows["useful_bytes"] / rows["wall_s"]).pivot_table(
        index="block", columns="size", values="rate"
    )
    return found[sorted(found.columns, key=lambda size: size_bytes(str(size)))]


def fastest(rates: pd.DataFrame) -> str:
    """Return which size is read fastest, and which others are not told apart from it.

    Two sizes are told apart by the ratio of their rates in the same blocks: what slows a whole
    block down slows both, and hides nothing of what lies between them.

    Parameters
    ----------
    rates : pandas.DataFrame
        From `by_block`.

    Examples
    --------
    >>> blocks = [1.0, 1.3, 0.9, 1.2, 1.0, 1.1]
    >>> same = [9e6 * x / y for x, y in zip(blocks, [0.9, 1.3, 1.0, 1.2, 1.1, 1.2])]
    >>> rates = {"4KiB": [8e6 * x for x in blocks], "64KiB": same}
    >>> fastest(pd.DataFrame(rates | {"1MiB": [9e6 * x for x in blocks]}))
    '1 MiB is fastest (9.45 MB/s), and 64 KiB is not told apart from it; 4 KiB is 11 % slower'
    >>> fastest(pd.DataFrame(rates)[:2])
    '64 KiB is fastest (9.5 MB/s), and 4 KiB is not told apart from it (an interval needs 6 blocks)'
    """
    top = str(rates.median().idxmax())
    ratios = {
        str(size): paired_ratio(both[size], both[top])
        for size in rates.columns
        if size != top and len(both := rates[[size, top]].dropna())
    }
    few = any(each.n < ENOUGH for each in ratios.values())
    slower = {size: each for size, each in ratios.items() if each.high < 1 and each.n >= ENOUGH}
    rivals = [spaced(size) for size in ratios if size not in slower]
    if len(rivals) > _NAMED:
        beside = f"{len(rivals)} of the other {len(ratios)} are not told apart from it"
    elif rivals:
        beside = f"{listing(rivals, _NAMED)} {_is(rivals)} not told apart from it"
    else:
        beside = "no other size comes near"
    if few and rivals:
        beside += f" (an interval needs {ENOUGH} blocks)"
    if slower and len(slower) <= _NAMED:
        behind = [
            f"{spaced(size)} is {comparison(each, 'faster', 'slower')}"
            for size, each in slower.items()
        ]
        beside += f"; {listing(behind, _NAMED)}"
    return f"{spaced(top)} is fastest ({amount(float(rates[top].median()), 'B/s')}), and {beside}"


def ranges(names: Sequence[str], every: Sequence[str]) -> str:
    """Return sizes in words, those that follow one another as a range.

    Parameters
    ----------
    names : sequence of str
        From the smallest.
    every : sequence of str
        All sizes that were measured, from the smallest.

    Examples
    --------
    >>> sizes = ["512B", "1KiB", "2KiB", "4KiB", "8KiB", "1MiB"]
    >>> ranges(["512B", "1KiB", "2KiB", "8KiB"], sizes), ranges(["1KiB", "2KiB"], sizes)
    ('512 B to 2 KiB and 8 KiB', '1 KiB and 2 KiB')
    """
    runs: list[list[str]] = []
    for name in names:
        follows = runs and list(every).index(name) == list(every).index(runs[-1][-1]) + 1
        if follows:
            runs[-1].append(name)
        else:
            runs.append([name])
    parts = []
    for run in runs:
        shown = [spaced(name) for name in run]
        parts += [f"{shown[0]} to {shown[-1]}"] if len(run) > _PAIR else shown
    return listing(parts, len(parts))


def _is(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"
