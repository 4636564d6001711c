"""The sentences on strided selections, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from ...text import amount, listing, number
from .hyperslabs_samples import ITEMSIZE
from .hyperslabs_ways import WAYS
from .rate_words import against
from .strided import INDICES, PATTERNS, compares_as_text, over


def found(timed: pd.DataFrame, pieces: pd.DataFrame) -> str:
    """Return what strided selections took, and why.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `strided.times`.
    pieces : pandas.DataFrame
        Records of the experiment "pieces".
    """
    default, broken = (_ratio(timed, way, "both") for way in ("python-plain", "python-pieces"))
    ours = _one(timed, "python-plain", "contiguous", "both")
    slow = _one(timed, "python-pieces", "contiguous", "both")
    text = (
        f"Every tenth element of every tenth row, `{INDICES['both']}`, took netCDF4-python "
        f"{_ms(ours)} by default and {_ms(slow)} with `use_nc_get_vars(False)`"
    )
    if default and broken:
        text += (
            f": by rate the first was {against(default, '`nc_get_vars` from C')}, and the second "
            f"{against(broken, 'it')}"
        )
    return f"{text}.\n\n{_located(timed, pieces)}\n\n{_versions(pieces)}"


def _located(timed: pd.DataFrame, pieces: pd.DataFrame) -> str:
    calls = pieces.set_index(["case", "phase", "pattern"])["stages"]
    each = listing(
        [
            f"{calls['python-pieces', 'read', p]:,.0f} for `{INDICES[p]}`"
            for p in PATTERNS
            if p != "both"
        ]
    )
    many = calls["python-pieces", "read", "both"]
    slow = _one(timed, "python-pieces", "contiguous", "both")
    column = _one(timed, "python-pieces", "contiguous", "columns")
    fast = _one(timed, "python-vars", "contiguous", "columns")
    together = _one(timed, "python-vars", "contiguous", "both")
    apart = 1e-3 * slow["ms"] / many
    text = (
        "**Located.** Counted in the library, the first is "
        f"{calls['python-plain', 'read', 'both']:,.0f} call of netCDF-C and the second "
        f"{many:,.0f}, one for each element ({each}), of {amount(apart, 's')} each; in one call "
        f"the same elements take {_element(together)} each. The two apart by a factor of thousands "
        f"would need elements of less than {amount(apart / 1000, 's')} in one call. "
        f"`{INDICES['columns']}` takes {_element(fast)} an element, but that is taken apart into "
        f"{calls['python-pieces', 'read', 'columns']:,.0f} calls only. Written, "
        "`v[::10, ::10] = …` "
        f"is {calls['python-plain', 'write', 'both']:,.0f} and "
        f"{calls['python-pieces', 'write', 'both']:,.0f} calls."
    )
    if column["rchar"] > 2 * fast["rchar"]:
        text += (
            f" The pieces of `{INDICES['columns']}` are columns, and each passes the file through "
            f"HDF5's sieve buffer again: {column['syscr']:,.0f} read calls and "
            f"{amount(column['rchar'], 'B')}, against {fast['syscr']:,.0f} and "
            f"{amount(fast['rchar'], 'B')}."
        )
    return text


def _versions(pieces: pd.DataFrame) -> str:
    text = (
        "The pieces date from a time when `nc_get_vars` was slower than that "
        "([issue 680](https://github.com/Unidata/netcdf4-python/issues/680)); from netCDF-C 4.6.2 "
        "on it hands the steps to HDF5, and netCDF4-python uses it (for writes since "
        "[issue 1222](https://github.com/Unidata/netcdf4-python/issues/1222)). But netCDF4-python "
        '1.7.5 compares versions as text, and `"4.10.1" >= "4.6.2"` is false letter by letter: '
        "with the netCDF-C 4.10.1 in its wheel it takes every strided selection apart again. "
        "Release 1.7.5.1 compares them as versions."
    )
    version = _version(pieces)
    if not version:
        return text
    rule = "makes one call" if not compares_as_text(version) else "takes the selection apart"
    return f"{text} The netCDF-C here is {version}, with which the comparison as text {rule}."


def chunked(timed: pd.DataFrame) -> str:
    """Return what a chunk that does not fit the cache does; empty where it fits all caches."""
    part = timed[(timed["layout"] == "chunked") & (timed["pattern"] == "columns")]
    part = part[part["syscr"].notna()].sort_values("syscr")
    if part.empty or part.iloc[-1]["syscr"] < 2 * part.iloc[0]["syscr"]:
        return ""
    least, most = part.iloc[0], part.iloc[-1]
    return (
        "In one chunk it matters whether that fits the chunk cache; where it does not, HDF5 moves "
        "the elements one by one. "
        f"`{INDICES['columns']}` took {WAYS[least['way']].label} {least['syscr']:,.0f} read calls "
        f"and {_ms(least)} with a cache of {amount(least['cache_bytes'], 'B')}, and "
        f"{WAYS[most['way']].label} {most['syscr']:,.0f} calls and {_ms(most)} with "
        f"{amount(most['cache_bytes'], 'B')}."
    )


def caption(timed: pd.DataFrame, side: int) -> str:
    """Return the caption of the times."""
    return (
        f"Time of three strided selections of {side:,} × {side:,} integers, warm: medians with "
        f"95 % intervals of {timed['n'].max():.0f} interleaved blocks. netCDF4-python without "
        "masking. The document has no strided selections."
    )


def advice(timed: pd.DataFrame) -> str:
    """Return what to do today with strided selections."""
    gain = over(timed, "python-vars", "python-pieces", "both")
    lines = [
        "- **Strided selections:** `v.use_nc_get_vars(True)` before `v[::10, ::10]`. It "
        "changes nothing where it is the default, and where it is not "
        f"(netCDF4-python 1.7.5) they are {against(gain, 'without')}.",
    ]
    whole = over(timed, "python-whole", "python-plain", "columns")
    lines.append(
        "- Reading everything and stepping in memory, `v[:][:, ::10]`, was "
        f"{against(whole, '`v[:, ::10]`')} with contiguous storage"
        + (": worth a try where the whole fits memory." if whole.high < 1 else ".")
    )
    return "\n".join(
        [
            *lines,
            "- **In h5py give the file a chunk cache that holds a chunk,** "
            "`h5py.File(path, rdcc_nbytes=2**26)`: an uncompressed chunk beyond it is read element "
            "by element.",
        ]
    )


def _one(timed: pd.DataFrame, way: str, layout: str, pattern: str) -> "pd.Series[float]":
    chosen = (timed["way"] == way) & (timed["layout"] == layout) & (timed["pattern"] == pattern)
    return timed[chosen].iloc[0]


def _ratio(timed: pd.DataFrame, way: str, pattern: str) -> Interval | None:
    value = _one(timed, way, "contiguous", pattern)["slower"]
    return value if isinstance(value, Interval) else None


def _element(row: "pd.Series[float]") -> str:
    return amount(1e-3 * row["ms"] * ITEMSIZE / row["useful_bytes"], "s")


def _ms(row: "pd.Series[float]") -> str:
    return f"{number(row['ms'])} ms [{number(row['low'])}, {number(row['high'])}]"


def _version(pieces: pd.DataFrame) -> str:
    """Give the version of netCDF-C, as `pieces` keeps it; empty where it is not kept."""
    return str(pieces["library_version"].iloc[0]).partition("netCDF-C ")[2].partition(")")[0]
