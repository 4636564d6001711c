"""The sentences of the page on benchmarking one's own file, numbers from the records."""

from collections.abc import Sequence

import pandas as pd

from ...measure.stats import Interval
from .bench import COLUMNS, COPY_BYTES, ELENA_SHAPE, RATES, gain
from .bench_figures import shown
from .bench_why_words import COPY, apart

_WIDTH = 76
_VALUED = ("-c", "-f", "--patterns")


def summary(columns: pd.DataFrame, copied: pd.DataFrame, rated: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    columns, copied : pandas.DataFrame
        Records of the experiments "columns" and "copies".
    rated : pandas.DataFrame
        From `bench.rates`.
    """
    there = int((columns["status"] == "ok").sum())
    six, copy = rated[rated["case"] != COPY], rated[rated["case"] == COPY]
    written = _fastest(six, "write")
    said = (
        f"**What we found.** `hyperslab bench` gives {there} of the {len(COLUMNS)} columns that "
        f"bm_file prints. {_same(copied)} Of the six chunks in run_bm_elena, "
        f"{_first(six, 'write', 'written')}; {_first(six, 'read again', 'read again, in memory,')}."
    )
    if copy.empty:
        return said
    own = _fastest(copy, "write")
    than = (
        "more than any of them"
        if own["low"] > written["high"]
        else "less than the fastest of them"
        if own["high"] < written["low"]
        else "not told apart from the fastest of them"
    )
    return f"{said} The file as it is, classic, was written at {own['rate']:,.0f} MB/s, {than}."


def missing(columns: pd.DataFrame) -> str:
    """Return which of bm_file's columns are not there, and why; empty when all are."""
    bad = columns[columns["status"] != "ok"]
    return "\n".join(f"- {row.case}: {row.status}" for row in bad.itertuples())


def block(command: str, output: str) -> str:
    """Return a command and what it printed, as on a terminal."""
    return f"```text\n$ {command}\n\n{output.rstrip()}\n```"


def command(words: Sequence[str], file: str) -> str:
    """Return a command line as people type it, in lines that a page can hold.

    Examples
    --------
    >>> command(["-f", "3", "-c", "0:-1:0:4:4", "/somewhere/a.nc"], "a.nc")
    'hyperslab bench -f 3 -c 0:-1:0:4:4 a.nc'
    """
    lines = ["hyperslab bench"]
    for option in _options([*words[:-1], file]):
        if len(lines[-1]) + len(option) > _WIDTH:
            lines.append("   ")
        lines[-1] += f" {option}"
    return " \\\n".join(lines)


def _options(words: Sequence[str]) -> list[str]:
    """Return options with their value, which stay on one line."""
    found: list[str] = []
    for word in words:
        if found and found[-1] in _VALUED:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def elena(divisor: int) -> str:
    """Return what the six commands are, and how ours differ."""
    full = " × ".join(map(str, ELENA_SHAPE))
    size = 4 * ELENA_SHAPE[0] * ELENA_SHAPE[1] * ELENA_SHAPE[2] / divisor**3 / 1e6
    scaled = (
        "at the document's own size"
        if divisor == 1
        else f"with every length, of the array and of the chunks, divided by {divisor}: "
        f"{size:.1f} MB instead of 268"
    )
    return (
        "The script run_bm_elena starts bm_file six times on one variable of "
        f"{full} 32-bit integers, random numbers below 255 in a classic file. Here one command "
        f"does it, {scaled}. Each `-c` is one layout, and all are measured in turn, "
        "so that a moment in which the machine is busy hurts all alike; bm_file measures each once "
        "and in a row."
    )


def caption_elena(rated: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the rates of run_bm_elena."""
    return (
        f"The chunks of run_bm_elena: medians of {rated['n'].max():.0f} interleaved blocks with "
        "95 % intervals. The document gives the commands and no result. Run "
        f"{records['run_id'].iloc[0]}."
    )


def shorts(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Return what bm_file's rates mean, and how ours compare with the document's."""
    ratios = {column: (ours[column] / theirs[column]).median() for column in RATES}
    listed = ", ".join(f"{value:.1f} times its {column}" for column, value in ratios.items())
    grown = (ours["output size"] - ours["input size"]).tolist()
    theirs_grown = (theirs["output size"] - theirs["input size"]).tolist()
    return (
        "bm_file divides the bytes of the values by the time of the data alone: in the document's "
        "first row 200,000 bytes by 409 µs are 488.998 MB/s; opening, closing and the disk are "
        "left out. Here the input was evicted from memory before, and the eviction checked. By "
        f"that measure these tiny files give, at the median of the six, {listed}. (The document's "
        "were timed on another machine, once each, and one write took 10,704 µs where its "
        "neighbours took 300.) What the copy adds to the classic file is "
        f"{min(grown):,.0f} to {max(grown):,.0f} bytes here and {min(theirs_grown):,.0f} to "
        f"{max(theirs_grown):,.0f} there."
    )


def said_by_csv(table: pd.DataFrame) -> str:
    """Return bm_file's columns as a block of text for a page."""
    return f"bm_file's columns, as `--csv` has them:\n\n```text\n{printed(table)}\n```"


def printed(table: pd.DataFrame) -> str:
    """Return bm_file's columns as it prints them: names, then a line for each row."""
    lines = [", ".join(COLUMNS)]
    for row in table[list(COLUMNS)].itertuples(index=False):
        lines.append(", ".join(f"{x:g}" if isinstance(x, float) else str(x) for x in row))
    return "\n".join(lines)


def shorts_rows(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return the table for shorts, formatted: ours, and the document's in brackets."""
    shown_columns = {
        "input size": "{:,.0f}",
        "output size": "{:,.0f}",
        "meta read time": "{:,.0f}",
        "meta write time": "{:,.0f}",
        "data read time": "{:,.0f}",
        "data write time": "{:,.0f}",
        "metadata reread time": "{:,.0f}",
        "data reread time": "{:,.0f}",
    }
    rows = []
    for dimensions in ours.index:
        row = {"dimensions": str(dimensions)}
        for column, form in shown_columns.items():
            here = form.format(float(ours.loc[dimensions, column]))
            row[column] = f"{here} ({form.format(float(theirs.loc[dimensions, column]))})"
        rows.append(row)
    return pd.DataFrame(rows)


def caption_shorts(ours: pd.DataFrame) -> str:
    """Return the caption of the table for shorts."""
    return (
        "The document's table for 16-bit integers in one to six dimensions, one chunk each, in "
        f"bm_file's units: bytes and microseconds, medians of {ours['repeats'].max():.0f}; the "
        "document's own in brackets."
    )


def sizes(copied: pd.DataFrame) -> pd.DataFrame:
    """Return the sizes of copies of the square array, formatted."""
    rows = []
    for row in copied.to_dict("records"):
        rows.append(
            {
                "chunks": str(row["case"]).replace("x", " × "),
                "bytes": f"{row['file_bytes']:,.0f}",
                "predicted": f"{row['predicted_bytes']:,.0f}",
                "beyond the data": f"{row['file_bytes'] - row['useful_bytes']:,.0f}",
                "bm_file": f"{COPY_BYTES:,}" if row["case"] == "128x128" else "–",
            }
        )
    return pd.DataFrame(rows)


def example(table: pd.DataFrame) -> str:
    """Return what a benchmark with nothing but a file said."""
    lines = []
    for pattern in dict.fromkeys(table["pattern"]):
        states = table.loc[table["pattern"] == pattern, "cache_state"]
        state = "cold" if "cold" in set(states) else str(states.iloc[0])
        name, found = gain(table, pattern, state)
        calls = _counts(table, pattern, state, name)
        if name == "copy":
            lines.append(f"- {pattern}, {state}: no layout beats the file as it is{calls}.")
        elif found.low <= 1:
            lines.append(
                f"- {pattern}, {state}: the quickest, {name}, is not told apart from the file as "
                f"it is{calls}."
            )
        else:
            lines.append(
                f"- {pattern}, {state}: {name}, {shown(found)} times as fast as the file as it "
                f"is{calls}."
            )
    return "\n".join(lines)


def advice(table: pd.DataFrame) -> str:
    """Return what to do today."""
    patterns = list(dict.fromkeys(table["pattern"]))
    states = set(table["cache_state"])
    state = "cold" if "cold" in states else "warm"
    part = table[table["cache_state"] == state].pivot(index="case", columns="pattern", values="ms")
    winners = {pattern: part[pattern].idxmin() for pattern in patterns}
    split = len(set(winners.values())) > 1
    said = (
        "Here no layout was the quickest for all reads, so know your reads before you choose."
        if split
        else f"Here one layout, {next(iter(winners.values()))}, was the quickest for all reads."
    )
    return (
        "- **Measure your own file:** `hyperslab bench FILE` tries the usual layouts with the "
        f"usual reads. {said}\n"
        "- **Name your reads:** `--patterns time_series,profile`, or bm_file's `-t -u -r` for "
        "boxes.\n"
        "- **Sweep:** `--grid codec=none/deflate:1/zstd:3 --grid chunks=same/auto`; `--csv` gives "
        "bm_file's columns to a spreadsheet.\n"
        "- **Take the winner along:** `-o better.nc` writes it, every value compared."
    )


def caption_reads(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return the caption of the access patterns."""
    useful = records.loc[records["phase"] == "data_write", "useful_bytes"].max() / 1e6
    return (
        f"A file of hourly currents ({useful:.1f} MB of values, deflated, one map a chunk) in the "
        f"layouts that are tried by default: medians of {table['n'].max():.0f} blocks with 95 % "
        f"intervals. Run {records['run_id'].iloc[0]}."
    )


def _same(copied: pd.DataFrame) -> str:
    row = copied[copied["case"] == "128x128"].iloc[0]
    off = row["file_bytes"] - COPY_BYTES
    verdict = "to the byte bm_file's" if off == 0 else f"{off:+,.0f} bytes from bm_file's"
    return (
        f"Its copy of 3162 × 3162 integers in 128 × 128 chunks takes {row['file_bytes']:,.0f} "
        f"bytes, {verdict}."
    )


def _fastest(rated: pd.DataFrame, step: str) -> pd.Series:
    part = rated[rated["step"] == step]
    return part.iloc[int(part["rate"].argmax())]


def _name(row: "pd.Series") -> str:
    return str(row["case"]).replace("x", " × ")


def _first(rated: pd.DataFrame, step: str, done: str) -> str:
    """Return which was the fastest of one step, when it is told apart from the slowest."""
    part = rated[rated["step"] == step]
    row, least = _fastest(rated, step), part["rate"].min()
    if not apart(part):
        return (
            f"when {done.removesuffix(',')}, none is told apart, at {least:,.0f} to "
            f"{row['rate']:,.0f} MB/s with intervals that overlap"
        )
    found = Interval(row["rate"], row["low"], row["high"], int(row["n"]))
    return (
        f"{_name(row)} were {done} fastest, at {shown(found)} MB/s, {row['rate'] / least:.2g} "
        "times the rate of the slowest"
    )


def _counts(table: pd.DataFrame, pattern: str, state: str, name: str) -> str:
    part = table[(table["pattern"] == pattern) & (table["cache_state"] == state)]
    part = part.set_index("case")
    if COPY not in part.index or part[["rchar", "syscr", "user_s"]].isna().to_numpy().any():
        return ""
    own, best = part.loc[COPY], part.loc[name]
    said = (
        f"{best['rchar'] / 1e3:,.0f} kB read in {best['syscr']:,.0f} calls, "
        f"{1e3 * best['user_s']:.1f} ms of CPU time"
    )
    if name == COPY:
        return f" ({said})"
    return (
        f" ({said}, against {own['rchar'] / 1e3:,.0f} kB in {own['syscr']:,.0f} calls and "
        f"{1e3 * own['user_s']:.1f} ms)"
    )
