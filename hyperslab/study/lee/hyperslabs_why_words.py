"""Why many calls are slow: each reason with its count from the records."""

import math

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...text import amount, comparison, listing, number
from .hyperslabs import DOCUMENT, SIDE, TABLED
from .hyperslabs_counts import DESCRIPTORS, FUNCTIONS
from .hyperslabs_rates import Counted, compared, counts, extra_us
from .hyperslabs_samples import ITEMSIZE
from .hyperslabs_ways import WAYS
from .hyperslabs_words import pair
from .rate_words import against, megabytes, microseconds, slower

_PUT, _CLOSED = ("write",), ("write", "close")


def why(read: pd.DataFrame, written: pd.DataFrame, opened: pd.DataFrame, side: int) -> str:
    """Return the reasons that could be measured.

    Parameters
    ----------
    read, written : pandas.DataFrame
        Records of these experiments.
    opened : pandas.DataFrame
        Records of the experiment "opened".
    side : int
        Rows and columns of the array.
    """
    reasons = (
        _library(read, opened, side),
        _remedy(read, side),
        _sieve(read),
        _filling(written),
        _chunk(read, written, side),
        _python(read, written, opened, side),
    )
    return "\n\n".join(text for text in reasons if text)


def _library(read: pd.DataFrame, opened: pd.DataFrame, side: int) -> str:
    c, plain, made = (f"{way}/contiguous/rows" for way in ("c", "hdf5-c", "hdf5-c-made"))
    library = extra_us(read, "read", c, plain, side)
    repeated = extra_us(read, "read", made, plain, side)
    direct = compared(read, ("read",), c, plain)
    found = _per_call(opened, "c", "read")
    if not (library and repeated and direct and found):
        return ""
    again = [_several(found[kind], kind) for kind in DESCRIPTORS if found[kind]]
    kept = [f"no {kind[:-1]}" for kind in DESCRIPTORS if not found[kind]]
    return (
        "**netCDF-C above HDF5.** The same rows of the same file, by the same HDF5: through "
        f"netCDF-C each call takes {microseconds(library)} more than straight from HDF5, and all "
        f"rows were {against(direct, 'straight from it')}. {_same(read, c, plain)} "
        "The document counted what it opened: in each call a property list and the variable. "
        "Counted today, by the numbers that HDF5 gives to what it opens, each call of netCDF-C "
        f"makes and closes {listing(again, 4)}, and {listing(kept, 4)}. A program in C that "
        f"makes the same in each call, straight on HDF5, pays {microseconds(repeated)} for it."
    )


def _remedy(read: pd.DataFrame, side: int) -> str:
    extra = extra_us(read, "read", *pair("c", "contiguous"), side)
    ours = _row_us(read, "c/contiguous/one", side)
    if not extra or math.isnan(ours):
        return ""
    one, many, mended = (SIDE * ITEMSIZE / rate for rate in DOCUMENT["contiguous", "read"])
    theirs = many - one
    cheaper = Interval(theirs / extra.value, theirs / extra.high, theirs / extra.low, extra.n)
    there = Interval(1 + extra.value / one, 1 + extra.low / one, 1 + extra.high / one, extra.n)
    return (
        "**A call and its bytes.** In one call for everything, the bytes of a row took the "
        f"document {number(one)} µs, and a call a row cost {number(theirs)} µs more before the "
        f"library was mended. Here the bytes of a row take {number(ours)} µs and a call "
        f"{microseconds(extra)} more: a call became "
        f"{comparison(cheaper, 'cheaper', 'dearer')}, the bytes "
        f"{comparison(one * side / SIDE / ours, 'cheaper', 'dearer')}. With the document's time "
        f"for the bytes, today's call would leave its rows "
        f"{against(there, 'its one call')}; after the mending it measured "
        f"{comparison(one / mended, 'faster', 'slower')}."
    )


def _several(count: float, kind: str) -> str:
    return f"{number(count)} {kind[:-1] if count == 1 else kind}"


def _row_us(read: pd.DataFrame, case: str, side: int) -> float:
    """Give the time of a row's bytes within one call for everything."""
    rows = main(read)
    seconds = rows[(rows["case"] == case) & (rows["phase"] == "read")]["wall_s"]
    return 1e6 * float(seconds.median()) / side


def _per_call(opened: pd.DataFrame, way: str, phase: str) -> dict[str, float]:
    rows = opened[(opened["case"] == way) & (opened["phase"] == phase)]
    return dict(zip(rows["pattern"], rows["stages"], strict=True))


def _same(read: pd.DataFrame, one: str, other: str) -> str:
    found = counts(read, "read")
    asked = [(found[case]["syscr"], found[case]["rchar"]) for case in (one, other)]
    if any(math.isnan(value) for value in asked[0]):
        return ""
    if max(abs(a / b - 1) for a, b in zip(*asked, strict=True)) < 0.001:
        return (
            f"Both ask the system for the same ({asked[0][0]:,.0f} calls, "
            f"{megabytes(asked[0][1])}), so it is the library's own work."
        )
    return (
        f"They ask the system for {asked[0][0]:,.0f} and {asked[1][0]:,.0f} calls, "
        f"{megabytes(asked[0][1])} and {megabytes(asked[1][1])}."
    )


def _sieve(read: pd.DataFrame) -> str:
    found = counts(read, "read")
    case, bare = "hdf5-c/contiguous/rows", "hdf5-c-nosieve/contiguous/rows"
    ratio = compared(read, ("read",), case, bare)
    if not ratio or math.isnan(found[case]["syscr"]):
        return ""
    return (
        "**The sieve buffer.** HDF5 reads pieces of contiguous data through a buffer of 64 KiB: "
        f"{found[case]['syscr']:,.0f} read calls for all rows, and a copy of every byte. Without "
        f"it (`H5Pset_sieve_buf_size`) there are {found[bare]['syscr']:,.0f} calls and no such "
        f"copy; with it the rows were {against(ratio, 'without')}. "
        "One call for everything does not pass it."
    )


def _filling(written: pd.DataFrame) -> str:
    found = counts(written, "write")
    one, case, bare = "c/contiguous/one", "c/contiguous/rows", "c-nofill/contiguous/rows"
    ratio = compared(written, _PUT, case, bare)
    if not ratio or math.isnan(found[case]["wchar"]):
        return ""
    return (
        f"**Writing in pieces.** One call wrote {megabytes(found[one]['wchar'])}. One call a row "
        f"{_moved(found, case)}: a first piece makes the library lay out the whole variable and "
        "fill it with its fill value, and the pieces then pass the sieve buffer, which fetches "
        "what stands in the file before it writes that back. With filling off they "
        f"{_moved(found, bare)}; with it the rows were {against(ratio, 'without')}."
    )


def _moved(found: Counted, case: str) -> str:
    return f"wrote {megabytes(found[case]['wchar'])} and read {megabytes(found[case]['rchar'])}"


def _chunk(read: pd.DataFrame, written: pd.DataFrame, side: int) -> str:
    gets, puts, closes = counts(read, "read"), counts(written, "write"), counts(written, "close")
    size = side * side * 4
    fits: list[str] = []
    exceeds: list[str] = []
    for way in TABLED:
        if found := gets.get(f"{way}/chunked/rows"):
            text = f"{WAYS[way].label} ({amount(found['cache_bytes'], 'B')}"
            if not math.isnan(found["syscr"]):
                text += f"; {found['syscr']:,.0f} read calls"
            (fits if found["cache_bytes"] >= size else exceeds).append(text + ")")
    text = f"**One chunk of {megabytes(size)}.** "
    if fits:
        text += (
            f"It fits the chunk cache of {listing(fits, 4)}: there it is read once, whole, into "
            "new memory, and rows are copied from that. "
        )
    if exceeds:
        text += (
            f"It is larger than that of {listing(exceeds, 4)}: as it is not compressed, HDF5 then "
            "moves each row straight from and to the file. "
        )
    way = "c" if "c/chunked/rows" in puts else "python"
    put, closing = (found[f"{way}/chunked/rows"]["wchar"] for found in (puts, closes))
    alone, closed = (compared(written, p, *pair(way, "chunked")) for p in (_PUT, _CLOSED))
    if math.isnan(put) or not alone or not closed:
        return text
    return text + (
        f"In writing, the puts of {WAYS[way].label} passed {megabytes(put)} to the system and the "
        f"close {megabytes(closing)}, which a clock around the puts leaves out: rows were "
        f"{slower(alone)} by the puts alone, and {slower(closed)} with the close."
    )


def _python(read: pd.DataFrame, written: pd.DataFrame, opened: pd.DataFrame, side: int) -> str:
    ways = ("python", "python-plain", "h5py")
    costs = {way: extra_us(read, "read", *pair(way, "contiguous"), side) for way in ways}
    said = [f"{microseconds(us)} in {WAYS[way].label}" for way, us in costs.items() if us]
    case = "python/contiguous/rows"
    rows = read[(read["phase"] == "read") & (read["case"] == case) & (read["status"] == "ok")]
    share = (rows["user_s"] / rows["wall_s"]).median()
    called = {way: _per_call(opened, way, "read")[FUNCTIONS] for way in ways}
    each = [f"{number(called[way])} in {WAYS[way].label}" for way in ways]
    text = (
        f"**Python.** Beyond what one call for everything takes, a call costs {listing(said)}. It "
        f"is processor time: {100 * share:.0f} % of netCDF4-python's rows was spent in the program "
        f"itself. Functions that Python code calls for one row: {listing(each)}. netCDF4-python "
        "turns the index into start, count and stride in Python, and with masking on it looks up "
        "the variable's attributes and compares the values with them in each call; h5py reads a "
        "plain selection in compiled code."
    )
    put = extra_us(written, "write", *pair("h5py", "contiguous"), side)
    if put and costs["h5py"]:
        functions = _per_call(opened, "h5py", "write")[FUNCTIONS]
        got = costs["h5py"]
        ratio = comparison(
            Interval(put.value / got.value, put.low / got.high, put.high / got.low, put.n),
            "more",
            "less",
        )
        text += (
            f" Writing has no such way in h5py: {number(functions)} functions a row, and "
            f"{microseconds(put)} a call; against reading: {ratio}."
        )
    return text
