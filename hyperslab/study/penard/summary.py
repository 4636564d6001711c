"""What the experiments on Penard et al. (2025) found, side by side: Table 3, and what to do."""

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ...analysis import cost
from ...measure.records import load
from ..profile import check_profile, root
from .link_model import links, named, table
from .summary_seconds import EXPERIMENTS, delay_of, seconds


@dataclass(frozen=True)
class Summary:
    """The records of the three pages.

    Parameters
    ----------
    profile : str
    results : Path
        Where figures go.
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    missing : tuple of str
        Pages that were not measured.
    others : mapping
        Pages whose records are of another profile, and which.
    off : float
        How far the model of the links is from what was timed over them, at most, as a share of
        that; nan where nothing was.
    notebook : str
        Its own name.
    """

    profile: str
    results: Path
    seconds: pd.DataFrame
    missing: tuple[str, ...]
    others: dict[str, str]
    off: float
    notebook: str = "penard_summary"


def drawn(*, profile: str = "quick", workdir: str = "build/adhoc", records: str = "") -> Summary:
    """Read the records of the pages on local files, the link and S3: those that there are.

    Parameters
    ----------
    profile : str
        smoke, quick, full or paper.
    workdir : str
        Where results are; relative to the repository.
    records : str
        A folder of records; empty for the results of the profile.

    Raises
    ------
    FileNotFoundError
        When none of the pages was measured.
    """
    check_profile(profile)
    results = (root() / workdir).resolve() / "results" / profile
    folder = (root() / records).resolve() if records else results
    found, missing, others = {}, [], {}
    for where, (notebook, _) in EXPERIMENTS.items():
        path = folder / f"{notebook}.parquet"
        if not path.exists():
            missing.append(notebook)
            continue
        found[where] = named(load(path))
        of = set(found[where]["profile"]) - {profile}
        if of:
            others[notebook] = " and ".join(sorted(map(str, of)))
    if not found:
        load(folder / f"{missing[0]}.parquet")  # which says what to do
    off = _off(found["link"]) if "link" in found else float("nan")
    return Summary(profile, results, seconds(found), tuple(missing), others, off)


def _off(records: pd.DataFrame) -> float:
    delay_s = delay_of(records)
    known = links(delay_s)
    plain = records["experiment"] == "carried"
    carried = cost.rate(records[plain], 2 * delay_s)  # a connection and a request
    known["delay"] = replace(known["delay"], bytes_per_s=carried)
    timed = table(known, records[records["link"].isin(list(known)) & ~plain])
    return float(timed["error"].abs().max())
