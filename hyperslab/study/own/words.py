"""What the page on advice says, from its records."""

from __future__ import annotations

import pandas as pd

PREDICTED, ADVISED, CANDIDATE, LEFT = "predicted", "advised", "candidate", "left"
WITHIN, SHARE = 1.1, 0.9


def options(
    path: str,
    access: str,
    variable: str,
    workdir: object,
    settings: tuple[int, int, int, int],
    formats: str = "",
) -> list[str]:
    """Return the words after `hyperslab advise` for a notebook's parameters.

    Parameters
    ----------
    path, access, variable
        The file, its accesses with their shares (empty for the usual), its variable (the largest).
    workdir
        Where samples are made.
    settings
        Layouts measured, blocks, MiB of the sample, seed.
    formats
        Of new layouts; the usual ones if empty.

    Examples
    --------
    >>> options("a.nc", "map=1", "", "build", (2, 3, 8, 0))[-2:]
    ['--access', 'map=1']
    """
    measured, blocks, sample, seed = settings
    found = [path, "--workdir", str(workdir), "--measure", str(measured)]
    found += ["--repeats", str(blocks), "--sample", f"{sample}MiB", "--seed", str(seed)]
    found += ["--formats", formats] if formats else []
    found += ["--variable", variable] if variable else []
    return [*found, "--access", access] if access else found


def verdict(frame: pd.DataFrame) -> str:
    """Say how often the first advice was the best or nearly so, and how often a prediction was."""
    said = []
    for mode, what in ((ADVISED, "the first advice"), (PREDICTED, "what was predicted to be best")):
        rows = ranked(frame, mode)
        if rows.empty:
            said.append(f"Of no pair {what} was measured.")
            continue
        good = int(((rows["rank"] == 1) | (rows["weight"] <= WITHIN)).sum())
        first = int((rows["rank"] == 1).sum())
        pairs = "1 pair" if len(rows) == 1 else f"{len(rows)} pairs"
        said.append(
            f"Of {pairs} of a file and its reads {what} was the best of all that were measured in "
            f"{first}, and the best or within {WITHIN - 1:.0%} of it in {good} "
            f"({good / len(rows):.0%})."
        )
    rows = ranked(frame, ADVISED)
    if len(rows):
        share = float(((rows["rank"] == 1) | (rows["weight"] <= WITHIN)).mean())
        word = "is reached" if share >= SHARE else "is missed"
        said.append(f"The aim, {SHARE:.0%} of the pairs, {word}.")
    return " ".join(said)


def judged(frame: pd.DataFrame, screened: int, near: float) -> str:
    """Say among how many candidates a rank is, which were left, and which were left early.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of the evaluation.
    screened
        Blocks after which only some are measured on.
    near
        How many times as long as the quickest a candidate may take to be measured on.
    """
    tried, left = (frame[frame["mode"] == mode] for mode in (CANDIDATE, LEFT))
    if tried.empty:
        return "No candidate was measured."
    lost = left[left["note"] != ""]
    every = len(tried) + len(left)
    said = [
        f"A rank is among the candidates of a pair that were measured, {_each(tried)}. New layouts "
        "are of the file's own format here, netCDF-4 for classic files."
    ]
    if len(left) > len(lost):
        said.append(
            f"Of all {every:,} candidates of these pairs {len(left) - len(lost):,} were not "
            "measured: the layouts, and the remedies, that were predicted to be slowest. Whether "
            "one of them is quicker is not known."
        )
    else:
        said.append(f"These are all {every - len(lost):,} that there are.")
    if len(lost):
        said.append(f"{len(lost):,} could not be measured.")
    blocks = tried["tried"].max()
    if blocks <= screened:
        said.append(f"Each was measured in {_blocks(blocks)}.")
    else:
        further = int((tried["tried"] > screened).sum())
        said.append(
            f"After {_blocks(screened)} only those went on to {_blocks(blocks)}, and the file as "
            f"it is, whose quickest reads took no more than {near:g} times as long as the quickest "
            f"of all: {further:,} of {len(tried):,}. The others rank behind them."
        )
    return " ".join(said)


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each pair: the first advice, its gain predicted and measured, its rank."""
    rows = ranked(frame, ADVISED)
    interval = [
        f"{gain:.2f} × ({low:.2f} to {high:.2f})" if low < high else f"{gain:.2f} ×"
        for gain, low, high in zip(rows["gain"], rows["gain_low"], rows["gain_high"], strict=True)
    ]
    return pd.DataFrame(
        {
            "file and reads": rows["case"],
            "advice": rows["hints"],
            "gain predicted": [f"{gain:.2f} ×" for gain in rows["gain_predicted"]],
            "gain measured": interval,
            "rank": [
                f"{rank:.0f} of {tried:.0f}"
                for rank, tried in zip(rows["rank"], rows["tried"], strict=True)
            ],
            "time over the best": [f"{off:.2f} ×" for off in rows["weight"]],
        }
    )


def unasked(frame: pd.DataFrame) -> str:
    """Say which pairs there is no answer for, and why; nothing when there are none."""
    rows = frame[frame["mode"].isin([ADVISED, PREDICTED]) & frame["rank"].isna()]
    lines = [f"- {case}: {why}" for case, why in zip(rows["case"], rows["hints"], strict=True)]
    return "\n".join(["Without an answer:", "", *dict.fromkeys(lines)]) if lines else ""


def ranked(frame: pd.DataFrame, mode: str) -> pd.DataFrame:
    """Return the pairs of which the choice of a mode was measured."""
    return frame[(frame["mode"] == mode) & frame["rank"].notna()]


def _each(tried: pd.DataFrame) -> str:
    counts = tried.groupby("case").size()
    few, most = int(counts.min()), int(counts.max())
    return f"{few} of each" if few == most else f"{few} to {most} of each"


def _blocks(count: float) -> str:
    return "1 block" if count == 1 else f"{count:.0f} blocks"
