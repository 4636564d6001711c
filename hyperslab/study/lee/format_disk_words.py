"""Where cold reads and forced writes spend their time, in sentences from the records."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ...measure.noise import judge
from ...measure.records import main
from ...text import comparison
from .format_cells import KINDS, LABELS
from .format_rates import MB, cpu_ratio, ratio
from .format_table import TABLE_2
from .format_why_words import bracketed, calls, count

_LARGE = "large/2d"


def cold(read: pd.DataFrame, device: pd.DataFrame) -> str:
    """Return where the time of cold reads goes, large and small.

    Parameters
    ----------
    read : pandas.DataFrame
        Records of the experiment "read".
    device : pandas.DataFrame
        Of the experiment "device".
    """
    parts = [_cold(read, device, size) for size in ("large", "small")]
    return "\n\n".join(filter(None, parts))


def _cold(read: pd.DataFrame, device: pd.DataFrame, size: str) -> str:
    rows = main(read)
    rows = rows[(rows["cache_state"] == "cold") & (rows["phase"] == "read")]
    rows = rows.assign(cpu_s=rows["user_s"] + rows["sys_s"])
    rows = rows.assign(wait_s=(rows["wall_s"] - rows["cpu_s"]).clip(lower=0))
    cases = {kind: f"{kind}/{size}/2d" for kind in KINDS}
    spent = _medians(rows, ("cpu_s", "wait_s", "read_bytes", "syscr"), cases)
    against = ratio(read, ("read",), f"{KINDS[1]}/{size}/", f"{KINDS[0]}/{size}/", "cold")
    if against is None or spent.isna().any(axis=None):
        return ""
    asked = _medians(main(device), ("requests", "stages"), cases)
    parts = []
    for kind in KINDS:
        row = _row(spent, kind)
        parts.append(
            f"{LABELS[kind]} fetched {row['read_bytes'] / MB:.2f} MB in {calls(row['syscr'])}, "
            f"spent {1e3 * row['cpu_s']:.2f} ms of CPU time and waited "
            f"{1e3 * row['wait_s']:.2f} ms{_device(_row(asked, kind))}"
        )
    third, fourth, _ = TABLE_2["contiguous", "override", "read", size]
    wait, cpu = ({kind: _row(spent, kind)[name] for kind in KINDS} for name in ("wait_s", "cpu_s"))
    requests, sleeps = (
        {kind: _row(asked, kind)[name] for kind in KINDS} for name in ("requests", "stages")
    )
    return (
        f"**Cold, {size}.** {'; '.join(parts)}. The rate of contiguous netCDF-4 over that of "
        f"netCDF-3 is {bracketed(against)}, {fourth / third:.2f} in the document."
        f"{_noise(read)} {_trade(wait, cpu)} "
        f"{_explained(wait, cpu, requests, sleeps)}"
    )


def _medians(rows: pd.DataFrame, names: Sequence[str], cases: Mapping[str, str]) -> pd.DataFrame:
    found = rows.groupby("case")[list(names)].median()
    return found.reindex(list(cases.values())).set_axis(list(cases), axis=0)


def _row(frame: pd.DataFrame, kind: str) -> dict[str, float]:
    return dict(zip(frame.columns, frame.loc[kind].to_numpy("f8").tolist(), strict=True))


def _device(row: dict[str, float]) -> str:
    """Return what the device did, nothing where it was not counted."""
    if any(value != value for value in row.values()):
        return ""
    slept = {0: "never slept", 1: "slept once", 2: "slept twice"}.get(int(row["stages"]))
    return (
        f" (the device completed {count(row['requests'])} "
        f"request{'' if row['requests'] == 1 else 's'}, and the process "
        f"{slept or 'slept ' + count(row['stages']) + ' times'})"
    )


def _trade(wait: Mapping[str, float], cpu: Mapping[str, float]) -> str:
    """Return how waiting and computing differ between netCDF-3 and contiguous netCDF-4."""
    more, less = wait[KINDS[1]] - wait[KINDS[0]], cpu[KINDS[0]] - cpu[KINDS[1]]
    spent = f"{'saves' if less > 0 else 'takes'} {1e3 * abs(less):.2f} ms of CPU time"
    if abs(less) < 0.1 * cpu[KINDS[0]]:
        spent = "takes as much CPU time"
    return (
        f"Against netCDF-3 contiguous netCDF-4 {spent} and waits {1e3 * abs(more):.2f} ms "
        f"{'longer' if more > 0 else 'less'} for the device."
    )


def _explained(
    wait: Mapping[str, float],
    cpu: Mapping[str, float],
    requests: Mapping[str, float],
    sleeps: Mapping[str, float],
) -> str:
    """Return what the device's counts say about who waits longest, if they say anything."""
    third, whole, chunk = KINDS
    few = requests[whole] < min(requests[third], requests[chunk])
    long = wait[whole] > 1.2 * max(wait[third], wait[chunk])
    if few and long:
        return (
            "The order of the waits is that of the requests: the one call of contiguous storage "
            "asks for everything at once, in the fewest requests, and sleeps until they are there. "
            "The others begin with a small piece (8 KiB of the buffer; the few bytes of metadata "
            "that say where the chunk lies), and the kernel reads ahead of it in more and smaller "
            "requests, which arrive while the process works."
        )
    others = [kind for kind in KINDS if kind != whole]
    often = all(sleeps[whole] > sleeps[kind] and cpu[whole] < cpu[kind] for kind in others)
    if often and long:
        return (
            "The longest wait has the most sleeps and the least CPU time: reading ahead brings "
            "the pieces at the device's pace, and who does less with one comes to the next before "
            "it is there."
        )
    return "No count here explains who waits longer: it stays unexplained."


def _noise(read: pd.DataFrame) -> str:
    found = [noise for noise in judge(read) if noise.cache_state == "cold"]
    return "".join(f" (NetCDF-3 against itself: {bracketed(noise.ratio)}.)" for noise in found)


def dd(written: pd.DataFrame, read: pd.DataFrame) -> str:
    """Return how the C kernel compares with dd.

    Parameters
    ----------
    written, read : pandas.DataFrame
        From `beside_dd`.
    """
    parts = []
    for frame, state, name in (
        (written, "", "written to the disk"),
        (read, "warm", "read warm"),
        (read, "cold", "read cold"),
    ):
        row = frame[(frame["kind"] == "netcdf4-contiguous") & (frame["cache_state"] == state)]
        if len(row) and row.iloc[0]["ratio"] is not None:
            parts.append(f"{bracketed(row.iloc[0]['ratio'])} {name}")
    if not parts:
        return "There is no `dd` here to compare with."
    taken = read[(read["kind"] == "dd") & (read["cache_state"] == "warm")]
    size = "" if taken.empty else f" (it reads {taken.iloc[0]['rate']:,.0f} MB/s from there)"
    plain = [
        f"{bracketed(row['over_plain'])} {_moved(row['cache_state'])}"
        for frame in (written, read)
        for row in frame[frame["kind"] == "netcdf4-contiguous"].to_dict("records")
        if row["over_plain"] is not None
    ]
    return (
        "Is the measuring program itself slow? As many bytes, in the same blocks, moved by `dd` in "
        "pieces of 1 MiB: the rate of contiguous netCDF-4 from C over that of `dd` is "
        f"{', '.join(parts)}. The two differ in what they do besides: `dd` uses the same 1 MiB of "
        "memory again and again where the array is read into all of its own, and in writing `dd` "
        f"also reads its input out of the page cache{size}. One `pwrite` or `pread` of the whole "
        f"array from C does neither; against that contiguous netCDF-4 is at {', '.join(plain)}."
    )


def plain_write(disk: pd.DataFrame) -> str:
    """Return what a plain write of the same bytes costs beside contiguous netCDF-4, by counts.

    Parameters
    ----------
    disk : pandas.DataFrame
        Records of the experiment "write-disk".
    """
    rows = main(disk)
    rows = rows[(rows["phase"] == "write") & rows["syscw"].notna()]
    rows = rows.assign(cpu_s=rows["user_s"] + rows["sys_s"])
    names = {"plain": "one `pwrite` from C", KINDS[1]: "contiguous netCDF-4"}
    parts, cpu = [], {}
    for kind, name in names.items():
        part = rows[rows["case"] == f"{kind}/{_LARGE}"]
        if part.empty:
            return ""
        row = part[["wchar", "syscw", "minflt"]].median()
        cpu[kind] = 1e3 * part["cpu_s"]
        parts.append(
            f"{name} took {cpu[kind].median():.1f} ms of CPU time ({cpu[kind].min():.1f} to "
            f"{cpu[kind].max():.1f}) for {row['wchar'] / MB:.1f} MB in {calls(row['syscw'])} with "
            f"{count(row['minflt'])} page faults"
        )
    found = cpu_ratio(disk, "write", *(f"{kind}/{_LARGE}" for kind in names))
    if found is None:
        return ""
    spread = max(max(x) / min(x) for x in cpu.values() if min(x) > 0)
    said = f"The write itself, without the sync: {'; '.join(parts)}. The first over the second: "
    if found.low < found.high and not found.contains(1):
        said += f"{bracketed(found)}. Calls and bytes are alike: the difference is unexplained."
    else:
        said += f"{comparison(found, 'dearer', 'cheaper')}, so the library adds nothing that shows."
    if spread > 1.5:
        said += (
            f" Single writes took {spread:.1f} times the CPU time of the quickest of their kind, "
            "for the same bytes, calls and page faults: that is unexplained."
        )
    return said


def _moved(state: str) -> str:
    return f"read {state}" if state else "written to the disk"
