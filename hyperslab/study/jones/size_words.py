"""Which size of buffer, or of chunk, is the fastest, in words."""

import pandas as pd

from ..claims.words import amount, listing

_NAMED = 5


def fastest(part: pd.DataFrame, name: str, rate: str) -> str:
    """Return which size is read fastest, and which others are not told apart from it.

    Parameters
    ----------
    part : pandas.DataFrame
        A row a size, from the smallest: its name, its rate, low and high (bytes a second).
    name, rate : str
        The columns of name and rate.

    Examples
    --------
    >>> rows = {"size": ["4KiB", "1MiB", "8MiB"], "median": [1e6, 9e6, 8e6]}
    >>> rows |= {"low": [1e6, 8e6, 7.5e6], "high": [1e6, 9e6, 9e6]}
    >>> fastest(pd.DataFrame(rows), "size", "median")
    '1MiB is fastest (9 MB/s), and 8MiB is not told apart from it'
    >>> fastest(pd.DataFrame(rows)[:2], "size", "median")
    '1MiB is fastest (9 MB/s), and no other size comes near'
    """
    top = part.sort_values(rate).iloc[-1]
    rivals = [str(size) for size in part.loc[part["high"] >= top["low"], name]]
    rivals.remove(str(top[name]))
    if len(rivals) > _NAMED:
        beside = f"{len(rivals)} of the other {len(part) - 1} are not told apart from it"
    elif rivals:
        verb = "are" if len(rivals) > 1 else "is"
        beside = f"{listing(rivals, len(rivals))} {verb} not told apart from it"
    else:
        beside = "no other size comes near"
    return f"{top[name]} is fastest ({amount(float(top[rate]), 'B/s')}), and {beside}"
