"""The same file read by C and by dd, in words."""

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, paired_ratio
from ...text import amount, number, percent
from .dd import WHOLE
from .plan import spaced
from .reads import LONGEST_S
from .slow_words import MOST, system_share


def whole(records: pd.DataFrame) -> str:
    """Return the rates of our loop in C and of dd on the same file, as a ratio.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "dd".
    """
    found = whole_ratio(records)
    if found is None:
        return "dd could not be run here, so nothing beside our own loops has read the file."
    rows = main(records)
    size, read = rows["file_bytes"].max(), rows.loc[rows["phase"] == "read", "useful_bytes"]
    much = "whole" if read.min() >= size else f"for {amount(LONGEST_S, 's')} each"
    if found.low >= 0.9 and found.high <= 1.1:
        verdict = "So our stopwatch adds nothing that would matter."
    elif found.high < 0.9 or found.low > 1.1:
        verdict = "They differ by more than 10 %, and nothing that is counted here explains it."
    else:
        verdict = f"This run is too noisy, or too short, to tell them apart by 10 %.{_system(rows)}"
    return (
        f"**Beside dd.** The same file of {amount(size, 'B')}, cold, {much}, in buffers of "
        f"{spaced(WHOLE)} and in the same blocks: our loop in C reads it at {number(found.value)} "
        f"[{found.low:.2f}, {found.high:.2f}] of the rate of `dd bs=1M`, which times itself. "
        f"{verdict}"
    )


def _system(rows: pd.DataFrame) -> str:
    """Say what the slowest of our samples spent its time on."""
    ours = rows[(rows["phase"] == "read") & (rows["library"] == "C")].sort_values("wall_s")
    if len(ours) < 2 or ours["sys_s"].isna().any():
        return ""
    quick, late = ours.iloc[0], ours.iloc[-1]
    more = float(late["wall_s"] - quick["wall_s"])
    if more < 0.2 * float(quick["wall_s"]):
        return ""
    share = system_share(more, float(late["sys_s"] - quick["sys_s"]))
    memory = ", as of memory that has to be given anew" if share > MOST else ""
    return (
        f" Our slowest sample took {amount(more, 's')} longer than the quickest; {percent(share)} "
        f"of that is CPU time of the system{memory}."
    )


def whole_ratio(records: pd.DataFrame) -> Interval | None:
    """Return the rate of our loop over that of dd; None where either is missing."""
    rows = main(records)
    rows = rows[rows["phase"] == "read"]
    table = rows.assign(rate=rows["useful_bytes"] / rows["wall_s"]).pivot_table(
        index="block", columns="library", values="rate"
    )
    if not {"C", "dd"} <= set(table.columns):
        return None
    both = table.dropna()
    return paired_ratio(both["C"].to_numpy(), both["dd"].to_numpy()) if len(both) else None
