"""The sentences of the page on the chunk cache, with their numbers from the records."""

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, paired_ratio
from ...text import comparison
from .cache import OWN_BYTES, fewer_than_ten, short_sizes
from .sweep_costs import row_bytes

MIB = 2**20


def summary(
    granted: pd.DataFrame,
    modelled: pd.DataFrame,
    edges: pd.DataFrame,
    swept: pd.DataFrame,
    sweeps: pd.DataFrame,
) -> str:
    """Return what was found.

    Parameters
    ----------
    granted, modelled, edges : pandas.DataFrame
        Records of the experiments "granted", "granted-model" and "edges".
    swept : pandas.DataFrame
        Records of the experiment "row-sweep".
    sweeps : pandas.DataFrame
        From `sweep_costs.counted`, of all experiments.
    """
    caches = granted["cache_bytes"]
    got = (
        f"Whatever the size of its chunks, a variable got {caches.iloc[0]:,.0f} bytes"
        if caches.nunique() == 1
        else f"A variable got {caches.min():,.0f} to {caches.max():,.0f} bytes"
    )
    agree = int((modelled["cache_bytes"] == modelled["predicted_bytes"]).sum())
    ratio = against(swept, "1MB", "64MB")
    return (
        f"**What we found.** {got}, in {len(granted)} sizes of {_range_mb(granted)} MB; the rule "
        f"as we read it gives the same in {agree}. That is less than the document promises in "
        f"{len(short_sizes(granted))} of them, and holds fewer than ten chunks in "
        f"{len(fewer_than_ten(granted))}. {_edge(edges, 'ten chunks', 'Ten chunks stay')} "
        f"{_edge(edges, 'one chunk', 'A single one stays')} Row by row, small deflated chunks "
        f"were read {comparison(ratio.value, 'slower', 'faster')} through 1 MB than through 64 MB. "
        f"{_predicted(sweeps)}"
    )


def caption_granted(granted: pd.DataFrame) -> str:
    """Return the caption of the caches granted."""
    return (
        "The chunk cache that a deflated variable gets when its file is opened, against the size "
        "of its chunks; what the document promises, and what the rule gives with the sizes that "
        f"three releases set in their source. Run {granted['run_id'].iloc[0]}."
    )


def own_default(own: pd.DataFrame) -> str:
    """Return what the library makes of a default that the program set itself.

    Parameters
    ----------
    own : pandas.DataFrame
        Records of the experiment "granted-own".
    """
    kept = int((own["cache_bytes"] == OWN_BYTES).sum())
    return (
        f"With a default of its own, {OWN_BYTES / MIB:.0f} MiB set with `nc_set_chunk_cache`, a "
        f"program got just that for {kept} of {len(own)} sizes, up to chunks of "
        f"{own['useful_bytes'].max() / 1e6:.0f} MB: who sets the default has to set it for the "
        "largest chunks."
    )


def table_edges(edges: pd.DataFrame) -> pd.DataFrame:
    """Return where the default cache stops holding chunks, as text."""
    rows = []
    for name, what in (("one chunk", "a single chunk"), ("ten chunks", "ten chunks in turn")):
        stays, fails = (_row(edges, f"{name}/{which}") for which in ("stays", "does not"))
        if stays.empty:
            continue
        agree = bool((stays["useful_bytes"] == stays["predicted_bytes"]).all())
        rows.append(
            {
                "read again": what,
                "largest chunk that stays, bytes": f"{stays['useful_bytes'].iloc[0]:,.0f}",
                "read calls": f"{stays['syscr'].iloc[0]:.0f}",
                "smallest that does not, bytes": f"{fails['useful_bytes'].iloc[0]:,.0f}",
                "read calls ": f"{fails['syscr'].iloc[0]:.0f}",
                "model": "the same" if agree else f"{stays['predicted_bytes'].iloc[0]:,.0f}",
            }
        )
    return pd.DataFrame(rows)


def caption_edges() -> str:
    """Return the caption of the edges."""
    return (
        "Where the default cache ends, to the byte: found by bisection over chunk sizes, counting "
        "the read calls that reading the chunks a second time took."
    )


def why(swept: pd.DataFrame) -> str:
    """Return what the caches that are too small have in common, and what a chunk costs.

    Parameters
    ----------
    swept : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "row-sweep".
    """
    row = row_bytes(swept)
    small, large = swept[swept["cache_bytes"] < row], swept[swept["cache_bytes"] >= row]
    counts = {name: part["fetched"].dropna() for name, part in (("s", small), ("l", large))}
    if any(part.empty for part in counts.values()):
        return ""
    one = counts["s"].nunique() == 1
    said = (
        f"the {len(small)} caches with less room all fetched {counts['s'].iloc[0]:,.0f} chunks: "
        "room for half a row saves nothing"
        if one
        else f"caches with less room fetched {counts['s'].min():,.0f} to {counts['s'].max():,.0f} "
        "chunks"
    )
    more = counts["s"].median() - counts["l"].median()
    each = (small["ms"].median() - large["ms"].median()) / more if more else float("nan")
    rest = large["ms"].median() - each * counts["l"].median()
    return (
        f"The chunks of a row take {row / MIB:g} MiB. Caches with room for it fetched "
        f"{counts['l'].median():,.0f} chunks, and {said}. By the medians of both groups a chunk "
        f"costs {each:.2f} ms"
        + (f", and the rest of a sweep {rest:.1f} ms whatever the cache." if rest > 0 else ".")
    )


def caption_sweep(swept: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the sweep over cache sizes."""
    first = swept.iloc[0]
    return (
        f"Reading {first['rows']} rows one by one, from deflated chunks of "
        f"{first['chunk_mib'] * 1024:.0f} KiB, through caches of several sizes: chunks fetched, "
        "counted by the bytes asked for and predicted by the model of the cache (left), and the "
        f"time with 95 % intervals of {swept['n'].max():.0f} interleaved blocks (right). The "
        f"document gives no times. Run {records['run_id'].iloc[0]}."
    )


def caption_sizes(swept: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the sweeps over chunk sizes."""
    return (
        f"Reading {swept['rows'].iloc[0]} rows of two chunks each, for chunks of "
        f"{swept['chunk_mib'].min():g} to {swept['chunk_mib'].max():g} MiB: chunks fetched (left) "
        "and time with 95 % intervals (right), through the library's own cache and through one of "
        f"the size of both chunks. Run {records['run_id'].iloc[0]}."
    )


def slots(rows: pd.DataFrame) -> str:
    """Return what too few slots cost.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "slots".
    """
    rows, lines = rows[rows["status"] == "ok"], []
    if rows.empty:
        return ""
    agree = int((rows["syscr"] == rows["predicted_reads"]).sum())
    plain = rows[rows["case"].str.startswith("default/")]
    for row in plain.to_dict("records"):
        across = str(row["case"]).split("/")[1]
        lines.append(f"{count(float(row['syscr']))} of {int(across):,}")
    more = rows[rows["case"].str.startswith("more slots/")]["syscr"].sum()
    return (
        "**Slots run out as well.** The cache is a hash table, and two chunks that share a slot "
        "drive each other out, however much room there is. Of rows of tiny chunks, which fill less "
        f"than {100 * rows['useful_bytes'].max() / rows['cache_bytes'].min():.2g} % of the cache, "
        f"a second row fetched again {', '.join(lines)} chunks; with 10,007 slots "
        f"{count(more)} in all. The model has the same number in {agree} of {len(rows)} cases. "
        "Where a row touches more chunks than there are slots, raise `nelems` (h5py: "
        "`rdcc_nslots`) with the size."
    )


def against(records: pd.DataFrame, of: str, to: str) -> Interval:
    """Return the time of one sweep over another's, paired by block."""
    part = main(records)
    part = part[part["phase"] == "read"]
    table = part.pivot_table(index="block", columns="case", values="wall_s")[[of, to]].dropna()
    return paired_ratio(table[of].to_numpy(), table[to].to_numpy())


def _predicted(swept: pd.DataFrame) -> str:
    known = swept.dropna(subset=["fetched"])
    if known.empty:
        return "Chunks fetched could not be counted on this system."
    agree = int((known["fetched"] == known["predicted"]).sum())
    return (
        "How many chunks a sweep fetches and inflates was predicted to the chunk in "
        f"{agree} of {len(known)} sweeps."
    )


def _edge(edges: pd.DataFrame, name: str, what: str) -> str:
    found = _row(edges, f"{name}/stays")
    return "" if found.empty else f"{what} up to {found['useful_bytes'].iloc[0]:,.0f} bytes each."


def _row(edges: pd.DataFrame, case: str) -> pd.DataFrame:
    return edges[(edges["case"] == case) & (edges["status"] == "ok")]


def _range_mb(granted: pd.DataFrame) -> str:
    sizes = granted["useful_bytes"] / 1e6
    return f"{sizes.min():g} to {sizes.max():g}"


def count(value: float) -> str:
    """Return a count as text, also where nothing could be counted.

    Examples
    --------
    >>> count(1024.0), count(float("nan"))
    ('1,024', 'an unknown number of')
    """
    return "an unknown number of" if value != value else f"{value:,.0f}"


def interval(found: Interval) -> str:
    """Return an estimate with its interval as text."""
    return f"{found.value:.1f} [{found.low:.1f}, {found.high:.1f}]"
