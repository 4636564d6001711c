"""What the counts say of the layouts of run_bm_elena, numbers from the records."""

import pandas as pd

COPY = "copy"


def why(rated: pd.DataFrame) -> str:
    """Return what the counts say of the differences between the six, and of the classic file."""
    counted = rated[rated["step"] == "write"].set_index("case")
    put = counted[counted.index != COPY]
    if put[["wchar", "syscw", "minflt"]].isna().to_numpy().any():
        return "This system counts no calls, so what lies behind the differences stays open here."
    same = put["wchar"].max() / put["wchar"].min() - 1
    wrote = put["wchar"].median()
    said = (
        f"Written, each of the six hands {wrote / 1e6:,.2f} MB to the system"
        f"{', so the difference is not one of bytes' if apart(put) else ''}. "
        f"{_calls(put)} {_faults(put)}"
        if same < 0.01
        else f"Written, the six differ by {100 * same:.0f} % in what they hand to the system. "
        f"{_calls(put)} {_faults(put)}"
    )
    again = rated[(rated["step"] == "read again") & (rated["case"] != COPY)].set_index("case")
    if len(again):
        said += f" Read again, {_faults(again, 'they')}"
    if COPY in counted.index:
        own = counted.loc[COPY]
        said += (
            f" The classic file hands over {own['wchar'] / 1e6:,.2f} MB in "
            f"{own['syscw']:,.0f} calls."
        )
    return said


def apart(rated: pd.DataFrame) -> bool:
    """Return whether the fastest and the slowest are told apart: their intervals do not overlap.

    Examples
    --------
    >>> rated = pd.DataFrame({"rate": [6.45, 6.58], "low": [6.3, 6.4], "high": [6.6, 6.7]})
    >>> apart(rated), apart(rated.assign(low=rated["rate"], high=rated["rate"]))
    (False, True)
    """
    top, bottom = rated["rate"].to_numpy().argmax(), rated["rate"].to_numpy().argmin()
    return bool(rated["low"].iloc[top] > rated["high"].iloc[bottom])


def _order(put: pd.DataFrame, column: str, more: str) -> str:
    """Return whether the order of the rates is that of a count, when there is an order."""
    if not apart(put):
        return "which the rates do not show: their intervals overlap"
    if put[column].rank().corr((1 / put["rate"]).rank()) > 0.7:
        return f"and {more} are the slower ones"
    return "but the order of the rates is not that of the counts"


def _calls(put: pd.DataFrame) -> str:
    calls = put["syscw"]
    fewest, most = calls.min(), calls.max()
    if fewest == most:
        return f"All take {most:,.0f} write calls."
    told = _order(put, "syscw", "the layouts with more calls")
    return f"They take {fewest:,.0f} to {most:,.0f} write calls ({_ends(put, 'syscw')}), {told}."


def _faults(put: pd.DataFrame, who: str = "They") -> str:
    faults = put["minflt"]
    if faults.max() <= 1.2 * faults.min():
        return f"{who} touch as much new memory ({faults.max():,.0f} page faults at most)."
    told = _order(put, "minflt", "those that touch more")
    return (
        f"{who} differ in the memory that they touch for the first time, {faults.min():,.0f} to "
        f"{faults.max():,.0f} page faults ({_ends(put, 'minflt')}), {told}."
    )


def _ends(put: pd.DataFrame, column: str) -> str:
    top, bottom = str(put["rate"].idxmax()), str(put["rate"].idxmin())
    return f"{put[column][top]:,.0f} the fastest, {put[column][bottom]:,.0f} the slowest"
