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
    return (
        "Time of one read of the chapter on series and maps, opening included, the quickest "
        "first, with 95 % intervals or, of fewer than six blocks, ranges. The axis above the bars "
        f"is logarithmic, a line for each power of ten.{star}"
    )


def samples(found: Found) -> str:
    """Return how the table is read."""
    return (
        "Medians over blocks in milliseconds, with intervals (ranges of fewer than six blocks), "
        "and medians of counts; empty is what was not counted. A click on a head sorts; the fields "
        "below the columns filter, and the one above the table searches everything."
    )
