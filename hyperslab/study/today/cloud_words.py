"""The sentences of the page on the cloud, with their numbers from the records."""

from __future__ import annotations

import math

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...text import ENOUGH, amount, comparison, listing, number, percent
from .cloud import RATE
from .cloud_results import NAMES, TITLES, best, changing, faster, one, sizes


def summary(linked: pd.DataFrame, found: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    linked : pandas.DataFrame
        Records of the experiment "linked".
    found : pandas.DataFrame
        From `cloud_results.table`.
    """
    said = ["**What we found.**"]
    for read in ("series", "map", "open"):
        first, known = best(found, read), one(found, read, "netcdf")
        if known is None or first == "netcdf":
            least = f"{NAMES[first]} took the least time"
            said.append(
                f"For {TITLES[read]}, {least}: {_told(found, read, first)}"
                f"{_alike(linked, found, read, first)}."
            )
            continue
        said.append(
            f"For {TITLES[read]}, {NAMES[first]} took the least time: "
            f"{_told(found, read, first)}, "
            f"{compared(faster(linked, read, first, 'netcdf'), NAMES['netcdf'])} "
            f"with its {_told(found, read, 'netcdf')}{_alike(linked, found, read, first)}."
        )
    return " ".join(said)


def taken(linked: pd.DataFrame, found: pd.DataFrame, stored: pd.DataFrame) -> str:
    """Return what lay on the server, in this run.

    Parameters
    ----------
    linked, stored : pandas.DataFrame
        Records of the experiments of those names.
    found : pandas.DataFrame
        From `cloud_results.table`.
    """
    array = stored[stored["case"] == "array/netcdf"].iloc[0]
    chunks = [int(n) for n in array["chunks"].split("x")]
    shape = [int(n) for n in linked[linked["pattern"] == "series"]["size"].iloc[0].split("x")]
    count = math.prod(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    size = array["file_bytes"] / count
    many = linked[linked["pattern"] == "open"]["size"].iloc[0]
    trip = 1e3 * linked["latency_s"].iloc[0]
    known = one(found, "series", "netcdf")
    whole = ""
    if known is not None and known["wire_bytes"] >= array["file_bytes"]:
        whole = (
            " As it comes, netCDF-4 is read ahead by fsspec, 5 MiB over HTTP and 50 MiB over S3, "
            "here all of the file: what that takes does not carry over to a larger one."
        )
    return (
        f"In this run the array has {number(count)} chunks of {'×'.join(map(str, chunks))} values, "
        f"{amount(size, 'B')} each as stored, {amount(array['file_bytes'], 'B')} in all; the other "
        f"file has {many} variables. The link has a round trip of {number(trip)} ms and "
        f"100 Mbit/s.{whole} {_same(linked)}"
    )


def caption_counts() -> str:
    """Return the caption of the figure of requests and bytes."""
    return (
        "Requests and bytes from the server's own log, opening included, for a series of a point, "
        "a map, and opening a file of many variables by xarray. Counted, not timed. No mark: that "
        "layout has no such read of its own, or what reads it is not installed."
    )


def caption_times(found: pd.DataFrame) -> str:
    """Return the caption of the figure of times."""
    most, least = int(found["n"].max()), int(found["n"].min())
    told = f"medians with 95 % intervals over {most} interleaved blocks"
    if most < ENOUGH:
        told = f"each read {times(most)}, without intervals"
    elif least < most:
        told += f"; what has no interval was read {times(least)}"
    return (
        f"Time over the link, opening included: {told}. Hollow, what the counts predict: "
        "round trips that waited for one another, bytes over the rate, and CPU time; where "
        "requests are made while answers are under way, the longest of the three."
    )


def rows(found: pd.DataFrame, stored: pd.DataFrame) -> pd.DataFrame:
    """Return the array's reads as text, a line for a layout."""
    lines = []
    for way, name in NAMES.items():
        series, whole = one(found, "series", way), one(found, "map", way)
        either = series if series is not None else whole
        if either is None:
            continue
        size, objects, beside = sizes(stored, "array", way)
        lines.append(
            {
                "layout": name,
                "stored": amount(size, "B") + (f" + {amount(beside, 'B')}" if beside else ""),
                "objects": number(objects + bool(beside)),
                "opening: requests": number(either["opened_requests"]),
                **_cells("series", series),
                **_cells("map", whole),
            }
        )
    return pd.DataFrame(lines)


def rows_open(found: pd.DataFrame, stored: pd.DataFrame) -> pd.DataFrame:
    """Return the opening of many variables as text, a line for a layout."""
    lines = []
    for way, name in NAMES.items():
        row = one(found, "open", way)
        if row is None:
            continue
        size, objects, beside = sizes(stored, "many", way)
        lines.append(
            {
                "layout": name,
                "stored": amount(size, "B") + (f" + {amount(beside, 'B')}" if beside else ""),
                "objects": number(objects + bool(beside)),
                **_cells("open", row),
                "CPU": amount(row["cpu_s"], "s"),
            }
        )
    return pd.DataFrame(lines)


def why(found: pd.DataFrame) -> str:
    """Return what the counts say of where the time goes."""
    lines = []
    for read in ("series", "map", "open"):
        first = best(found, read)
        part = found[found["read"] == read].sort_values("seconds")
        last = str(part["way"].iloc[-1])
        lines += [f"- {TITLES[read]}, {_spent(found, read, way)}" for way in (first, last)]
    error = found["error"].abs()
    shards = one(found, "map", "shards")
    plain = one(found, "map", "zarr3")
    told = []
    if shards is not None and plain is not None:
        told.append(
            f"A map takes {number(shards['requests'])} requests from shards, "
            f"{number(shards['stages'])} of them one after another, and "
            f"{number(plain['requests'])} from Zarr 3 without, {number(plain['stages'])} one after "
            "another: "
            + (
                "zarr-python asks for the chunks of a shard in turn."
                if shards["stages"] / shards["requests"] > 2 * plain["stages"] / plain["requests"]
                else "shards do not make them wait."
            )
        )
    return (
        "Of each read the fastest and the slowest layout. Requests that are made at the same time "
        "share a round trip; only those that wait for an answer add one:\n\n"
        + "\n".join(lines)
        + f"\n\nWhat the counts predict is within {percent(float(error.median()))} of the measured "
        f"time in half of all cases, {percent(float(error.max()))} in the worst. " + " ".join(told)
    )


def _told(found: pd.DataFrame, read: str, way: str) -> str:
    row = one(found, read, way)
    assert row is not None
    return (
        f"{number(row['requests'])} requests, {amount(row['wire_bytes'], 'B')}, "
        f"{amount(row['seconds'], 's')}"
    )


def _alike(linked: pd.DataFrame, found: pd.DataFrame, read: str, first: str) -> str:
    """Return which layouts are not told apart in time from the fastest."""
    names = []
    for way in found[found["read"] == read]["way"]:
        ratio = faster(linked, read, way, first) if way != first else None
        if ratio is not None and ratio.n >= ENOUGH and ratio.contains(1):
            names.append(NAMES[way])
    return f"; not told apart from {NAMES[first]}: {listing(names, 12)}" if names else ""


def _spent(found: pd.DataFrame, read: str, way: str) -> str:
    """Return what a read's time is made of."""
    row = one(found, read, way)
    assert row is not None
    turns, size = row["stages"] + row["handshakes"], row["wire_bytes"]
    waited_s = turns * row["round_trip_s"]
    return (
        f"{NAMES[way]}: {number(row['requests'])} requests in {number(turns)} round trips, "
        f"{amount(waited_s, 's')}; {amount(size, 'B')}, {amount(size / RATE, 's')}; "
        f"CPU {amount(row['cpu_s'], 's')}; measured {amount(row['seconds'], 's')}."
    )


def compared(ratio: Interval | None, other: str) -> str:
    """Return how a read's time compares with another's.

    Examples
    --------
    >>> compared(Interval(2.0, 1.9, 2.1, 7), "Zarr 3")
    '2× faster than Zarr 3 [1.90, 2.10]'
    >>> compared(Interval(1.1, 0.9, 1.3, 7), "Zarr 3")
    'not told apart in time from Zarr 3 [0.90, 1.30]'
    >>> compared(Interval(0.5, 0.5, 0.5, 1), "Zarr 3")
    '2× slower than Zarr 3 (read once)'
    """
    if ratio is None:
        return f"not compared with {other}"
    if ratio.n < ENOUGH:
        compared = comparison(ratio.value, "faster", "slower")
        return f"{compared} than {other} (read {times(ratio.n)})"
    ends = f"[{ratio.low:.2f}, {ratio.high:.2f}]"
    if ratio.contains(1):
        return f"not told apart in time from {other} {ends}"
    return f"{comparison(ratio, 'faster', 'slower')} than {other} {ends}"


def _cells(read: str, row: pd.Series[float] | None) -> dict[str, str]:
    heads = f"{read}: requests", f"{read}: sent", f"{read}: time"
    if row is None:
        return dict.fromkeys(heads, "–")
    asked, turns, ways = (number(row[name]) for name in ("requests", "stages", "connections"))
    told = f"{asked} ({turns}; {ways})", amount(row["wire_bytes"], "B"), amount(row["seconds"], "s")
    return dict(zip(heads, told, strict=True))


def _same(linked: pd.DataFrame) -> str:
    if main(linked)["block"].max() == 0:
        return "Everything was read once."
    other = changing(linked)
    if not other:
        return "What was read again took the same requests and bytes each time."
    names = listing([f"`{name}`" for name in other])
    return f"Requests or bytes were not the same each time for {names}; medians are shown."


def times(count: int) -> str:
    """Return how often, in words.

    Examples
    --------
    >>> times(1), times(3)
    ('once', '3 times')
    """
    return "once" if count == 1 else f"{count} times"
