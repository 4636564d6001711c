"""The document's advice judged again, and what a user of netCDF4-python should change."""

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...text import amount, comparison, listing, number, spread
from .advice import CHANGES, gain, noise, noises, within
from .baseline import ratio
from .quarter import THREADS
from .size_words import by_block, fastest

_MUCH = 1.05
_WAITS = 0.1
"""Waits for each read from which on threads are said to wait for one another."""
_COUNTS = [
    "wall_s", "user_s", "sys_s", "syscr", "rchar", "voluntary_switches", "forced_switches",
]  # fmt: skip
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
            noisy = " (noise)" if within(one["gain"], one["noise"]) else ""
            row[f"gain {words}"] = f"{_interval(one['gain'])}{noisy}"
        rows.append(row)
    return pd.DataFrame(rows)


def caption(found: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the table.

    Parameters
    ----------
    found : pandas.DataFrame
        From `advice.gains`.
    records : pandas.DataFrame
        That they were measured in.
    """
    counts = [gained.n for gained in found["gain"]]
    told = spread(max(counts), min(counts)) if counts else "no interval"
    noisy = (
        " Noise: the gain lies where the same read, made twice in a block, may lie as well (A/A)."
        if any(map(within, found["gain"], found["noise"]))
        else ""
    )
    return (
        "What each change gains, in MB/s before and after, and as the median of paired ratios of "
        f"rates with {told}. Before: netCDF4-python as it comes, unless the change says from what "
        f"on. One of four: one piece of 4 KiB of every 16 KiB is wanted.{noisy} "
        f"Run {records['run_id'].iloc[0]}."
    )


def judged(found: pd.DataFrame, patterns: pd.DataFrame) -> str:
    """Return the document's four pieces of advice with what was measured of each.

    Parameters
    ----------
    found : pandas.DataFrame
        From `advice.gains`.
    patterns : pandas.DataFrame
        Records of the experiment "patterns".
    """
    lines = [
        f"- *Read in buffers of 1 MiB.* {_near(patterns)}",
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
    """Return what reading in threads changes in calls, bytes, CPU time and waits.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "quarter".
    """
    said = [_in_threads(records, state) for state in _STATES]
    return "\n\n".join(text for text in (*said, _start(records)) if text)


def _in_threads(records: pd.DataFrame, state: str) -> str:
    pairs = noises(records)
    rows = _quarters(records, state, "read")
    counted = rows[_COUNTS].div(rows["stages"], axis=0).assign(case=rows["case"])
    middle = {
        str(case): dict(zip(_COUNTS, part[_COUNTS].median().tolist(), strict=True))
        for case, part in counted.groupby("case")
    }
    lines = []
    for library, name in _LIBRARIES.items():
        cases = [f"{library}/pieces", f"{library}/threads"]
        if not set(cases) <= set(middle):
            continue
        one, several = (middle[case] for case in cases)
        gained = ratio(records, state, cases[1], cases[0])
        noisy = gained is not None and within(gained, pairs.get(state))
        lines.append(
            f"- {name}: {number(one['syscr'])} and {number(several['syscr'])} read calls, "
            f"{amount(one['rchar'], 'B')} and {amount(several['rchar'], 'B')}, "
            f"{amount(one['user_s'] + one['sys_s'], 's')} and "
            f"{amount(several['user_s'] + several['sys_s'], 's')} of CPU time, "
            f"{number(one['voluntary_switches'], 2)} and "
            f"{number(several['voluntary_switches'], 2)} waits (voluntary context switches), "
            f"{number(one['forced_switches'], 2)} and {number(several['forced_switches'], 2)} "
            f"forced ones.{'' if noisy else _slower(gained, one, several, state)}"
        )
    if not lines:
        return ""
    head = (
        f"What goes with each read {_STATES[state]}, in one thread and in {THREADS} (they have all "
        "cores of the machine, one thread has one):"
    )
    return "\n".join([head, "", *lines])


def _slower(
    gained: Interval | None, one: dict[str, float], several: dict[str, float], state: str
) -> str:
    """Say what goes with threads that are slower out of memory, if any count does."""
    if state != "warm" or gained is None or gained.high > 1 / _MUCH:
        return ""
    added = {name: several[name] - one[name] for name in _COUNTS}
    waits, more, longer = (
        added["voluntary_switches"], added["user_s"] + added["sys_s"], added["wall_s"],
    )  # fmt: skip
    slower = f" Threads are {_ratio(gained)} here, by {amount(longer, 's')} a read"
    if waits >= _WAITS:
        return (
            f"{slower}. No read waits for a device, so what a thread waits for is another one: "
            "each call gives up the interpreter's lock, or the library's, and has to get it back."
        )
    if more >= longer / 2:
        return (
            f"{slower}, and spend {amount(more, 's')} more of CPU time on it: what a core does, "
            "for a thread that gets a lock, or data, from another core."
        )
    return f"{slower}: unexplained, since neither their waits nor their CPU time are more by that."


def _start(records: pd.DataFrame) -> str:
    found = [(_STATES[state], _quarters(records, state, "start")["wall_s"]) for state in _STATES]
    shown = [f"{amount(float(each.median()), 's')} {words}" for words, each in found if len(each)]
    if not shown:
        return ""
    return f"To start {THREADS} threads takes {listing(shown)}, which is not in these times."


def _quarters(records: pd.DataFrame, state: str, phase: str) -> pd.DataFrame:
    rows = main(records)
    return rows[(rows["phase"] == phase) & (rows["cache_state"] == state)]


def today(found: pd.DataFrame) -> str:
    """Return what to do today: the changes that gain, the largest first, with their code.

    All are compared with netCDF4-python as it comes, which their reader uses today.

    Parameters
    ----------
    found : pandas.DataFrame
        From `advice.gains`.
    """
    rows = []
    for change in CHANGES:
        known = [
            each
            for state in _STATES
            if (each := gain(found, change.name, state)) is not None
            and not within(each, noise(found, change.name, state))
        ]
        sure = [each for each in known if each.low > _MUCH and change.for_users]
        loses = [each for each in known if each.high < 1 / _MUCH]
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
        and change.for_users
        and not any(f"**{change.what}**" in line for line in lines)
    ]
    if left and rows:
        lines.append(f"- Without a sure gain, or with a loss, here: {listing(left, len(left))}.")
    lines.append(
        "- h5py, and netCDF4-python without masking, give what is stored: scale, offset and fill "
        "values are then yours to see to."
    )
    return "## What to do today\n\n" + "\n".join(lines)


def _near(records: pd.DataFrame) -> str:
    said = []
    for state, words in _STATES.items():
        rates = by_block(records, state, "netcdf4-python/sequential")
        if len(rates.columns):
            said.append(f"{words}, of netCDF4-python's sizes, {fastest(rates)}")
    return f"{_capital('; '.join(said))}." if said else "Not measured."


def _said(found: pd.DataFrame, name: str) -> str:
    parts = [
        f"{_ratio(each)} {words}{_noisy(each, noise(found, name, state))}"
        for state, words in _STATES.items()
        if (each := gain(found, name, state)) is not None
    ]
    return " and ".join(parts) or "not measured"


def _noisy(gained: Interval, aa: Interval | None) -> str:
    """Say that a gain is not told from the noise of its experiment, where its interval is."""
    if aa is None or not within(gained, aa) or gained.contains(1):
        return ""
    return f" (not told from noise, A/A of rates [{aa.low:.2f}, {aa.high:.2f}])"


def _ratio(found: Interval) -> str:
    return comparison(found, "faster", "slower")


def _mb(rate: float) -> str:
    return f"{rate / 1e6:,.0f}" if rate >= 1e7 else f"{rate / 1e6:.1f}"


def _interval(found: Interval) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
