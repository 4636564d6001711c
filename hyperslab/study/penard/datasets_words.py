"""The sentences of the page on the synthetic datasets, with their numbers from the records."""

import pandas as pd

from .datasets import FRAMES, REAL_GAIN, compressed, gains, sized

LONG = {"cmems": "ocean", "gfs": "temperature"}
FILES = {
    "off": "netCDF-4, shuffle off",
    "on": "netCDF-4, shuffle on",
    "zarr": "Zarr",
    "nczarr-zip": "NCZarr, zipped",
    "nczarr": "NCZarr",
}


def summary(files: pd.DataFrame, tiles: pd.DataFrame, all_levels: pd.DataFrame) -> str:
    """Return how well the synthetic data stands in, in a few sentences.

    Parameters
    ----------
    files, tiles, all_levels : pandas.DataFrame
        Records of the experiments "table1", "table5" and "levels".
    """
    table, ratios, gained = sized(files), compressed(tiles), gains(all_levels)
    worst = table.iloc[int(table["off"].abs().argmax())]
    apart = ratios.iloc[int(ratios["off"].abs().argmax())]
    best = gained[gained["level"] == 9]["gain"]
    low, high = REAL_GAIN
    return (
        "**How well they stand in.** Of the ten files of {cite:t}`penard2025`'s Table 1, ours "
        f"differ by at most {100 * abs(worst['off']):.1f} % ({LONG[worst['name']]}, "
        f"{FILES[worst['kind']]}: {worst['here']:.0f} MiB for {worst['document']:.0f}). The three "
        f"radar tiles compress {_listed(ratios['here'])} times, where {{cite:t}}`lee2008` has "
        f"{_listed(ratios['document'], 0)}; the worst, {apart['tile']}, is off by "
        f"{100 * abs(apart['off']):.1f} %. Level 9 of deflate makes them {100 * best.min():.0f} to "
        f"{100 * best.max():.0f} % smaller than level 1; real radar gains {100 * low:.0f} to "
        f"{100 * high:.0f} %." + written(files)
    )


def written(files: pd.DataFrame) -> str:
    """Return how many frames were written, where that was not all of them."""
    frames = {
        name: int(files.loc[files["case"] == f"{name}/off", "stages"].iloc[0]) for name in FRAMES
    }
    if frames == FRAMES:
        return ""
    parts = [
        f"{count} of the {FRAMES[name]} frames of the {LONG[name]} file"
        for name, count in frames.items()
        if count < FRAMES[name]
    ]
    toy = " Its temperature and radar grids are toys besides, which compress otherwise."
    return (
        f" This run wrote {' and '.join(parts)} and scaled the sizes to all of them: a frame is "
        "as large as any other to a few parts in a thousand."
        + (toy if str(files["profile"].iloc[0]) == "smoke" else "")
    )


def table_1(files: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1 for the page."""
    rows = [
        {
            "dataset": LONG[row["name"]],
            "file": FILES[row["kind"]],
            "document, MiB": f"{row['document']:.0f}",
            "here, MiB": f"{row['here']:.1f}",
            "difference": _signed(row["off"]),
            "frames written": f"{row['stages']:.0f}",
        }
        for row in sized(files).to_dict("records")
    ]
    return pd.DataFrame(rows)


def table_5(tiles: pd.DataFrame, all_levels: pd.DataFrame) -> pd.DataFrame:
    """Return Table 5 for the page, with the gain of level 9."""
    gained = gains(all_levels)
    last = gained[gained["level"] == 9]
    top = dict(zip(last["tile"], last["gain"], strict=True))
    rows = [
        {
            "tile": row["tile"],
            "document, ratio": f"{row['document']:.0f}",
            "here, ratio": f"{row['here']:.2f}",
            "difference": _signed(row["off"]),
            "smaller at level 9": f"{100 * top[row['tile']]:.1f} %",
        }
        for row in compressed(tiles).to_dict("records")
    ]
    return pd.DataFrame(rows)


def shuffled(files: pd.DataFrame) -> str:
    """Return what shuffle does to the sizes."""
    rows = sized(files).to_dict("records")
    here = {(row["name"], row["kind"]): row["here"] for row in rows}
    there = {(row["name"], row["kind"]): row["document"] for row in rows}
    parts = [
        f"the {word} file with shuffle is {here[name, 'on'] / here[name, 'off']:.3f} of the one "
        f"without (document: {there[name, 'on'] / there[name, 'off']:.3f})"
        for name, word in LONG.items()
    ]
    return f"Shuffle: {'; '.join(parts)}."


def cost(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU time of drawing and of writing, for the page.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "cost".
    """
    spent = {(row["case"], row["phase"]): row["user_s"] for row in rows.to_dict("records")}
    drawn = rows[rows["phase"] == "draw"].to_dict("records")
    found = [
        {
            "file": row["case"],
            "frames": f"{row['stages']:.0f}",
            "MB": f"{row['useful_bytes'] / 1e6:,.0f}",
            "drawing, CPU s": f"{row['user_s']:.2f}",
            "writing, CPU s": f"{spent[row['case'], 'write']:.2f}",
        }
        for row in drawn
    ]
    return pd.DataFrame(found)


def _signed(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:+.1f} %"  # no minus before zero


def _listed(values: pd.Series, digits: int = 1) -> str:
    words = [f"{value:.{digits}f}" for value in values]
    return f"{', '.join(words[:-1])} and {words[-1]}"
