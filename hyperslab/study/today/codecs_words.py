"""The sentences of the page on codecs, with their numbers from the records."""

from __future__ import annotations

import math

import pandas as pd

from ...measure.stats import Interval
from ...text import comparison, number, spread
from .codecs import REFERENCE
from .codecs_figures import TITLES
from .codecs_files import FIELDS
from .codecs_results import NAMES, best, gain, one, smallest
from .fidelity import KEPT


def summary(found: pd.DataFrame, rounded: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    found : pandas.DataFrame
        From `codecs_results.table`.
    rounded : pandas.DataFrame
        From `codecs_results.rounding`.
    """
    said = []
    for field in FIELDS:
        quick = best(found, field, "map")
        small = smallest(found, field)
        how = "just that"
        if quick != REFERENCE:
            how = f"{NAMES[quick]}, {_told(gain(found, field, quick, 'map'))}, in a file "
            how += _size(found, field, quick, REFERENCE)
        said.append(
            f"Of what is compressed, a map of the {TITLES[field]} was read fastest from {how}; the "
            f"smallest file, by {NAMES[small]}, was {_size(found, field, small, REFERENCE)}."
        )
    ten = " and ".join(
        f"{_size(found, field, 'bitround-10', REFERENCE)} ({TITLES[field]})" for field in FIELDS
    )
    kept = " and ".join(_kept(rounded, field, "bitround-10") for field in FIELDS)
    return (
        f"**What we found.** Against {NAMES[REFERENCE]}, which most netCDF files have: "
        f"{' '.join(said)} Rounded to 10 bits the files were {ten}, with a largest error of "
        f"{_percent(rounded['relative'][rounded['codec'] == 'bitround-10'].max())} of a value, "
        f"{kept}."
    )


def caption_sizes(found: pd.DataFrame) -> str:
    """Return the caption of the figure of sizes and times."""
    return (
        "Left: bytes of the values over those of the file, to the right is smaller. Middle and "
        "right: time of a map and of a series, opening included, warm; medians with "
        f"{spread(found['n'].max(), found['n'].min())}. All lossless ones above, those that "
        "round below; of these the first five go on with shuffle and deflate 1."
    )


def caption_coherence() -> str:
    """Return the caption of the figure of coherence."""
    return (
        "How much of each wavelength rounding loses: one minus the squared coherence of the "
        f"rounded field with the original. Below the dotted line ({KEPT:.0%} kept) a wavelength "
        "counts as kept. To the right are the small scales."
    )


def why(found: pd.DataFrame) -> str:
    """Return what the counts say of where the time goes."""
    lines = []
    for field in FIELDS:
        quick, zarr = best(found, field, "map"), best(found, field, "map", library="zarr-")
        others = [
            f"{_cpu(found, field, codec)} from {NAMES[codec]}"
            for codec in (quick, zarr)
            if codec != REFERENCE
        ]
        lines.append(
            f"- {TITLES[field]}: a map takes {_cpu(found, field, REFERENCE)} ms of CPU time from "
            f"{NAMES[REFERENCE]}, {', '.join(others)}, and {_cpu(found, field, 'none')} "
            "uncompressed."
        )
    lossless = found[~found["lossy"]]
    spread = lossless.groupby("field")["ratio"].agg(["min", "max"])
    ends = ", ".join(
        f"{row['min']:.2f} to {row['max']:.2f} ({TITLES[str(field)]})"
        for field, row in spread.iterrows()
    )
    return (
        "Time warm is CPU time, and that is decompressing:\n\n" + "\n".join(lines) + "\n\n"
        f"No lossless codec makes much of the last bits of a measured or modelled value: ratios go "
        f"from {ends}. Rounding makes those bits zeros, which every codec packs."
    )


def rows(found: pd.DataFrame) -> pd.DataFrame:
    """Return sizes and times as text, a line for a codec."""
    lines = []
    for codec, name in NAMES.items():
        line = {"codec": name}
        for field in FIELDS:
            row, title = one(found, field, codec), TITLES[field]
            line |= {
                f"{title}: ratio": f"{row['ratio']:.2f}",
                f"{title}: map, ms": f"{row['map_ms']:.1f}",
                f"{title}: series, ms": f"{row['series_ms']:.1f}",
                f"{title}: writing, CPU s": f"{row['write_s']:.2f}",
            }
        lines.append(line)
    return pd.DataFrame(lines)


def rows_counts(counted: pd.DataFrame) -> pd.DataFrame:
    """Return bytes and requests of both reads as text, a line for a codec.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `codecs_results.counts`.
    """
    known = {
        (row["codec"], row["field"], row["pattern"]): (row["nbytes"], row["requests"])
        for row in counted.to_dict("records")
    }
    lines = []
    for codec, name in NAMES.items():
        line = {"codec": name}
        for field in FIELDS:
            for pattern in ("map", "series"):
                nbytes, requests = known.get((codec, field, pattern), (math.nan, math.nan))
                head = f"{TITLES[field]}: {pattern}"
                line[f"{head}, kB"] = "-" if math.isnan(nbytes) else f"{nbytes / 1e3:,.0f}"
                line[f"{head}, requests"] = "-" if math.isnan(requests) else f"{requests:.0f}"
        lines.append(line)
    return pd.DataFrame(lines)


def rows_rounding(found: pd.DataFrame, rounded: pd.DataFrame) -> pd.DataFrame:
    """Return what rounding left as text."""
    lines = []
    for row in rounded.to_dict("records"):
        field, codec = str(row["field"]), str(row["codec"])
        lines.append(
            {
                "field": TITLES[field],
                "rounding": NAMES[codec],
                "ratio": f"{one(found, field, codec)['ratio']:.2f}",
                "largest error": number(float(row["error"]), 2),
                "of the value": _percent(float(row["relative"])),
                "values changed": f"{row['changed']:.0%}",
                "lowest coherence": f"{row['lowest']:.6f}",
                "kept": _scale(float(row["kept"]), float(row["shortest"])),
                "correlation of spectra": f"{row['spectra']:.6f}",
            }
        )
    return pd.DataFrame(lines)


def advice(found: pd.DataFrame, rounded: pd.DataFrame) -> str:
    """Return what to do today."""
    lines = []
    for field in FIELDS:
        quick = best(found, field, "map")
        ratio = gain(found, field, quick, "map")
        if ratio.low > 1:
            plugin = not quick.endswith(("deflate-1", "deflate-4"))
            needs = " Readers need the plugin, which netCDF4-python's wheels bring." * plugin
            lines.append(
                f"- **{TITLES[field].capitalize()}, exactly: {NAMES[quick]}.** Maps "
                f"{comparison(ratio, 'faster', 'slower')} than from {NAMES[REFERENCE]}, in a file "
                f"{_size(found, field, quick, REFERENCE)}.{needs}"
            )
        else:
            lines.append(
                f"- **{TITLES[field].capitalize()}, exactly: {NAMES[REFERENCE]} will do.** No "
                "codec was told apart as faster."
            )
    kept = ", ".join(_kept(rounded, field, "bitround-10") for field in FIELDS)
    lines.append(
        "- **Round what was never measured so finely.** Ten bits make an error of at most "
        f"{_percent(2.0**-11)} of a value: {kept}. Choose the bits by the error that the values "
        "have anyway, and say it in the file; netCDF notes algorithm and bits by itself."
    )
    return (
        "## What to do today\n\n"
        "```python\n"
        "import netCDF4\n"
        'file.createVariable("t", "f4", dims, chunksizes=chunks, compression="blosc_zstd")\n'
        'file.createVariable("t", "f4", dims, chunksizes=chunks, zlib=True, shuffle=True,\n'
        '                    significant_digits=10, quantize_mode="BitRound")  # bits\n'
        "```\n\n" + "\n".join(lines)
    )


def _cpu(found: pd.DataFrame, field: str, codec: str) -> str:
    return f"{one(found, field, codec)['map_cpu_ms']:.1f}"


def _told(ratio: Interval) -> str:
    if ratio.contains(1.0):
        return f"not told apart from it [{ratio.low:.2f}, {ratio.high:.2f}]"
    return comparison(ratio, "faster", "slower")


def _size(found: pd.DataFrame, field: str, codec: str, of: str) -> str:
    """Return how a file compares in size with another's."""
    ratio = one(found, field, of)["ratio"] / one(found, field, codec)["ratio"]
    if round(ratio, 2) == 1:
        return "of the same size"
    return f"{abs(1 - ratio):.0%} {'smaller' if ratio < 1 else 'larger'}"


def _kept(rounded: pd.DataFrame, field: str, codec: str) -> str:
    row = rounded[(rounded["field"] == field) & (rounded["codec"] == codec)].iloc[0]
    return f"{TITLES[field]} kept {_scale(float(row['kept']), float(row['shortest']))}"


def _scale(wavelength: float, shortest: float) -> str:
    """Return down to which wavelength a field is kept, in words.

    Examples
    --------
    >>> _scale(8.04, 2.6), _scale(math.inf, 2.6), _scale(2.6, 2.6)
    ('down to 8 grid lengths', 'at no wavelength', 'at all wavelengths')
    """
    if math.isinf(wavelength):
        return "at no wavelength"
    if wavelength <= shortest:
        return "at all wavelengths"
    return f"down to {wavelength:.2g} grid lengths"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
