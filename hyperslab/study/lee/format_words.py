"""The sentences of the page on formats, with their numbers from the records."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import pandas as pd

from ...measure.noise import judge
from ...measure.stats import Interval
from ...text import comparison, listing, percent
from .format_cells import LABELS
from .format_figures import CACHING, FIGURES, spelled
from .format_rates import BESIDE, MB
from .format_table import CACHE_GAIN, EARLY_GAIN, SPREAD, TABLE_2, WINNER, Setting

FIRST = tuple(key for key in TABLE_2 if key[0] == "contiguous")


def summary(found: Sequence[Setting], counted: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    found : sequence of Setting
        From `table_2`.
    counted : pandas.DataFrame
        From `counts`.
    """
    said = Counter(
        "open" if s.best == "open" else "same" if s.best == s.documents_best else "other"
        for s in found
    )
    parts = [
        "**What we found.** On this machine "
        f"{said['same']} of {len(found)} settings of Table 2 have the winner that the document "
        f"names (or none, where it names none), {said['other']} have another, and of "
        f"{said['open']} the interval leaves it open."
    ]
    known = {s.key: s for s in found}
    for storage, name in (("contiguous", "stored contiguously"), ("chunked", "in one chunk")):
        write, read = (known.get((storage, "default", op, "large")) for op in ("write", "read"))
        if write and read:
            parts.append(
                f"Large arrays {name} in netCDF-4, against netCDF-3: {_against(write)} to write "
                f"into the page cache, and {_against(read)} to read out of it."
            )
    third, fourth = _step(counted, "netcdf3", "put"), _step(counted, "netcdf4-contiguous", "put")
    chunk = _step(counted, "netcdf4-chunked", "put")
    if third["wchar"] == third["wchar"]:
        parts.append(
            f"The counts say why: for the same {fourth['wchar'] / MB:.1f} MB netCDF-3 made "
            f"{third['syscw']:,.0f} write calls and {third['syscr']:,.0f} read calls, contiguous "
            f"netCDF-4 {_times(fourth['syscw'], 'write call')} and "
            f"{_times(fourth['syscr'], 'read call')}; with one chunk the put wrote "
            f"{chunk['wchar'] / MB:.1f} MB and touched {chunk['minflt']:,.0f} new pages of memory."
        )
    return " ".join(parts)


def taken(records: pd.DataFrame) -> str:
    """Return what was scaled down, empty when nothing was."""
    arrays = records[records["case"].str.startswith("netcdf3/")]["case"].nunique()
    if arrays >= 12:
        return ""
    return (
        f"At this profile {arrays} small arrays stand in for the document's twelve: toys, which "
        "show how the experiment works and nothing about rates."
    )


def caption_rates(number: int, experiments: Mapping[str, pd.DataFrame]) -> str:
    """Return the caption of one of Figures 1 to 4."""
    storage, caching = FIGURES[number]
    layout = {"contiguous": "contiguous storage", "chunked": "one chunk a variable"}[storage]
    how = {
        "default": "as the system caches by default",
        "override": "forced to the disk: nc_sync and fsync inside the write's time, reads cold",
    }[caching]
    records = experiments["write-cached" if caching == "default" else "write-disk"]
    return (
        f"Rates of whole arrays of integers, netCDF-3 against netCDF-4 with {layout}, {how}: "
        f"medians with 95 % intervals of {records['block'].nunique()} interleaved blocks, one put "
        f"or get a file, from C. After Figure {number} of {{cite:t}}`lee2008`, whose bars have no "
        "numbers: the lines are its means over six shapes, from Table 2. "
        f"Run {records['run_id'].iloc[0]}."
    )


def alt_rates(number: int) -> str:
    """Return what one of Figures 1 to 4 shows."""
    storage, caching = FIGURES[number]
    return (
        f"Two panels, writing and reading: MB/s, logarithmic, of small and of large arrays by "
        f"number of dimensions, netCDF-3 beside netCDF-4 ({storage} storage, {caching} caching), "
        "with the document's means as lines."
    )


def caption_ratios() -> str:
    """Return the caption of the ratios."""
    return (
        "Rate of netCDF-4 over that of netCDF-3 in the settings of Table 2 of {cite:t}`lee2008`: "
        "geometric mean over the shapes, with 95 % intervals of paired blocks. Inner band: "
        f"differences up to {percent(WINNER)}, which the document calls no winner; outer band: the "
        f"{percent(SPREAD)} by which its netCDF-3 differs from itself."
    )


def table(found: Sequence[Setting]) -> pd.DataFrame:
    """Return Table 2 with ours beside, as text."""
    return pd.DataFrame(
        {
            "setting": spelled(s),
            "document, 3 and 4": f"{s.document[0]}, {s.document[1]}",
            "its best": s.documents_best,
            "here, 3 and 4": f"{s.netcdf3:,.0f}, {s.netcdf4:,.0f}",
            "by its statistic": f"{s.mean8[0]:,.0f}, {s.mean8[1]:,.0f}",
            "4 over 3": _interval(s.ratio),
            "best here": s.best,
        }
        for s in found
    )


def caption_table() -> str:
    """Return the caption of Table 2."""
    return (
        "Table 2 of {cite:t}`lee2008` and this machine: MB/s of netCDF-3 and netCDF-4, means over "
        "the shapes of the medians over blocks, then of the document's own statistic (best and "
        "worst dropped, the rest averaged). A best is named from "
        f"{percent(WINNER)} on; here where the whole interval agrees, else it is open. A verdict "
        "asks less: on which side of one the whole interval lies, however near. So a setting can "
        "be open here and its claim reversed, by less than the document calls a difference."
    )


def itself(*frames: pd.DataFrame) -> str:
    """Return how far netCDF-3 is from itself, in the document and here.

    Parameters
    ----------
    *frames : pandas.DataFrame
        Records of the experiments in which netCDF-3 is the A/A case.
    """
    pairs = {key[1:]: (TABLE_2[key][0], TABLE_2["chunked", *key[1:]][0]) for key in FIRST}
    apart = {key: max(pair) / min(pair) - 1 for key, pair in pairs.items()}
    worst = max(apart, key=lambda key: apart[key])
    caching, operation, size = worst
    named = [abs(line[2]) / 100 for line in TABLE_2.values() if abs(line[2]) > 100 * WINNER]
    inside = sum(share <= apart[worst] for share in named)
    here = listing(
        [
            f"{noise.name} {percent(noise.ratio.value - 1, signed=True)} "
            f"[{percent(noise.ratio.low - 1, signed=True)}, "
            f"{percent(noise.ratio.high - 1, signed=True)}]"
            for noise in judge(pd.concat(frames))
        ],
        most=9,
    )
    return (
        "**NetCDF-3 against itself.** It has no chunks, so the document measured it twice with "
        "nothing changed, once beside contiguous and once beside chunked netCDF-4. The worst of "
        f"the {len(pairs)} pairs, {size} arrays, {operation}, {CACHING[caching]}, is "
        f"{pairs[worst][0]} and {pairs[worst][1]} MB/s, {percent(apart[worst])} apart (median of "
        f"the pairs {percent(median(apart.values()))}). Of the {len(named)} winners that Table 2 "
        f"names, {inside} lead by no more than that. Here the large arrays were measured "
        f"twice in netCDF-3 too, in the same shuffled blocks, and their times differ by: {here}."
    )


def dd_table(written: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return the C kernel's rates beside dd's, as text.

    Parameters
    ----------
    written, read : pandas.DataFrame
        From `beside_dd`: kind, rate, low, high, ratio.
    """
    rows = []
    for kind in BESIDE:
        row = {"": {"plain": "plain file, from C", "dd": "dd"}.get(kind) or LABELS[kind]}
        for name, frame, state in (
            ("write to disk", written, ""),
            ("read, warm", read, "warm"),
            ("read, cold", read, "cold"),
        ):
            part = frame[(frame["kind"] == kind) & (frame["cache_state"] == state)]
            one = part.iloc[0] if len(part) else None
            row[f"{name}, MB/s"] = (
                "–"
                if one is None
                else f"{one['rate']:,.0f} [{one['low']:,.0f}, {one['high']:,.0f}]"
            )
            ratio = None if one is None else one["ratio"]
            row[f"over dd, {name}"] = "–" if ratio is None else _interval(ratio)
        rows.append(row)
    return pd.DataFrame(rows)


def caption_dd(records: pd.DataFrame) -> str:
    """Return the caption of the table beside dd."""
    size = records[records["case"] == "netcdf3/large/2d"]["useful_bytes"].max()
    return (
        f"One array of {size / MB:.1f} MB: rates with 95 % intervals, and over the rate of `dd`, "
        "median of paired blocks. Writes end with `fsync`."
    )


def caption_steps(written: pd.DataFrame, tuned: pd.DataFrame) -> str:
    """Return the caption of the steps of a write."""
    third, contiguous, _ = TABLE_2["contiguous", "default", "write", "large"]
    chunk = TABLE_2["chunked", "default", "write", "large"][1]
    return (
        "Time to write the large two-dimensional array into the page cache, step by step: medians "
        f"of {written['block'].nunique()} blocks for the formats and "
        f"{tuned['block'].nunique()} for the rest, with the 95 % interval of the whole. The "
        f"document's rates (Table 2, section 3.2.2) are of the put alone: {third} MB/s for "
        f"netCDF-3, {contiguous} contiguous, {chunk} in one chunk, {chunk + CACHE_GAIN} with a "
        f"cache of 64 MB, {chunk + EARLY_GAIN} allocated at creation."
    )


def _against(setting: Setting) -> str:
    """Return a ratio of rates in words, with the document's."""
    ours = comparison(setting.ratio, "faster", "slower")
    theirs = comparison(setting.document[1] / setting.document[0], "faster", "slower")
    return f"{ours} (document: {theirs})"


def _step(counted: pd.DataFrame, kind: str, step: str) -> dict[str, float]:
    rows = counted[(counted["kind"] == kind) & (counted["step"] == step)]
    return {str(name): value for name, value in rows.iloc[0].items()}


def _times(count: float, what: str) -> str:
    return f"{count:,.0f} {what}{'' if count == 1 else 's'}"


def _interval(ratio: Interval) -> str:
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
