"""The sentences of the page on many small hyperslabs, with their numbers from the records."""

import math

import pandas as pd

from ...kernels.build import INSTALL
from ...text import amount, comparison, number
from .hyperslabs import DOCUMENT, LAYOUTS, SIDE, SWEPT, TABLED
from .hyperslabs_rates import Counted, affordable, compared, counts, swept
from .hyperslabs_ways import WAYS
from .rate_words import against, megabytes, slower


def summary(read: pd.DataFrame, written: pd.DataFrame, calls: pd.DataFrame, side: int) -> str:
    """Return what was found.

    Parameters
    ----------
    read, written, calls : pandas.DataFrame
        Records of these experiments.
    side : int
        Rows and columns of the array.
    """
    said = []
    for way in ("c", "python", "h5py"):
        parts = []
        for name, records, phase in (("reads", read, "read"), ("writes", written, "write")):
            found = compared(records, (phase,), *pair(way, "contiguous"))
            if found:
                parts.append(f"{name} {slower(found)}")
        if parts:
            said.append(f"- {WAYS[way].label}: {' and '.join(parts)}")
    before, mended = (
        " and ".join(
            f"{name} {comparison(row[place] / row[0], 'faster', 'slower')}"
            for name, row in (
                ("reads", DOCUMENT["contiguous", "read"]),
                ("writes", DOCUMENT["contiguous", "write"]),
            )
        )
        for place in (1, 2)
    )
    afford = affordable(calls)
    python = afford.get("python-plain")
    text = (
        f"**What we found.** An array of {side:,} × {side:,} integers, contiguous, taken in "
        f"{side:,} calls, one a row, instead of in one, had rates that were\n\n"
        + "\n".join(said)
        + f"\n- in the document: {before}; and once the library kept its handles open, "
        f"{mended}\n\n"
    )
    if python:
        text += (
            "netCDF4-python, unmasked, comes within a factor of two of its own single call from "
            f"about {amount(python.value, 'B')} a call on."
        )
    return text + _scaled(side)


def left_out(read: pd.DataFrame) -> str:
    """Return what could not be measured without a C compiler; empty when all was."""
    if any(str(case).startswith("c/") for case in read["case"].unique()):
        return ""
    return (
        "```{admonition} Not measured\n:class: warning\nThere is no C compiler: what netCDF-C and "
        f"HDF5 give a program in C is left out. {INSTALL}.\n```"
    )


def caption_rates(read: pd.DataFrame, rated: pd.DataFrame) -> str:
    """Return the caption of the rates."""
    return (
        "Rates of one call for the whole array (filled) and of one call a row (open): medians "
        f"with 95 % intervals of {rated['n'].max():.0f} interleaved blocks, files in the system's "
        "cache, the put or get alone, as in Tables 7 and 8 of {cite:t}`lee2008`, whose numbers, on "
        "its own machine, stand above; their second row is the library they modified. "
        f"{_only_c(rated)}Run {read['run_id'].iloc[0]}."
    )


def _only_c(rated: pd.DataFrame) -> str:
    """Say that Python was left out of the chunked array; empty where it was not."""
    if set(rated.loc[rated["layout"] == "chunked", "way"]) & {"python", "h5py"}:
        return ""
    return (
        "At this profile the chunked array is taken from C only: the ways in Python rest on the "
        "same two libraries. "
    )


def table_rates(read: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Return Tables 7 and 8 with our rates beside the document's, as text.

    Parameters
    ----------
    read, written : pandas.DataFrame
        From `rates`.
    """
    rows = []
    for action, rated in (("write", written), ("read", read)):
        for layout in LAYOUTS:
            one, many, mended = DOCUMENT[layout, action]
            rows.append(
                {
                    "": f"{action}, {layout}",
                    "way": "document",
                    "one call": f"{one:.2f}",
                    "one call a row": f"{many:.2f} (modified: {mended:.2f})",
                    "mean of the middle ones": f"{one:.2f} / {many:.2f}",
                }
            )
            for way in TABLED:
                part = rated[(rated["way"] == way) & (rated["layout"] == layout)]
                if set(part["mode"]) != {"one", "rows"}:
                    continue
                first, second = (part[part["mode"] == mode].iloc[0] for mode in ("one", "rows"))
                rows.append(
                    {
                        "": f"{action}, {layout}",
                        "way": WAYS[way].label,
                        "one call": _rate(first),
                        "one call a row": _rate(second),
                        "mean of the middle ones": (
                            f"{first['mean8']:,.0f} / {second['mean8']:,.0f}"
                        ),
                    }
                )
    return pd.DataFrame(rows)


def caption_table() -> str:
    """Return the caption of the table of rates."""
    return "Rates in MB/s (10⁶ bytes), medians with 95 % intervals, then the document's statistic."


def table_counts(read: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Return what the system was asked for, as text.

    Parameters
    ----------
    read, written : pandas.DataFrame
        Records of these experiments.
    """
    reads, puts, closes = (
        counts(read, "read"), counts(written, "write"), counts(written, "close"),
    )  # fmt: skip

    def place(case: tuple[str, ...]) -> tuple[int, int, str]:
        return LAYOUTS.index(case[1]), list(WAYS).index(case[0]), case[2]

    cases = [tuple(case.split("/")) for case in dict.fromkeys([*reads, *puts])]
    rows = []
    for way, layout, mode in sorted(cases, key=place):
        case = f"{way}/{layout}/{mode}"
        rows.append(
            {
                "way": WAYS[way].label,
                "storage": layout,
                "calls": mode,
                "get: reads (MB)": _moved(reads, case, "syscr", "rchar"),
                "get: page faults": _count(reads, case, "minflt"),
                "put: reads (MB)": _moved(puts, case, "syscr", "rchar"),
                "put: writes (MB)": _moved(puts, case, "syscw", "wchar"),
                "close: writes (MB)": _moved(closes, case, "syscw", "wchar"),
            }
        )
    return pd.DataFrame(rows)


def caption_counts() -> str:
    """Return the caption of the counts."""
    return (
        "What each way asks of the system: read and write calls with the MB (10⁶ bytes) in them, "
        "and new pages of memory. Medians; these come out the same every time, pages nearly so."
    )


def caption_calls(calls: pd.DataFrame) -> str:
    """Return the caption of the costs of a call."""
    return (
        "Time of one read over its bytes, and the rate as a share of what the same library reaches "
        "in one call; the dotted line is a half. Medians, with 95 % intervals as bands, of "
        f"{swept(calls)['n'].max():.0f} interleaved blocks, contiguous file, warm. Blocks in the "
        "middle can beat the single call, whose memory is larger than the processor's caches. "
        "The diamonds are the document's rows from C."
    )


def afforded(calls: pd.DataFrame) -> str:
    """Return how many calls can be afforded, as text."""
    smallest = swept(calls)["bytes"].min()
    found = []
    sizes = affordable(calls)
    for way in (way for way in SWEPT if way in sizes):
        size = sizes[way]
        limit = (
            f"at {amount(smallest, 'B')} already"
            if size.high <= smallest
            else f"from {amount(size.value, 'B')} [{amount(size.low, 'B')}, "
            f"{amount(size.high, 'B')}] a call"
        )
        found.append(f"- {WAYS[way].label}: {limit}")
    text = "\n".join(
        ["Within a factor of two of its own single call, reading, each way comes", "", *found]
    )
    return f"{text}\n\n{_new_pages(calls)}"


def _new_pages(calls: pd.DataFrame) -> str:
    """Say what memory does to larger calls; empty where nobody counts or it does nothing."""
    cost = swept(calls)
    rows = cost[(cost["way"] == "python-plain") & (cost["bytes"] < cost["bytes"].max())]
    last, former = rows.iloc[-1], rows.iloc[-2]
    if not last["faults"] > 10 * (former["faults"] + 1):
        return ""
    return (
        f"Beyond that, memory counts: a result of {amount(last['bytes'], 'B')} in netCDF4-python "
        f"comes with {last['faults']:,.0f} new pages of memory in each call, one of "
        f"{amount(former['bytes'], 'B')} with {number(former['faults'], 2)}, as it gets the pages "
        f"of the one before; its rate is {last['share']:.2f} of the single call's, against "
        f"{former['share']:.2f}."
    )


def advice(read: pd.DataFrame, written: pd.DataFrame, calls: pd.DataFrame) -> str:
    """Return what to do today with many small accesses."""
    limits = affordable(calls)
    limit = max(limits[way].value for way in ("python", "python-plain"))
    size = 2 ** max(0, int(limit - 1)).bit_length()
    masked = compared(read, ("read",), "python/contiguous/rows", "python-plain/contiguous/rows")
    h5py = compared(read, ("read",), "h5py/contiguous/rows", "python-plain/contiguous/rows")
    lines = [
        f"- **Read blocks and slice them in memory.** In netCDF4-python take {_binary(size)} or "
        "more a call, masked or not: `block = v[i:i + n]`, then loop over `block`; write in the "
        "same way.",
    ]
    if masked:
        lines.append(
            "- **Turn masking off where you do not need it:** "
            "`nc.set_auto_maskandscale(False)`; with it on, rows were "
            f"{against(masked, 'without')} here."
        )
    if h5py:
        lines.append(
            "- Where rows must be read one by one, know h5py: on the same file it was "
            f"{against(h5py, 'netCDF4-python unmasked')}."
        )
    lines.append(
        "- **Writing a new variable in pieces, turn filling off:** `nc.set_fill_off()` before "
        f"`createVariable`, when every value will be written.{_unfilled(written)}"
    )
    return "\n".join(lines)


def _unfilled(written: pd.DataFrame) -> str:
    found = counts(written, "write")
    filled, bare = "c/contiguous/rows", "c-nofill/contiguous/rows"
    ratio = compared(written, ("write",), bare, filled)
    if not ratio or math.isnan(found[filled]["wchar"]):
        return ""
    return (
        f" From C it wrote {megabytes(found[bare]['wchar'])} instead of "
        f"{megabytes(found[filled]['wchar'])}, and was {against(ratio, 'with it')}."
    )


def pair(way: str, layout: str) -> tuple[str, str]:
    """Return the cases of one call a row and of one call."""
    return f"{way}/{layout}/rows", f"{way}/{layout}/one"


def _rate(row: "pd.Series[float]") -> str:
    return f"{row['rate']:,.0f} [{row['low']:,.0f}, {row['high']:,.0f}]"


def _binary(count: float) -> str:
    return f"{count / 2**20:g} MiB" if count >= 2**20 else f"{count / 1024:g} KiB"


def _moved(found: Counted, case: str, calls: str, count: str) -> str:
    number_of = _count(found, case, calls)
    return number_of if number_of == "–" else f"{number_of} ({_megabytes(found, case, count)})"


def _count(found: Counted, case: str, name: str) -> str:
    value = found.get(case, {}).get(name, math.nan)
    return "–" if math.isnan(value) else f"{value:,.0f}"


def _megabytes(found: Counted, case: str, name: str) -> str:
    value = found.get(case, {}).get(name, math.nan)
    return "–" if math.isnan(value) else f"{value / 1e6:.1f}"


def _scaled(side: int) -> str:
    return "" if side == SIDE else f" (The document's array has {SIDE:,} × {SIDE:,}.)"
