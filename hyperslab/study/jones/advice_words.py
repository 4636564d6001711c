"""The document's advice judged again, and what a user of netCDF4-python should change."""

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ..claims.words import amount, comparison, listing, number
from .advice import CHANGES, gain
from .quarter import THREADS
from .size_words import fastest

_MUCH = 1.05
_LIBRARIES = {"netcdf4-python": "netCDF4-python", "h5py": "h5py", "pread": "os.pread"}
_STATES = {"cold": "from the device", "warm": "from memory"}


def table(found: pd.DataFrame) -> pd.DataFrame:
    """Return each change and its gain, as text.

    Parameters
    ----------
    found : pandas.DataFrame
        From `advice.gains`.
    """
    rows = []
    for change in CHANGES:
        part = found[found["name"] == change.name]
        if part.empty:
            continue
        row = {"change": change.what}
        for state, words in _STATES.items():
            mine = part[part["state"] == state]
            if mine.empty:
                row[words] = row[f"gain {words}"] = "–"
                continue
            one = mine.iloc[0]
            row[words] = f"{_mb(one['before'])} to {_mb(one['after'])}"
            row[f"gain {words}"] = _interval(one["gain"])
        rows.append(row)
    return pd.DataFrame(rows)


def caption(records: pd.DataFrame) -> str:
    """Return the caption of the table."""
    return (
        "What each change gains, in MB/s before and after, and as the median of paired ratios of "
        "rates with its 95 % interval. Before: netCDF4-python as it comes, unless the change names "
        "another reader. One of four: one piece of 4 KiB of every 16 KiB is wanted. "
        f"Run {records['run_id'].iloc[0]}."
    )


def judged(found: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return the document's four pieces of advice with what was measured of each.

    Parameters
    ----------
    found : pandas.DataFrame
        From `advice.gains`.
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    lines = [
        f"- *Read in buffers of 1 MiB.* {_near(table)}",
        f"- *Avoid reads of less than 64 KiB.* Reads of 64 KiB in place of 4 KiB are "
        f"{_said(found, 'larger-64k')}.",
        f"- *Keep reads contiguous.* Where one piece of 4 KiB in four is wanted, reading 1 MiB on "
        f"and picking is {_said(found, 'contiguous')} in netCDF4-python, "
        f"{_said(found, 'contiguous-h5py')} in h5py.",
        "- *Split strided reads into parallel threads.* Four threads are "
        f"{_said(found, 'threads-netcdf4')} in netCDF4-python, which needs a lock around each "
        f"call; {_said(found, 'threads-h5py')} in h5py, which has one inside; "
        f"{_said(found, 'threads-pread')} where each thread calls the system itself.",
    ]
    return "\n".join(lines)


def threads(records: pd.DataFrame) -> str:
    """Return what reading in threads changes in calls, bytes and time of the system.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "quarter".
    """
    rows = main(records)
    rows = rows[(rows["phase"] == "read") & (rows["cache_state"] == "cold")]
    counts = ["syscr", "rchar", "sys_s"]
    middle = {str(case): part[counts].median().tolist() for case, part in rows.groupby("case")}
    lines = []
    for library, name in _LIBRARIES.items():
        pieces, several = middle.get(f"{library}/pieces"), middle.get(f"{library}/threads")
        if not pieces or not several:
            continue
        calls, moved, system = zip(pieces, several, strict=True)
        lines.append(
            f"- {name}: {number(calls[0])} read calls in one thread and {number(calls[1])} in "
            f"{THREADS}, {amount(moved[0], 'B')} and {amount(moved[1], 'B')}, "
            f"{amount(system[0], 's')} and {amount(system[1], 's')} of CPU time of the system."
        )
    if not lines:
        return ""
    return "\n".join(
        [
            "What goes with the threads, cold (they have all cores of the machine, one thread "
            "has one):",
            "",
            *lines,
        ]
    )


def today(found: pd.DataFrame) -> str:
    """Return what to do today: the changes that gain, the largest first, with their code.

    Parameters
    ----------
    found : pandas.DataFrame
        From `advice.gains`.
    """
    rows = []
    for change in CHANGES:
        known = {state: gain(found, change.name, state) for state in _STATES}
        sure = [each for each in known.values() if each is not None and each.low > _MUCH]
        loses = [each for each in known.values() if each is not None and each.high < 1 / _MUCH]
        if sure and not loses:
            best = max(each.value for each in sure)
            said = _said(found, change.name)
            rows.append((best, f"- **{change.what}**: {said}. `{change.code}`"))
    rows.sort(key=lambda row: -row[0])
    lines = [line for _, line in rows] or ["Nothing that we tried makes a sure difference here."]
    left = [
        change.what
        for change in CHANGES
        if change.name in set(found["name"])
        and not any(f"**{change.what}**" in line for line in lines)
    ]
    if left and rows:
        lines.append(f"- Without a sure gain, or with a loss, here: {listing(left, len(left))}.")
    lines.append(
        "- h5py, and netCDF4-python without masking, give what is stored: scale, offset and fill "
        "values are then yours to see to."
    )
    return "## What to do today\n\n" + "\n".join(lines)


def _near(table: pd.DataFrame) -> str:
    said = []
    for state, words in _STATES.items():
        part = table[(table["state"] == state) & (table["pattern"] == "sequential")]
        part = part[part["reader"] == "netcdf4-python"].sort_values("nbytes")
        if part.empty:
            continue
        said.append(f"{words}, of netCDF4-python's sizes, {fastest(part, 'size', 'median')}")
    return f"{_capital('; '.join(said))}." if said else "Not measured."


def _said(found: pd.DataFrame, name: str) -> str:
    parts = [
        f"{_ratio(each)} {words}"
        for state, words in _STATES.items()
        if (each := gain(found, name, state)) is not None
    ]
    return " and ".join(parts) or "not measured"


def _ratio(found: Interval) -> str:
    return comparison(found, "faster", "slower")


def _mb(rate: float) -> str:
    return f"{rate / 1e6:,.0f}" if rate >= 1e7 else f"{rate / 1e6:.1f}"


def _interval(found: Interval) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
