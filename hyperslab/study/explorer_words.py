"""The sentences of the page that explores the results."""

from .explorer import Found


def summary(found: Found) -> str:
    """Return what the page holds."""
    rows = found.summaries
    return (
        f"{len(rows):,} phases of {rows[['experiment', 'case']].drop_duplicates().shape[0]:,} "
        f"cases, from {rows['page'].nunique()} pages."
    )


def choice(found: Found) -> str:
    """Return how the chart is read; empty where nothing of it was measured."""
    if found.choices.empty:
        return "No series and maps were measured in this run: `hyperslab run penard_local`."
    modelled = (found.choices["n"] == 0).any()
    star = (
        " A star and a hollow bar: by the model of {doc}`penard_link`, not timed."
        if modelled
        else ""
    )
    found_in = found.choices["data"].nunique()
    return (
        f"Time of one read, opening included, of {found_in} data sets, each with the chapter that "
        "measured it; files of two chapters differ, and their times do not compare. The quickest "
        "come first. A bar ends in its 95 % interval or, of fewer than six blocks, its range; "
        "one without either was timed once. The axis above the bars is logarithmic, a line for "
        "each power of ten. "
        f"Plain binary and buffers of {{doc}}`jones_netcdf` have no chunks and are there.{star}"
    )


def samples(found: Found) -> str:
    """Return how the table is read."""
    return (
        "Medians over blocks in milliseconds, and medians of counts; one not counted is empty. "
        "A click on a head sorts; the fields below the heads filter, the one above the table "
        "searches everything. *Columns* shows those that are hidden at first: *from* and *to*, "
        "which are intervals (ranges of fewer than six blocks), pages, codecs, counts."
    )
