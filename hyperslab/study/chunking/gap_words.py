"""The sentences on the gap in which a chunk cache is not enlarged, and on chunks beyond any."""

import pandas as pd

from ...storage.chunk_cache import RULES, promised_bytes
from .cache_words import MIB, against, count, interval


def gap() -> str:
    """Return what netCDF-C's issue 1757 is about, from the rules in its source."""
    first, later = (RULES[release].short() for release in ("4.6.2", "4.7.4"))
    assert first is not None and later is not None
    return (
        "netCDF-C enlarges a cache only when not even one chunk fits into it, and only a default "
        "that the program has left alone. So there is a gap: chunks too small for the "
        "enlargement, of which the default does not hold ten. With the sizes of the document's "
        f"release it lies from {first[0]:,} to {first[1]:,} bytes; there its promise was not "
        f"kept. The default of 4.7.4 moved it to {later[0]:,} to {later[1]:,} bytes, where "
        "chunks of maps and images are, and users reported slow slices ({cite:t}`netcdf1757`)."
    )


def table_gap(swept: pd.DataFrame) -> pd.DataFrame:
    """Return the gap of three releases and a sweep within it, as text.

    Parameters
    ----------
    swept : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "gap".
    """
    rows = []
    for release, rule in RULES.items():
        short, case = rule.short(), swept[swept["case"] == f"as {release}"].iloc[0]
        rows.append(
            {
                "rule of": release,
                "default, MiB": f"{rule.default_bytes / MIB:.0f}",
                "gap, bytes": f"{short[0]:,} to {short[1]:,}" if short else "none",
                "cache, MiB": f"{case['cache_bytes'] / MIB:.0f}",
                "chunks fetched": count(case["fetched"]),
                "time, ms": _time(case),
            }
        )
    return pd.DataFrame(rows)


def caption_gap(swept: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the gap."""
    case = swept[swept["case"] == f"as {next(iter(RULES))}"].iloc[0]
    return (
        "The gap in which chunks get a smaller cache than the document promises, with the sizes "
        f"that three releases set in their source; and what {case['rows']} rows of four chunks of "
        f"{case['chunk_mib']:.0f} MiB cost today's library through the cache that each rule "
        f"gives them. Run {records['run_id'].iloc[0]}."
    )


def beyond(swept: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return what chunks cost that the default cache cannot hold.

    Parameters
    ----------
    swept : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "gap".
    records : pandas.DataFrame
        Records of that experiment.
    """
    default, fitting = (swept[swept["case"] == name].iloc[0] for name in ("default", "fitting"))
    ratio = against(records, "default", "fitting")
    size = MIB * default["chunk_mib"]
    promise = (
        f"The document's promise, {promised_bytes(int(size)):,} bytes, would not hold one either. "
        if promised_bytes(int(size)) < size
        else ""
    )
    return (
        f"**Beyond any default.** A chunk of {default['chunk_mib']:.2f} MiB is more than the "
        f"{default['cache_bytes'] / MIB:.0f} MiB that the library gives. {promise}"
        f"{default['rows']} rows took {default['ms']:.0f} ms, and {fitting['ms']:.0f} ms through a "
        f"cache of the size of one chunk: {interval(ratio)} times. The count says why: "
        f"{count(default['fetched'])} chunks fetched and inflated against "
        f"{count(fitting['fetched'])}. A chunk that does not fit is inflated again for every row."
    )


def _time(case: "pd.Series[float]") -> str:
    return f"{case['ms']:.0f} [{case['low']:.0f}, {case['high']:.0f}]"
