"""The sentences of the page on compression, with their numbers from the records."""

import math
from typing import Any

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...text import comparison
from .break_even import DOCUMENT_DISK, READING, WRITING, processor
from .compression_figures import CURVES, MB, spelled
from .compression_table_words import by_packing, rate_words, row_of, state_of
from .rate_words import than
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
    state = state_of(read)
    best = _paying_most(writing, reading)
    return (
        "**What we found.** With deflate 1 the three tiles took "
        f"{_span(written, '')} times as long to write as uncompressed, `fsync` included, and "
        f"{_span(read, state)} times as long to read {state}; in the document both were faster. "
        "That is a matter of the "
        "disk: bytes cost time on the disk and compression costs time in the processor. By our "
        "counts of both, on tile 1 (the verdicts take the three together) deflate 1 gains time in "
        f"writing on disks that move {_pays(writing, 'deflate-1')} or less, and in "
        f"reading on disks of up to {_pays(reading, 'deflate-1')}. The document's "
        "disk moved "
        f"{DOCUMENT_DISK['write']:.0f} and {DOCUMENT_DISK['read']:.0f} MB/s (its Table 2). Of the "
        f"codecs tried, {spelled(best)} pays on the fastest disks: writing up to "
        f"{_pays(writing, best)}, reading up to {_pays(reading, best)}."
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
        f"`ncsync` and `fsync`, and to read them {state_of(read)}: medians with 95 % intervals of "
        f"{written['n'].max():.0f} interleaved blocks. After Figure 9 of {{cite:t}}`lee2008`, "
        "which prints no numbers; in their place stands the time that as many uncompressed bytes "
        f"take at the rates of its Table 2, {DOCUMENT_DISK['write']:.0f} MB/s written and "
        f"{DOCUMENT_DISK['read']:.0f} MB/s read. Run {records['run_id'].iloc[0]}."
    )


def caption_codecs() -> str:
    """Return the caption of the codecs."""
    return (
        "How many times smaller each codec makes the file, and the CPU time that it takes to write "
        "and to read (warm) 1 MB of values, the way between library and system included: medians "
        "with 95 % intervals. Above the stored integers of tile 1, below its reflectivity in dBZ "
        "as floating-point numbers. The document gives one number, of all twelve products at "
        "deflate 1: it stands beside the size of our whole tile, in the first row."
    )


def caption_break_even() -> str:
    """Return the caption of the curves."""
    return (
        "Time with compression over the time without, by the rate of the disk: from the CPU time "
        "and the bytes of the files, with 95 % intervals. Where a curve crosses 1, compression "
        "breaks even. Points are the times that were measured on this disk, whose own rate is that "
        "of the uncompressed file while the processor waited; they took no part in the curves."
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
    rows = main(written)
    first = rows[rows["case"] == "tile1/none"]
    chunk = 2 * math.prod(int(length) for length in str(first["chunks"].iloc[0]).split("x"))
    chunks = first["useful_bytes"].max() / chunk
    return (
        f"For tile 1 the library passed {none['wchar'] / MB:.2f} MB to the system in "
        f"{none['syscw']:.0f} write calls without compression and {small['wchar'] / MB:.2f} MB in "
        f"{small['syscw']:.0f} with deflate 1, for {chunks:.0f} chunks, "
        f"each synced with what describes it. It spent {_cpu(none)} of CPU time without and "
        f"{_cpu(small)} with it. Reading asked for {read_none['rchar'] / MB:.2f} and "
        f"{read_small['rchar'] / MB:.2f} MB and took {_cpu(read_none)} and {_cpu(read_small)} of "
        "CPU time.\n\n"
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
    sizes = by_packing(writing, FLOAT)
    lossless = sizes["float-shuffle-deflate-1"]
    rounded = sizes["bitround-shuffle-deflate-1"]
    best = sizes["bitround-blosc-zstd"]
    packed = sizes["int16-shuffle-deflate-1"]
    cpu = processor(writing, rounded["case"], lossless["case"])
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
        f"exact to 0.01 dB, {packed['bytes'] / MB:.2f} MB with shuffle and deflate 1. Rounded "
        "first, the CPU time of writing with deflate 1 was "
        f"{than(cpu, 'longer', 'shorter', 'that without')}."
    )


def advice(writing: pd.DataFrame, reading: pd.DataFrame) -> str:
    """Return what to do today."""
    first = _paying_most(writing, reading)
    tile = by_packing(writing, "tile1")
    high, low, shuffled = tile["deflate-9"], tile["deflate-1"], tile["shuffle-deflate-1"]
    option = {"zstd-3": ("zstd", 3), "blosc-lz4": ("blosc_lz4", 5), "blosc-zstd": ("blosc_zstd", 5)}
    name, level = option.get(first, ("zlib", 1))
    return (
        "- **Ask how fast the disk is, not how good the codec is.** Divide the bytes that "
        "compression saves by the CPU time that it costs: on anything slower it gains time as "
        f"well as space. For tile 1 that is {_pays(writing, 'deflate-1')} for writing "
        f"with deflate 1 and {_pays(reading, 'deflate-1')} for reading.\n"
        f"- **{spelled(first)}** pays on the fastest disks here: "
        f'`createVariable(…, compression="{name}", complevel={level})`. Readers need the '
        "plugin, which netCDF4-python's wheels bring.\n"
        f"- Level 9 made the file {comparison(high['bytes'] / low['bytes'], 'larger', 'smaller')} "
        f"than level 1; its CPU time in writing was {_more(writing, high, low)}.\n"
        "- Shuffle before deflate 1 made the file "
        f"{comparison(shuffled['bytes'] / low['bytes'], 'larger', 'smaller')}; the CPU time was "
        f"{_more(writing, shuffled, low)}.\n"
        "- Floating-point data: round away the bits that mean nothing first, "
        f'`createVariable(…, significant_digits={KEPT_BITS}, quantize_mode="BitRound")`.'
    )


def _more(costs: pd.DataFrame, one: dict[Any, Any], other: dict[Any, Any]) -> str:
    cpu = processor(costs, one["case"], other["case"])
    return than(cpu, "more", "less", "that of deflate 1")


def _paying_most(writing: pd.DataFrame, reading: pd.DataFrame) -> str:
    """Return the codec that breaks even on the fastest disks, by the worse of both ways."""
    found = {
        name: min(_break_even(writing, name).value, _break_even(reading, name).value)
        for name in CURVES
        if f"tile1/{name}" in set(writing["case"])
    }
    return max(found, key=lambda name: found[name])


def _pays(costs: pd.DataFrame, packing: str) -> str:
    return rate_words(_break_even(costs, packing))


def _break_even(costs: pd.DataFrame, packing: str) -> Interval:
    rate = row_of(costs, f"tile1/{packing}")["rate"]
    assert isinstance(rate, Interval)
    return rate


def _span(timed: pd.DataFrame, state: str) -> str:
    rows = timed[(timed["packing"] == "deflate-1") & (timed["cache_state"] == state)]
    values = [ratio.value for ratio in rows["ratio"]]
    return f"{min(values):.2f} to {max(values):.2f}"


def _cpu(row: dict[Any, Any]) -> str:
    return f"{1e3 * (row['user_s'] + row['sys_s']):.0f} ms"


def _sums(
    records: pd.DataFrame, phases: tuple[str, ...], columns: list[str]
) -> dict[str, dict[Any, Any]]:
    """Return counts of a sample by case, summed over phases and variables; medians of blocks."""
    rows = main(records)
    rows = rows[rows["phase"].isin(phases)]
    sums = rows.groupby(["case", "block"])[columns].sum(min_count=1).groupby("case").median()
    return {str(case): row for case, row in sums.to_dict("index").items()}
