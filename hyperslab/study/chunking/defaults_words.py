"""The sentences of the page on default chunks, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from ...text import amount
from .defaults import DOCUMENT_BYTES, GROWN, SHOWN, agreement, default_bytes
from .slabs import STORED, STORED_NAMES, spread


def summary(
    picked: pd.DataFrame, growing: pd.DataFrame, series: pd.DataFrame, constants: pd.DataFrame
) -> str:
    """Return what was found by counting.

    Parameters
    ----------
    picked, growing, series, constants : pandas.DataFrame
        Records of the experiments "picked", "unlimited", "one-dimension" and "constants".
    """
    agree, tried = agreement(pd.concat([picked, growing, series]))
    aim = default_bytes(constants)
    over = picked[picked["useful_bytes"] > aim]
    largest = picked.iloc[int(picked["useful_bytes"].argmax())]
    single = series["useful_bytes"]
    ones = growing["chunks"].str.split("x").str[0] == "1"
    return (
        f"**What we found.** Our model of the rule gives the library's chunk in {agree} of "
        f"{tried} cases. The installed build aims at {aim:,.0f} bytes, "
        f"{_times(aim, DOCUMENT_BYTES['chunk'])} the document's 4 MiB, and the aim is no bound: "
        f"{len(over)} of the {len(picked)} variables get more, up to "
        f"{amount(largest['useful_bytes'], 'B')} a chunk for `{largest['case']}`. A lone unlimited "
        f"dimension gets chunks of {_range(single)} bytes (the document: "
        f"{DOCUMENT_BYTES['series']:,}). Along an unlimited first dimension the chunk has a length "
        f"of one in {ones.sum()} of {len(growing)} variables."
    )


def earlier(growing: pd.DataFrame) -> str:
    """Return a word on the strategy that the document calls an earlier one."""
    ones = growing["chunks"].str.split("x").str[0] == "1"
    partly = growing["mode"] == "some"
    others = growing[~ones]["mode"].map({"all": "all", "lone": "all", "some": "some"}).unique()
    rest = (
        "; the others have no fixed dimension at all"
        if list(others) == ["all"]
        else ""
        if not len(others)
        else ", and longer in others that have fixed dimensions too"
    )
    return (
        "```{admonition} The strategy the document calls an earlier one\n:class: note\n"
        "The document sets its strategy apart from an earlier one, under which a chunk always had "
        "a length of one along any unlimited dimension. "
        f"Here {(ones & partly).sum()} of the {partly.sum()} variables with an unlimited and a "
        f"fixed dimension get just that{rest}. What scales the chunk to the shape of the variable "
        "works on the fixed dimensions alone.\n```"
    )


def caption_picked(picked: pd.DataFrame) -> str:
    """Return the caption of the chunks picked."""
    agree, tried = agreement(picked)
    return (
        f"The chunk picked for {tried} variables of 1 to 6 dimensions and values of 1 to 8 bytes, "
        f"against what is fixed of them. The model agrees in {agree}. "
        f"Run {picked['run_id'].iloc[0]}."
    )


def table(picked: pd.DataFrame) -> pd.DataFrame:
    """Return some of the chunks picked, as text."""
    rows = []
    for case, what in SHOWN.items():
        found = picked[picked["case"] == case]
        if found.empty:
            continue
        row = found.iloc[0]
        rows.append(
            {
                "variable": f"`{case}`",
                "such as": what,
                "chunk": row["chunks"].replace("x", " × "),
                "bytes": f"{row['useful_bytes']:,.0f}",
                "of 4 MiB": f"{row['useful_bytes'] / DOCUMENT_BYTES['chunk']:.3g}",
                "the model's": row["predicted_chunks"].replace("x", " × "),
            }
        )
    return pd.DataFrame(rows)


def caption_table() -> str:
    """Return the caption of the table."""
    return (
        "Some default chunks. The name gives the type and the lengths; a star is an unlimited "
        "dimension. Of 4 MiB: the chunk's size over the document's largest."
    )


def too_large(picked: pd.DataFrame, constants: pd.DataFrame) -> str:
    """Return why some chunks are larger than the build aims at."""
    over = picked[picked["useful_bytes"] > default_bytes(constants)]
    if over.empty:
        return ""
    fixed = [_cut_to_one(*pair) for pair in zip(over["case"], over["chunks"], strict=True)]
    return (
        f"**Why chunks grow too large.** {sum(fixed)} of the {len(over)} chunks above the aim have "
        "a fixed axis on which the chunk is a single element. Every fixed axis is cut by the same "
        "factor; where that would leave less than one element of a short axis, one is taken, and "
        "no other axis makes up for it. A dimension of length one, as levels and members often "
        "have, is enough."
    )


def asked(picked: pd.DataFrame) -> str:
    """Return what a dimension's length, once asked for, does to the chunks."""
    known = picked[picked["case"] == f"f4 *{GROWN}"]
    new = picked[picked["case"] == "f4 *"]
    if known.empty or new.empty:
        return ""
    before, after = new["chunks"].iloc[0], known["chunks"].iloc[0]
    changed = "differ" if before != after else "are the same"
    return (
        f"**Asking can change the answer.** After {GROWN:,} steps were written, the default chunks "
        f"of a further series {changed} before and after the program asks how long the dimension "
        f"is: {before} values and {after}. The last step of the rule spreads a dimension evenly "
        "over its chunks, and netCDF-C takes an unlimited one for empty until its length is asked "
        "for."
    )


def unfiltered(constants: pd.DataFrame) -> str:
    """Return what a variable gets that nothing forces to have chunks."""
    found = constants[constants["case"] == "fixed, no filter"]["mode"].iloc[0]
    if found != "contiguous":
        return ""
    return (
        "The rule speaks only where there must be chunks: for an unlimited dimension or a filter "
        "such as deflate. A variable with fixed dimensions and no filter is stored contiguously."
    )


def balance(timed: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return how slabs across the axes compare.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `slabs.times`.
    records : pandas.DataFrame
        Of the experiment "slabs".
    """
    lines = []
    for stored in STORED:
        part = timed[timed["stored"] == stored]
        warm = part[part["cache_state"] == "warm"]
        ratios = [
            f"{_interval(spread(records, stored, state))} {state}"
            for state in dict.fromkeys(part["cache_state"])
        ]
        lines.append(
            f"- {STORED_NAMES[stored]}, chunks {part['chunks'].iloc[0].replace('x', ' × ')}: "
            f"{_touched(warm)} touched; slowest axis over quickest {', '.join(reversed(ratios))}."
        )
    return "\n".join(
        [
            "Chunks that the cache can hold are read whole. So what a slab asks for follows from "
            "how many of them it touches:",
            "",
            *lines,
            "",
            _fetched(timed),
        ]
    )


def caption_slabs(timed: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the figure on slabs."""
    return (
        "Reading one slab across each axis of a variable, from three chunk shapes: medians with "
        f"95 % intervals of {timed['n'].max():.0f} interleaved blocks (left); bytes passed through "
        "read calls, those that came from the device when cold, and those of the slab itself "
        "(right). The document gives no times. "
        f"Run {records['run_id'].iloc[0]}."
    )


def advice(
    picked: pd.DataFrame, growing: pd.DataFrame, records: pd.DataFrame, timed: pd.DataFrame
) -> str:
    """Return what to do today."""
    unlimited, hand = (_slowest(records, stored) for stored in ("unlimited", "balanced"))
    small = growing.iloc[int(growing["useful_bytes"].argmin())]
    across = timed[(timed["cache_state"] == "warm") & (timed["axis"] == "y")]
    times = dict(zip(across["stored"], across["ms"], strict=True))
    change = float(times["unlimited"]) / float(times["balanced"])
    way = "less" if change >= 1 else "more"
    return (
        "- **Name the chunks of a variable with an unlimited dimension.** The slowest "
        f"slab took, against the quickest, {unlimited} by default, and {hand} with balanced "
        "chunks; a slab across y in memory, which holds all of time, took "
        f"{max(change, 1 / change):.1f} times {way} time with them.\n\n"
        "  ```python\n"
        "  from hyperslab.storage.default_chunks import balanced_chunks\n"
        "  chunks = balanced_chunks((8760, 721, 1440), 4, 2**20)\n"
        '  nc.createVariable("t2m", "f4", ("time", "lat", "lon"), chunksizes=chunks, zlib=True)\n'
        "  ```\n"
        f"- **Never let short records chunk themselves.** `{small['case']}` gets chunks of "
        f"{small['useful_bytes']:,.0f} bytes, each with an entry in the index and a call to read "
        "it.\n"
        "- **Drop or merge dimensions of length one before you rely on the default**, or name the "
        f"chunks: the largest chunk here has {amount(picked['useful_bytes'].max(), 'B')}, and a "
        "compressed chunk is always read whole.\n"
        "- Ask before you write: `hyperslab.storage.default_chunks.default_chunks(shape, itemsize, "
        "unlimited)` says what the library will pick."
    )


def _slowest(records: pd.DataFrame, stored: str) -> str:
    """Return the slowest axis over the quickest, in each cache state that was measured."""
    said = [f"{spread(records, stored).value:.1f} times in memory"]
    if (records["cache_state"] == "cold").any():
        said.append(f"{spread(records, stored, 'cold').value:.1f} times from the disk")
    return " and ".join(said)


def _cut_to_one(case: str, chunks: str) -> bool:
    """Return whether a fixed axis is cut to single elements."""
    lengths = case.split()[1].split("x")
    pairs = zip(lengths, chunks.split("x"), strict=True)
    return any(n[0] != "*" and chunk == "1" for n, chunk in pairs)


def _touched(part: pd.DataFrame) -> str:
    counts = [
        f"{n:.0f} across {axis}" for n, axis in zip(part["touched"], part["axis"], strict=True)
    ]
    return f"{', '.join(counts)}"


def _fetched(timed: pd.DataFrame) -> str:
    """Return what read-ahead makes of reads that ask for equally much."""
    part = timed[(timed["cache_state"] == "cold") & (timed["stored"] == "balanced")]
    part = part.dropna(subset=["fetched"])
    if part.empty:
        return ""
    found = [
        f"{fetched / 1e6:.0f} MB across {axis} in {ms:.0f} ms"
        for fetched, axis, ms in zip(part["fetched"], part["axis"], part["ms"], strict=True)
    ]
    return (
        f"Cold, the {part['asked'].median() / 1e6:.0f} MB that each slab asks of balanced chunks "
        f"are not the same for the device: with its read-ahead it gave {', '.join(found)}. Chunks "
        "touched by a slab lie side by side in the file along some axes and apart along others, "
        "and what is read ahead between them is thrown away."
    )


def _times(value: float, of: float) -> str:
    return f"{value / of:.3g} times" if value != of else "exactly"


def _range(values: "pd.Series[float]") -> str:
    low, high = values.min(), values.max()
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def _interval(found: Interval) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
