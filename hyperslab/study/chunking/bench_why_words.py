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
        f"Written, each of the six hands {wrote / 1e6:,.2f} MB to the system, so the difference is "
        f"not one of bytes. {_calls(put)} {_faults(put)}"
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


def _calls(put: pd.DataFrame) -> str:
    calls = put["syscw"]
    fewest, most = calls.min(), calls.max()
    if fewest == most:
        return f"All take {most:,.0f} write calls."
    told = (
        "and the layouts with more calls are the slower ones"
        if calls.rank().corr((1 / put["rate"]).rank()) > 0.7
        else "but the order of the rates is not that of the calls"
    )
    return f"They take {fewest:,.0f} to {most:,.0f} write calls ({_ends(put, 'syscw')}), {told}."


def _faults(put: pd.DataFrame, who: str = "They") -> str:
    faults = put["minflt"]
    if faults.max() <= 1.2 * faults.min():
        return f"{who} touch as much new memory ({faults.max():,.0f} page faults at most)."
    told = (
        "and those that touch more are the slower ones"
        if faults.rank().corr((1 / put["rate"]).rank()) > 0.7
        else "but the order of the rates is not that of the faults"
    )
    return (
        f"{who} differ in the memory that they touch for the first time, {faults.min():,.0f} to "
        f"{faults.max():,.0f} page faults ({_ends(put, 'minflt')}), {told}."
    )


def _ends(put: pd.DataFrame, column: str) -> str:
    top, bottom = str(put["rate"].idxmax()), str(put["rate"].idxmin())
    return f"{put[column][top]:,.0f} the fastest, {put[column][bottom]:,.0f} the slowest"
