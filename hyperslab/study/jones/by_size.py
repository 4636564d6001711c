"""Two kinds of read compared in each size of buffer: what a mean over sizes can hide."""

import pandas as pd

from ...text import ENOUGH, listing, number
from .baseline import pick, ratio
from .plan import size_bytes, size_name, spaced
from .size_words import ranges
from .spots import PATTERNS, RANDOM_READS

_MUCH = 1.05
"""A difference from here on counts, as in the claims."""
_SIDES = ("above", "below", "same", "open", "few")
_SEVERAL = 2


def ratios(records: pd.DataFrame, state: str, of: str, to: str) -> pd.DataFrame:
    """Return the ratio of two rates in each size of buffer, paired by block.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "patterns".
    state : str
        Of the cache.
    of, to : str
        Reader and pattern, such as c-fread/random.

    Returns
    -------
    pandas.DataFrame
        size, nbytes, value, low, high, n (blocks); from the smallest, without what was not
        measured.
    """
    rows = []
    names = {str(case).rpartition("/")[2] for case in records["case"].unique()}
    for nbytes in sorted(map(size_bytes, names)):
        size = size_name(nbytes)
        found = ratio(records, state, f"{of}/{size}", f"{to}/{size}")
        if found is not None:
            row = {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
            rows.append({"size": size, "nbytes": nbytes, **row})
    return pd.DataFrame(rows, columns=["size", "nbytes", "value", "low", "high", "n"])


def sides(found: pd.DataFrame) -> dict[str, list[str]]:
    """Return the sizes by what is known of them: above, below, same, open, or few.

    Parameters
    ----------
    found : pandas.DataFrame
        From `ratios`. Few are the blocks of a size that an interval needs more of.

    Examples
    --------
    >>> rows = {"size": ["512B", "4KiB", "1MiB"], "n": 7, "low": [2, 0.97, 0.8]}
    >>> sides(pd.DataFrame(rows | {"high": [3, 1.04, 1.3]}))
    {'above': ['512B'], 'same': ['4KiB'], 'open': ['1MiB']}
    """
    known: dict[str, list[str]] = {}
    for row in found.itertuples():
        low, high = float(str(row.low)), float(str(row.high))
        if int(str(row.n)) < ENOUGH:
            side = "few"
        elif low > _MUCH or high < 1 / _MUCH:
            side = "above" if low > _MUCH else "below"
        else:
            side = "same" if low >= 1 / _MUCH and high <= _MUCH else "open"
        known.setdefault(side, []).append(str(row.size))
    return {side: known[side] for side in _SIDES if side in known}


def told(found: pd.DataFrame, above: str, below: str) -> str:
    """Return in which sizes one is faster, slower or the same, in words; "" of none.

    Examples
    --------
    >>> rows = {"size": ["512B", "4KiB", "1MiB"], "n": 7, "low": [2, 0.97, 0.8]}
    >>> told(pd.DataFrame(rows | {"high": [3, 1.04, 1.3]}), "faster", "slower")
    'faster in buffers of 512 B; the same within 5 % in 4 KiB; not told apart in 1 MiB'
    """
    words = {"above": above, "below": below, "same": "the same within 5 %"}
    words |= {"open": "not told apart", "few": "not told apart, with so few blocks,"}
    every = [str(size) for size in found["size"]]
    parts = [(words[side], ranges(names, every)) for side, names in sides(found).items()]
    return "; ".join(
        f"{word} in {sizes if place else f'buffers of {sizes}'}"
        for place, (word, sizes) in enumerate(parts)
    )


def orders(records: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return how the patterns stand to one another in each size, with what each read asks for.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "patterns".
    table : pandas.DataFrame
        From `baseline.rates`, of it.
    """
    rows: dict[str, dict[str, str]] = {}
    for reader, name in (("c-fread", "C"), ("python-read", "Python")):
        for of, to in (PATTERNS[:2], PATTERNS[1:]):
            for row in ratios(records, "cold", f"{reader}/{of}", f"{reader}/{to}").itertuples():
                shown = f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]"
                rows.setdefault(str(row.size), {})[f"{name}: {of} over {to}"] = shown
    counts = {"reads": "reads", "calls": "calls a read", "fetched": "from the device, B/B"}
    for size, cells in rows.items():
        for reader, name in (("c-fread", "C"), ("python-read", "Python")):
            found = [pick(table, "cold", reader, pattern, size) for pattern in PATTERNS]
            for column, head in counts.items():
                if column != "reads" or name == "C":
                    each = ["–" if row is None else number(row[column], 2) for row in found]
                    key = head if column == "reads" else f"{name}: {head}"
                    cells[key] = " / ".join(each)
    heads = list(dict.fromkeys(head for cells in rows.values() for head in cells))
    return pd.DataFrame(
        [
            {"buffer": spaced(size), **{head: cells.get(head, "–") for head in heads}}
            for size, cells in sorted(rows.items(), key=lambda item: size_bytes(item[0]))
        ]
    )


def order(records: pd.DataFrame) -> str:
    """Return in which sizes each pattern is faster than the next, from C and from Python."""
    lines = []
    for reader, name in (("c-fread", "C (`fread`)"), ("python-read", "Python")):
        parts = []
        for of, to in (PATTERNS[:2], PATTERNS[1:]):
            found = ratios(records, "cold", f"{reader}/{of}", f"{reader}/{to}")
            words = told(found, f"faster than {to} ones", f"slower than {to} ones")
            if words:
                parts.append(f"{of} reads are {words}")
        if parts:
            lines.append(f"- From {name} {'; and '.join(parts)}.")
    if not lines:
        return ""
    return "\n".join(["**By size, cold.**", "", *lines])


def netcdf_c(records: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return netCDF-C beside plain C in each size, with the document's mean and deviation.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "patterns".
    table : pandas.DataFrame
        From `baseline.rates`, of it.
    """
    rows = []
    for row in ratios(records, "cold", "netcdf-c/sequential", "c-fread/sequential").itertuples():
        size = str(row.size)
        shown = {"buffer": spaced(size)}
        for reader, name in (("c-fread", "plain C"), ("netcdf-c", "netCDF-C")):
            mine = pick(table, "cold", reader, "sequential", size)
            if mine is not None:
                sd = f" ± {mine['sd'] / 1e6:,.0f}" if mine["n"] > 1 else ""
                shown[f"{name}, MB/s"] = f"{mine['mean'] / 1e6:,.0f}{sd}"
                shown[f"{name}: calls a read"] = number(mine["calls"], 2)
        shown["netCDF-C over plain C"] = f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]"
        rows.append(shown)
    return pd.DataFrame(rows)


def netcdf_c_told(records: pd.DataFrame) -> str:
    """Return in which sizes netCDF-C is as fast as plain C."""
    found = ratios(records, "cold", "netcdf-c/sequential", "c-fread/sequential")
    words = told(found, "faster than plain C", "slower than plain C")
    return f"**By size.** Cold, in file order, netCDF-C is {words}." if words else ""


def few(table: pd.DataFrame, reader: str) -> str:
    """Return in which sizes a cold sample has fewer random reads than the document's, or one alone.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`.
    reader : str
        Whose reads are told; the others have as many, or fewer within their time.
    """
    part = table[(table["state"] == "cold") & (table["reader"] == reader)].sort_values("nbytes")
    drawn = part[(part["pattern"] == "random") & (part["reads"] < RANDOM_READS)]
    text = ""
    if len(drawn):
        every = list(part[part["pattern"] == "random"]["size"])
        shown = ranges(list(drawn["size"]), every)
        counts = [number(float(count)) for count in (drawn["reads"].max(), drawn["reads"].min())]
        text = (
            f" Random reads are {RANDOM_READS} where the file has room for them, each in a part of "
            "its own of twice the buffer, and the time of a sample allows. They are fewer in "
            f"buffers of {shown}: {' to '.join(dict.fromkeys(counts))}."
        )
    alone = {
        pattern: _from_where(mine)
        for pattern in PATTERNS
        if len(mine := part[part["pattern"] == pattern])
    }
    ones = [f"{pattern} from {size}" for pattern, size in alone.items() if size]
    if ones:
        text += f" A sample has one read alone, and so no pattern, {listing(ones)} on."
    return text


def _from_where(part: pd.DataFrame) -> str:
    """Return the size from which on, to the largest, a sample has one read alone."""
    several = part[part["reads"] >= _SEVERAL]["nbytes"].max()
    alone = part[~(part["nbytes"] <= several)]
    return spaced(str(alone["size"].iloc[0])) if len(alone) else ""
