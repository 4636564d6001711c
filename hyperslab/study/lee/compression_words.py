"""The sentences of the page on compression, with their numbers from the records."""

import math
from typing import Any

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ..claims.words import comparison
from ..penard.datasets import TABLE_5
from .break_even import DOCUMENT_DISK, READING, WRITING
from .compression_figures import CURVES, MB, spelled
from .tiles import FLOAT, KEPT_BITS, PRODUCTS, SHAPE


def summary(
    written: pd.DataFrame, read: pd.DataFrame, writing: pd.DataFrame, reading: pd.DataFrame
) -> str:
    """Return what was found.

    Parameters
    ----------
    written, read : pandas.DataFrame
        From `times`, of both experiments.
    writing, reading : pandas.DataFrame
        From `costs`, of the writes and of the warm reads.
    """
    state = _state(read)
    best = _paying_most(writing, reading)
    return (
        "**What we found.** With deflate 1 the three tiles took "
        f"{_span(written, '')} times as long to write as uncompressed, `fsync` included, and "
        f"{_span(read, state)} times as long to read {state}; in the document both were faster. "
        "That is a matter of the "
        "disk: bytes cost time on the disk and compression costs time in the processor. By our "
        "counts of both, deflate 1 gains time in writing on disks that move "
        f"{_rate(_break_even(writing, 'deflate-1'))} or less, and in reading on disks of up to "
        f"{_rate(_break_even(reading, 'deflate-1'))}. The document's disk moved "
        f"{DOCUMENT_DISK['write']:.0f} and {DOCUMENT_DISK['read']:.0f} MB/s (its Table 2). Of the "
        f"codecs tried, {spelled(best)} pays on the fastest disks: writing up to "
        f"{_rate(_break_even(writing, best))}, reading up to {_rate(_break_even(reading, best))}."
    )


def taken(records: pd.DataFrame, count: int) -> str:
    """Return what was scaled down, empty when nothing was.

    Parameters
    ----------
    records : pandas.DataFrame
    count : int
        Products taken of each tile.
    """
    notes = []
    if count < len(PRODUCTS):
        notes.append(
            f"{count} of the {len(PRODUCTS)} products of each tile are written and read (Table 5 "
            "is of all of them)"
        )
    if "x".join(map(str, SHAPE)) not in set(records["chunks"]):
        notes.append("the grid is a sixteenth of the document's: these are toys")
    return f"At this profile {'; '.join(notes)}." if notes else ""


def caption_9(written: pd.DataFrame, read: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the times."""
    return (
        f"Time to write {written['useful_mb'].max():.0f} MB of a tile, each variable with a put, "
        f"`ncsync` and `fsync`, and to read them {_state(read)}: medians with 95 % intervals of "
        f"{written['n'].max():.0f} interleaved blocks. After Figure 9 of {{cite:t}}`lee2008`, "
        "which prints no numbers; in their place stands the time that as many uncompressed bytes "
        f"take at the rates of its Table 2, {DOCUMENT_DISK['write']:.0f} MB/s written and "
        f"{DOCUMENT_DISK['read']:.0f} MB/s read. Run {records['run_id'].iloc[0]}."
    )


def caption_codecs() -> str:
    """Return the caption of the codecs."""
    return (
        "How many times smaller each codec makes the file, and the CPU time that it takes to write "
        "and to read (warm) 1 MB of values, the way between library and system included. Above the "
        "stored integers of tile 1, below its reflectivity in dBZ as floating-point numbers. The "
        "document gives a number for deflate 1 only."
    )


def caption_break_even() -> str:
    """Return the caption of the curves."""
    return (
        "Time with compression over the time without, by the rate of the disk: from the CPU time "
        "and the bytes of the files, with 95 % intervals. Where a curve crosses 1, compression "
        "breaks even. Points are the times that were measured on this disk, whose own rate is that "
        "of the uncompressed file while the processor waited; they took no part in the curves."
    )


def table_5(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return Table 5 with our ratios beside the document's.

    Parameters
    ----------
    sizes : pandas.DataFrame
        Records of the experiment "table5".
    """
    ratio = sizes["useful_bytes"] / sizes["file_bytes"]
    tiles = sizes["case"].str.partition("/")[0]
    return pd.DataFrame(
        {
            "tile": tiles,
            "document, times smaller": [f"{TABLE_5[tile]}" for tile in tiles],
            "here, times smaller": [f"{x:.1f}" for x in ratio],
            "bytes of the file": [f"{x:,.0f}" for x in sizes["file_bytes"]],
        }
    )


def table(
    written: pd.DataFrame, read: pd.DataFrame, writing: pd.DataFrame, reading: pd.DataFrame
) -> pd.DataFrame:
    """Return times, ratios and break-even rates of all codecs on tile 1, as text."""
    state = _state(read)
    rows = []
    for packing in writing[writing["group"] == "tile1"]["packing"]:
        case = f"tile1/{packing}"
        put, got = _row(written, case), _row(read[read["cache_state"] == state], case)
        plain = packing == "none"
        rows.append(
            {
                "codec": spelled(packing),
                "file, MB": f"{put['file_mb']:.2f}",
                "write, ms": _milliseconds(put),
                "mean of the middle": _mean(put),
                f"read {state}, ms": _milliseconds(got),
                "its middle mean": _mean(got),
                "write pays up to": "–" if plain else _rate(_row(writing, case)["rate"]),
                "read pays up to": "–" if plain else _rate(_row(reading, case)["rate"]),
            }
        )
    return pd.DataFrame(rows)


def caption_table() -> str:
    """Return the caption of the table."""
    return (
        "Tile 1 in all codecs: medians with 95 % intervals, then the document's own statistic, and "
        "the disk rate up to which the codec gains time against no compression."
    )


def why(written: pd.DataFrame, read: pd.DataFrame) -> str:
    """Return the counts behind the times.

    Parameters
    ----------
    written, read : pandas.DataFrame
        Records of the experiments "write" and "read".
    """
    put = _sums(written, WRITING, ["wchar", "syscw", "user_s", "sys_s"])
    warm = read[read["cache_state"] == "warm"]
    got = _sums(warm, READING, ["rchar", "syscr", "user_s", "sys_s"])
    none, small = put["tile1/none"], put["tile1/deflate-1"]
    read_none, read_small = got["tile1/none"], got["tile1/deflate-1"]
    if math.isnan(none["wchar"]):
        return ""
    parts = _sums(written, ("write",), ["user_s", "sys_s"])["tile1/deflate-1"]
    share = sum(parts.values()) / (small["user_s"] + small["sys_s"])
    return (
        f"For tile 1 the library passed {none['wchar'] / MB:.2f} MB to the system in "
        f"{none['syscw']:.0f} write calls without compression and {small['wchar'] / MB:.2f} MB in "
        f"{small['syscw']:.0f} with deflate 1, a call for each chunk either way and a few for the "
        f"rest. It spent {_ms(none['user_s'])} of user and {_ms(none['sys_s'])} of system CPU "
        f"time without, {_ms(small['user_s'])} and {_ms(small['sys_s'])} with it. "
        f"Reading asked for {read_none['rchar'] / MB:.2f} and {read_small['rchar'] / MB:.2f} MB "
        f"and took {_ms(read_none['user_s'])} and {_ms(read_small['user_s'])} of user CPU time.\n\n"
        f"The put itself holds only {100 * share:.0f} % of the CPU time of the compressed write: "
        "it copies the values into the chunk cache, and chunks are compressed when they leave it, "
        "here in the sync. A program that times the put alone sees no compression."
    )


def floats(writing: pd.DataFrame) -> str:
    """Return what rounding does to floating-point values.

    Parameters
    ----------
    writing : pandas.DataFrame
        From `costs`, of the writes.
    """
    sizes = _by_packing(writing, FLOAT)
    lossless = sizes["float-shuffle-deflate-1"]
    rounded = sizes["bitround-shuffle-deflate-1"]
    best = sizes["bitround-blosc-zstd"]
    packed = sizes["int16-shuffle-deflate-1"]
    longer = comparison(rounded["cpu_s"] / lossless["cpu_s"], "longer", "shorter")
    step = 2.0 ** (5 - KEPT_BITS - 1)
    return (
        "The document's tiles hold 16-bit integers, scaled; so do ours above, and nothing can be "
        "rounded in them. Where reflectivity is kept in dBZ as floating-point numbers, it can: "
        f"netCDF-C's BitRound keeps {KEPT_BITS} bits of the mantissa, which between 32 and 64 dBZ "
        f"changes a value by at most {step:g} dB (each sample was checked against that bound). "
        f"The field of {lossless['plain_bytes'] / MB:.2f} MB took "
        f"{lossless['bytes'] / MB:.2f} MB with shuffle and deflate 1, "
        f"{rounded['bytes'] / MB:.2f} MB when it was rounded before, "
        f"{best['bytes'] / MB:.2f} MB rounded and in Blosc zstd; the scaled integers, which are "
        f"exact to 0.01 dB, {packed['bytes'] / MB:.2f} MB with shuffle and deflate 1. Rounding "
        f"first made the CPU time of writing with deflate 1 {longer}."
    )


def advice(writing: pd.DataFrame, reading: pd.DataFrame) -> str:
    """Return what to do today."""
    first = _paying_most(writing, reading)
    tile = _by_packing(writing, "tile1")
    high, low, shuffled = tile["deflate-9"], tile["deflate-1"], tile["shuffle-deflate-1"]
    option = {"zstd-3": ("zstd", 3), "blosc-lz4": ("blosc_lz4", 5), "blosc-zstd": ("blosc_zstd", 5)}
    name, level = option.get(first, ("zlib", 1))
    return (
        "## What to do today\n\n"
        "- **Ask how fast the disk is, not how good the codec is.** Divide the bytes that "
        "compression saves by the CPU time that it costs: on anything slower it gains time as "
        f"well as space. Here that is {_rate(_break_even(writing, 'deflate-1'))} for writing "
        f"with deflate 1 and {_rate(_break_even(reading, 'deflate-1'))} for reading.\n"
        f"- **{spelled(first)}** pays on the fastest disks here: "
        f'`createVariable(…, compression="{name}", complevel={level})`. Readers need the '
        "plugin, which netCDF4-python's wheels bring.\n"
        f"- Level 9 made the file {comparison(high['bytes'] / low['bytes'], 'larger', 'smaller')} "
        f"than level 1, for {comparison(high['cpu_s'] / low['cpu_s'], 'more', 'less')} CPU time in "
        "writing.\n"
        "- Shuffle before deflate 1 made the file "
        f"{comparison(shuffled['bytes'] / low['bytes'], 'larger', 'smaller')}, with "
        f"{comparison(shuffled['cpu_s'] / low['cpu_s'], 'more', 'less')} CPU time.\n"
        "- Floating-point data: round away the bits that mean nothing first, "
        f'`createVariable(…, significant_digits={KEPT_BITS}, quantize_mode="BitRound")`.'
    )


def _paying_most(writing: pd.DataFrame, reading: pd.DataFrame) -> str:
    """Return the codec that breaks even on the fastest disks, by the worse of both ways."""
    found = {
        name: min(_break_even(writing, name).value, _break_even(reading, name).value)
        for name in CURVES
        if f"tile1/{name}" in set(writing["case"])
    }
    return max(found, key=lambda name: found[name])


def _by_packing(costs: pd.DataFrame, group: str) -> dict[str, dict[Any, Any]]:
    rows = costs[costs["group"] == group].to_dict("records")
    return {str(row["packing"]): row for row in rows}


def _break_even(costs: pd.DataFrame, packing: str) -> Interval:
    rate = _row(costs, f"tile1/{packing}")["rate"]
    assert isinstance(rate, Interval)
    return rate


def _row(frame: pd.DataFrame, case: str) -> dict[Any, Any]:
    row: dict[Any, Any] = frame[frame["case"] == case].iloc[0].to_dict()
    return row


def _state(read: pd.DataFrame) -> str:
    return "cold" if "cold" in set(read["cache_state"]) else "warm"


def _span(timed: pd.DataFrame, state: str) -> str:
    rows = timed[(timed["packing"] == "deflate-1") & (timed["cache_state"] == state)]
    values = [ratio.value for ratio in rows["ratio"]]
    return f"{min(values):.2f} to {max(values):.2f}"


def _rate(rate: Interval) -> str:
    """Return a disk rate in words; a codec that costs no time pays on any disk."""
    if math.isinf(rate.value):
        return "any rate"
    high = "∞" if math.isinf(rate.high) else _mb(rate.high)
    return f"{_mb(rate.value)} [{_mb(rate.low)}, {high}] MB/s"


def _mb(rate: float) -> str:
    value = rate / MB
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 1 else f"{value:.2g}"


def _milliseconds(row: dict[Any, Any]) -> str:
    return f"{1e3 * row['s']:.0f} [{1e3 * row['low']:.0f}, {1e3 * row['high']:.0f}]"


def _mean(row: dict[Any, Any]) -> str:
    return "–" if math.isnan(row["mean8"]) else f"{1e3 * row['mean8']:.0f}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms"


def _sums(
    records: pd.DataFrame, phases: tuple[str, ...], columns: list[str]
) -> dict[str, dict[Any, Any]]:
    """Return counts of a sample by case, summed over phases and variables; medians of blocks."""
    rows = main(records)
    rows = rows[rows["phase"].isin(phases)]
    sums = rows.groupby(["case", "block"])[columns].sum(min_count=1).groupby("case").median()
    return {str(case): row for case, row in sums.to_dict("index").items()}
