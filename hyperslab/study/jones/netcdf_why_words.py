"""The counts behind the rates of netCDF, in sentences and tables."""

import pandas as pd

from ...measure.stats import Interval
from ...text import amount, comparison, listing, number
from .baseline import pick, ratio
from .counts import COUNTED, LARGE, SMALL_PAGES, STRIDED
from .model import LARGE_BYTES
from .netcdf import NAMES, NETCDF
from .plan import size_name, spaced
from .spots import RANDOM_READS, STRIDE

_SIEVE = 2**16
_FAR = 0.1
_MUCH = (1 + STRIDE) / 2
"""Bytes for each that is wanted from which on strided reads are said to fetch many."""
_ALIKE = 0.02
_WHOLE = STRIDE * (1 - _ALIKE)
_JUMP = 1.5
"""So many times the read-ahead of twice the size is not what sizes explain."""
_SEVERAL = 2


def bytes_read(counted: pd.DataFrame) -> pd.DataFrame:
    """Return what each reader reads for what is asked of it, as text.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `baseline.rates`, of the experiments "counts" and "patterns".
    """
    rows = []
    for reader, name in NAMES.items():
        row = {"reader": name}
        for size in COUNTED:
            found = pick(counted, "warm", reader, "random", size)
            row[size] = _asked(found)
        for size in STRIDED:
            found = pick(counted, "warm", reader, "strided", size)
            row[f"strided, {size}"] = _asked(found)
        found = pick(counted, "warm", reader, "random", "4KiB")
        row["calls a read, 4KiB"] = "–" if found is None else number(float(found["calls"]))
        if set(row.values()) != {name, "–"}:
            rows.append(row)
    return pd.DataFrame(rows)


def caption_bytes() -> str:
    """Return the caption of the bytes read."""
    return (
        f"Bytes passed through read calls of the system for each byte asked for: {RANDOM_READS} "
        "random reads of four sizes, and strided reads; and read calls for each random read of "
        "4 KiB. A mapped file is read by page faults, and shows 0."
    )


def sieve(counted: pd.DataFrame) -> str:
    """Return what lies behind the 64 KiB of the document."""
    found = {reader: pick(counted, "warm", reader, "random", "512B") for reader in NAMES}
    asked = {name: float(row["asked"]) for name, row in found.items() if row is not None}
    alike = [NAMES[name] for name, value in asked.items() if abs(value * 512 / _SIEVE - 1) < _FAR]
    other = [
        f"{number(512 * value)} B by {NAMES[name]}"
        for name, value in asked.items()
        if NAMES[name] not in alike and 512 * value >= 1
    ]
    if not asked:
        return ""
    below = [name for name in NETCDF if name in asked and NAMES[name] in alike]
    both = (
        " netCDF-C, below netCDF4-python, is among them: it is the sieve buffer of HDF5, below "
        "both, and no doing of netCDF4-python."
        if len(below) == len(NETCDF)
        else ""
    )
    return (
        f"**Who reads 64 KiB.** For a random read of 512 B, 64 KiB are read by "
        f"{listing(alike, len(alike))}; {listing(other, len(other))}.{both}"
    )


def sieve_time(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return whether those 64 KiB are what makes small reads slow."""
    found = ratio(records, "warm", "netcdf4-python/random/4KiB", "netcdf-c/random/4KiB")
    rows = [pick(table, "warm", reader, "random", "4KiB") for reader in NETCDF]
    if found is None or rows[0] is None or rows[1] is None:
        return ""
    each = [4096 / float(row["median"]) for row in rows if row is not None]
    text = (
        f"The same {RANDOM_READS} random reads of 4 KiB, with {number(float(rows[0]['calls']))} "
        f"and {number(float(rows[1]['calls']))} read calls each, take netCDF-C "
        f"{amount(each[0], 's')} a read and netCDF4-python {amount(each[1], 's')}: its rate is "
        f"{comparison(found, 'higher', 'lower')}."
    )
    return f"{text} The bytes are the same, so they do not explain it." if _apart(found) else text


def strided(table: pd.DataFrame) -> str:
    """Return what strided cold reads fetch from the device, where that is much, and through what.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    lines = []
    for reader in NETCDF:
        part = table[(table["state"] == "cold") & (table["pattern"] == "strided")]
        part = part[(part["reader"] == reader) & part["fetched"].notna()].sort_values("nbytes")
        much = part["fetched"] >= _MUCH
        held = much & (part["asked"] >= _MUCH)
        for text in (_held(part[held]), _ahead(part[much & ~held]), _jumps(part, much & ~held)):
            if text:
                lines.append(f"- {NAMES[reader]}, {text}")
    if not lines:
        return ""
    head = (
        f"**Strided.** One buffer of {STRIDE} is wanted. Where many bytes come from the device "
        f"for each that is (from {number(_MUCH)} on; {STRIDE} would be all that the reads span):"
    )
    return "\n".join([head, "", *lines])


def _held(part: pd.DataFrame) -> str:
    """Say where the library asks for what is skipped, and what is fetched beyond even that."""
    if part.empty:
        return ""
    asked = sorted(number(float(part["asked"].agg(end)), 2) for end in ("min", "max"))
    text = (
        f"{_these(part)} through its own read calls, {' to '.join(dict.fromkeys(asked))} for each: "
        "the sieve buffer of HDF5 takes in what is skipped."
    )
    if (part["fetched"] >= _WHOLE).all():
        text += " There the document's explanation of the quarter holds."
    past = part[part["fetched"] > STRIDE * (1 + _ALIKE)]
    if len(past):
        far = ((past["fetched"] - STRIDE) * past["reads"] * past["nbytes"]).max()
        text += (
            f" What is above {STRIDE} lies outside of all that a sample's reads span: the system "
            f"read ahead past the last of them, up to {amount(float(far), 'B')}, and a sample that "
            "stops early has little to set against it."
        )
    return text


def _ahead(part: pd.DataFrame) -> str:
    """Say where the system reads ahead over what is skipped, and how far after each read."""
    if part.empty:
        return ""
    beyond = (part["fetched"] - part["asked"]) * part["nbytes"]
    each = [amount(float(x), "B") for x in beyond]
    text = (
        f"{_these(part)}, and not by read calls: the system reads ahead, "
        f"{listing(each, len(each))} after each read."
    )
    whole = [spaced(str(size)) for size in part.loc[part["fetched"] >= _WHOLE, "size"]]
    if whole:
        text += (
            f" At {listing(whole, len(whole))} that is all that is skipped, and the document's "
            "explanation of the quarter holds."
        )
    return text


def _jumps(part: pd.DataFrame, ahead: "pd.Series[bool]") -> str:
    """Say at which sizes the system reads further ahead than at twice the size."""
    part = part[part["reads"] >= _SEVERAL]
    beyond = dict(
        zip(part["nbytes"], (part["fetched"] - part["asked"]) * part["nbytes"], strict=True)
    )
    odd = [
        f"{spaced(size_name(nbytes))} ({amount(beyond[nbytes], 'B')}, and "
        f"{amount(beyond[2 * nbytes], 'B')} of {spaced(size_name(2 * nbytes))})"
        for nbytes in part.loc[ahead[part.index], "nbytes"]
        if 2 * nbytes in beyond and beyond[nbytes] > _JUMP * beyond[2 * nbytes]
    ]
    if not odd:
        return ""
    return (
        "unexplained: that the system reads further ahead after reads of "
        f"{listing(odd, len(odd))} than after ones of twice the size."
    )


def _these(part: pd.DataFrame) -> str:
    sizes = [
        f"{spaced(str(size))} ({number(float(fetched))})"
        for size, fetched in zip(part["size"], part["fetched"], strict=True)
    ]
    return f"in buffers of {listing(sizes, len(sizes))}"


def faults(counted: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what page faults say of large buffers.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `baseline.rates`, of the experiment "counts".
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    lines = []
    part = table[(table["state"] == "warm") & (table["pattern"] == "sequential")]
    part = part[part["nbytes"] >= LARGE_BYTES]
    least = size_name(LARGE_BYTES)
    for reader in ("python-read", "netcdf4-python", "c-fread"):
        mine = part[part["reader"] == reader].sort_values("nbytes")
        if len(mine) > 1 and mine["size"].iloc[0] == least:
            first, last = mine.iloc[0], mine.iloc[-1]
            most = mine.sort_values("faults").iloc[-1]
            lines.append(
                f"{NAMES[reader]} {number(float(first['faults']) / 1e3)} at {spaced(least)}, "
                f"{number(float(last['faults']) / 1e3)} at {spaced(str(last['size']))} and at most "
                f"{number(float(most['faults']) / 1e3)}, at {spaced(str(most['size']))}"
            )
    text = ""
    if lines:
        text = (
            f"Minor page faults for each MB from memory, from {spaced(least)} on: "
            f"{'; '.join(lines)}. Smaller ones are left out: a sample of them reads so few bytes "
            "that the faults of a library's start would be shared out over them. "
        )
    text += (
        "A reader that gives new memory with each read has the system map it, page by page, and "
        "fill it with zeros before it is written, wherever malloc gave the last read's memory "
        "back, as it does with large blocks. A loop in C reads into one buffer that it keeps."
    )
    return f"{text} {_huge(counted)}".strip()


def _huge(counted: pd.DataFrame) -> str:
    more: dict[str, float] = {}
    for reader in ("numpy-fromfile", "netcdf4-python"):
        large = pick(counted, "warm", reader, "sequential", LARGE)
        small = pick(counted, "warm", f"{reader}{SMALL_PAGES}", "sequential", LARGE)
        if large is not None and small is not None and float(large["faults"]) > 0:
            more[NAMES[reader]] = float(small["faults"]) / float(large["faults"])
    many = {name: value for name, value in more.items() if value > 1 + _FAR}
    lines = []
    if many:
        times = [number(value) for value in many.values()]
        lines.append(
            f"At {LARGE} {listing(list(many))} {'have' if len(many) > 1 else 'has'} "
            f"{listing(times)} times as many when numpy may not ask for huge pages, as it does for "
            "large arrays: there one fault brings many pages, and one cost for a fault cannot "
            "stand for both kinds."
        )
    if few := [name for name in more if name not in many]:
        lines.append(f"Huge pages play no part in {listing(few)} at {LARGE}.")
    return " ".join(lines)


def _asked(found: "pd.Series[float] | None") -> str:
    if found is None:
        return "–"
    asked = float(found["asked"])
    return number(asked) if asked > 1e-3 else "0"


def _apart(found: Interval) -> bool:
    return not found.contains(1) and abs(found.value - 1) > _FAR
