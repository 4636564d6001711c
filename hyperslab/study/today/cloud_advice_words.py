"""What to do today about layouts on a server, from the records of the page on the cloud."""

from __future__ import annotations

import pandas as pd

from ...measure.stats import Interval
from ...text import ENOUGH, amount, comparison, number
from .cloud_results import NAMES, faster, one, sizes
from .cloud_words import compared

_BARE = "netcdf-bare"


def advice(linked: pd.DataFrame, found: pd.DataFrame, stored: pd.DataFrame) -> str:
    """Return what to do today."""
    lines = [
        _page(found, stored),
        _refer(linked, stored),
        _shard(linked, stored),
        _index(linked, found, stored),
        _consolidate(found),
    ]
    return (
        "## What to do today\n\n"
        "```sh\n"
        "h5repack -S PAGE -G 4194304 in.nc paged.nc   # pages; read with page_buf_size=2**25\n"
        "hyperslab index in.nc                        # our index, beside the file\n"
        "```\n\n"
        "```python\n"
        'SingleHdf5ToZarr("in.nc").translate()         # kerchunk: references, as a dict\n'
        'ds.to_zarr("out.zarr", zarr_format=3,         # shards, with xarray\n'
        '           encoding={"uo": {"chunks": chunks, "shards": shards}})\n'
        'zarr.consolidate_metadata("out.zarr")         # one object tells all\n'
        "```\n\n" + "\n".join(f"- {line}" for line in lines if line)
    )


def _page(found: pd.DataFrame, stored: pd.DataFrame) -> str:
    paged, bare = one(found, "open", "paged"), one(found, "open", _BARE)
    if paged is None or bare is None:
        return ""
    fewer = paged["requests"] < bare["requests"]
    size, _, _ = sizes(stored, "many", "paged")
    before, _, _ = sizes(stored, "many", _BARE)
    sentence = (
        f"opening took {number(paged['requests'])} requests and "
        f"{amount(paged['wire_bytes'], 'B')}, against {number(bare['requests'])} and "
        f"{amount(bare['wire_bytes'], 'B')} without pages or read-ahead"
    )
    series, theirs = one(found, "series", "paged"), one(found, "series", _BARE)
    more = ""
    if series is not None and theirs is not None:
        word = "costs" if series["wire_bytes"] > theirs["wire_bytes"] else "saves"
        more = (
            f" A series then {word} bytes: {amount(series['wire_bytes'], 'B')} against "
            f"{amount(theirs['wire_bytes'], 'B')}, as whole pages are fetched."
        )
    head = (
        "**Page files of many variables that must stay HDF5**"
        if fewer
        else "**Pages gained nothing here**"
    )
    return f"{head}: {sentence}; the file is {_more(size, before)}.{more}"


def _refer(linked: pd.DataFrame, stored: pd.DataFrame) -> str:
    ratio = faster(linked, "series", "references", "netcdf")
    if ratio is None:
        return ""
    _, _, beside = sizes(stored, "array", "references")
    head = {
        1: "**Reference what you may not change**",
        0: "**References were not told apart for a series**",
        -1: "**References did not pay for a series here**",
    }[_judged(ratio)]
    return (
        f"{head}: a series was {compared(ratio, NAMES['netcdf'])}, with "
        f"{amount(beside, 'B')} of references beside the same file."
    )


def _shard(linked: pd.DataFrame, stored: pd.DataFrame) -> str:
    ratio = faster(linked, "series", "shards", "zarr3")
    whole = faster(linked, "map", "shards", "zarr3")
    if ratio is None:
        return ""
    _, many, _ = sizes(stored, "array", "zarr3")
    _, few, _ = sizes(stored, "array", "shards")
    slowest = min(_judged(each) for each in (ratio, whole) if each is not None)
    head = {
        1: "**Shard: fewer objects, and faster reads**",
        0: "**Shard where the number of objects hurts**",
        -1: "**Shard where the number of objects hurts, not for speed**",
    }[slowest]
    told = f", a map {compared(whole, 'these')}" if whole is not None else ""
    return (
        f"{head}: {number(few)} objects in place of {number(many)}; a series was "
        f"{compared(ratio, 'the same chunks as objects of their own')}{told}."
    )


def _index(linked: pd.DataFrame, found: pd.DataFrame, stored: pd.DataFrame) -> str:
    ratio, row = faster(linked, "series", "index", "netcdf"), one(found, "series", "index")
    if ratio is None or row is None:
        return ""
    other = faster(linked, "series", "index", "references")
    _, _, beside = sizes(stored, "array", "index")
    large = one(found, "series", "index-large")
    head = {
        1: "**Index what you may not change and read in small pieces**",
        0: "**An index was not told apart for a series**",
        -1: "**An index did not pay for a series here**",
    }[_judged(ratio)]
    told = f", {compared(other, 'references')}" if other is not None else ""
    inside = (
        f"; of larger chunks it moved {amount(large['wire_bytes'], 'B')}"
        if large is not None
        else ""
    )
    return (
        f"{head}: a series was {compared(ratio, NAMES['netcdf'])}{told}, in "
        f"{amount(row['wire_bytes'], 'B')}{inside}. The index is {amount(beside, 'B')}."
    )


def _consolidate(found: pd.DataFrame) -> str:
    told = []
    for version in ("zarr2", "zarr3"):
        apart, together = one(found, "open", version), one(found, "open", f"{version}-one")
        if apart is not None and together is not None:
            told.append(
                f"{NAMES[version]} took {number(apart['requests'])} requests and "
                f"{amount(apart['seconds'], 's')} to open without, {number(together['requests'])} "
                f"and {amount(together['seconds'], 's')} with them"
            )
    return f"**Consolidated metadata**: {'; '.join(told)}." if told else ""


def _judged(ratio: Interval) -> int:
    """Return 1 for faster, -1 for slower, and 0 where that is not told apart.

    Examples
    --------
    >>> _judged(Interval(2.0, 1.9, 2.1, 7)), _judged(Interval(2.0, 2.0, 2.0, 1))
    (1, 0)
    """
    if ratio.n < ENOUGH or ratio.contains(1):
        return 0
    return 1 if ratio.low > 1 else -1


def _more(size: float, before: float) -> str:
    return "of the same size" if size == before else comparison(size / before, "larger", "smaller")
