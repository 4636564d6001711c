"""What can write in parallel where a page was measured, and how to get the rest."""

import pandas as pd

from .results import NAMES, rows_of


def missing(seen: pd.DataFrame) -> str:
    """Return one line on what is missing and what installs it, "" when nothing is.

    Parameters
    ----------
    seen : pandas.DataFrame
        The experiment "here".

    Examples
    --------
    >>> rows = [("hdf5", "no MPI compiler (mpicc)"), ("mpiio", ""), ("install", "apt-get …")]
    >>> missing(pd.DataFrame(rows, columns=["case", "note"]))
    'Left out here: HDF5 (no MPI compiler (mpicc)). To have it: apt-get …; then run again ...'
    """
    gone = seen[seen["case"].isin(NAMES) & (seen["note"] != "")]
    if gone.empty:
        return ""
    why = "; ".join(f"{NAMES[row['case']]} ({row['note']})" for row in rows_of(gone))
    command = seen.loc[seen["case"] == "install", "note"].iloc[0]
    return (
        f"Left out here: {why}. To have it: {command}; then run again with "
        "`hyperslab run chilan_patterns chilan_flash --again`."
    )


def made_with(requests: pd.DataFrame) -> str:
    """Return the versions that were counted, "" when nothing was."""
    said = dict.fromkeys(v.replace(" v", " ") for v in requests["library_version"] if v)
    return f"Made with {'; '.join(said)}." if said else ""
