"""The sentences of the page on rechunking, with their numbers from the records."""

from __future__ import annotations

import pandas as pd

from ...measure.stats import Interval
from ...text import amount, comparison, listing, spread
from .local_files import VARIABLE
from .rechunk import COPY, CUBED, P2P, THREADS
from .rechunk_files import Maps
from .rechunk_results import MIB, NAMES, Picked, absent, one, pick, ratio


def summary(records: pd.DataFrame, measured: pd.DataFrame, maps: Maps) -> str:
    """Return what was found.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "rechunk".
    measured : pandas.DataFrame
        From `rechunk_results.table`.
    maps : Maps
    """
    picked = pick(records, measured)
    best = one(measured, picked.engine)
    alone = int(measured["within"].sum()) == 1
    allowed = f"{maps.allowed_bytes / MIB:,.0f} MiB"
    said = [
        f"**What we found.** {mib(maps.nbytes)} of values were to be rewritten in {allowed}. "
        + (
            f"{NAMES[picked.engine]} did it in {amount(best['s'], 's')} and at most "
            f"{best['mib']:,.0f} MiB, the {'only' if alone else 'fastest'} one that kept to what "
            "it was given"
            + (
                f" (not told apart by time from {listing([NAMES[name] for name in picked.alike])})."
                if picked.alike
                else "."
            )
            if picked.within
            else f"No engine kept to them; {NAMES[picked.engine]} came closest, with "
            f"{best['mib']:,.0f} MiB in {amount(best['s'], 's')}."
        )
    ]
    for _, row in measured.iterrows():
        if row["engine"] != picked.engine:
            said.append(
                f"{NAMES[row['engine']]} took {row['mib']:,.0f} MiB"
                f"{_over(row, maps.allowed_bytes)} and was "
                f"{_slower(records, row['engine'], picked.engine)}."
            )
    if missing := absent(measured):
        said.append(
            f"Not installed here, and so not measured: {listing([NAMES[n] for n in missing])}."
        )
    return " ".join(said)


def caption(measured: pd.DataFrame, maps: Maps) -> str:
    """Return the caption of the figure."""
    return (
        f"A Zarr store of {maps.steps} maps of {maps.rows} × {maps.columns} float32, each a chunk, "
        f"rewritten with chunks of {'×'.join(map(str, maps.series))}, by each engine in a process "
        "of its own: time, and the most resident memory over what there was before (the kernel's "
        f"mark). Medians with {spread(measured['n'].max())}; "
        "the source was in memory as files are, and every value of each copy was compared."
    )


def why(measured: pd.DataFrame, maps: Maps) -> str:
    """Return what the counts say."""
    engines = set(measured["engine"])
    lines = ["A series lies in every map, so each chunk of the copy needs a bit of all of them."]
    if COPY in engines:
        lines.append(f"- **{NAMES[COPY]}** {_copied(one(measured, COPY), maps)}")
    if CUBED in engines:
        row = one(measured, CUBED)
        lines.append(
            f"- **{NAMES[CUBED]}** goes by chunks of in-between shapes in a temporary store, as "
            "rechunker did, whose plan it took over. Of the source and of that store it read "
            f"{_times(row['reads'])} what the source has, and it wrote "
            f"{amount(row['written'] - row['copy'], 'B')} beside the copy, compressed."
        )
    if THREADS in engines:
        row = one(measured, THREADS)
        lines.append(
            f"- **{NAMES[THREADS]}** read each byte {_times(row['reads'])}, kept what it read, and "
            f"wrote each {_times(row['writes'])}: its memory was "
            f"{row['mib'] * MIB / maps.nbytes:.1f} times the values. It is given chunks and no "
            "limit of memory."
        )
    if P2P in engines:
        row = one(measured, P2P)
        lines.append(
            f"- **{NAMES[P2P]}** wrote {amount(row['written'] - row['copy'], 'B')} beside the copy,"
            " uncompressed: the pieces that its workers exchange, and what they spill to make "
            "room. Pieces come back as mapped files, which stand in resident memory and not in "
            f"the bytes read: {row['mib'] * MIB / maps.nbytes:.1f} times the values. Its limits "
            "say when to spill and when to stop, and not how much a task may take. Stopping is "
            "off here: tried on a store like this, a worker over its limit stopped for good."
        )
    return "\n".join([lines[0], "", *lines[1:]])


def rows(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the table as text."""
    return pd.DataFrame(
        {
            "engine": [NAMES[engine] for engine in measured["engine"]],
            "version": measured["version"],
            "s": [
                f"{s:,.2f} [{low:,.2f}, {high:,.2f}]"
                for s, low, high in zip(
                    measured["s"], measured["s_low"], measured["s_high"], strict=True
                )
            ],
            "MiB at most": [
                f"{peak:,.0f} [{low:,.0f}, {high:,.0f}]"
                for peak, low, high in zip(
                    measured["mib"], measured["mib_low"], measured["mib_high"], strict=True
                )
            ],
            "kept to its memory": ["yes" if within else "no" for within in measured["within"]],
            "MB read": [f"{size / 1e6:,.0f}" for size in measured["read"]],
            "times the source": [f"{times:.1f}" for times in measured["reads"]],
            "MB written": [f"{size / 1e6:,.0f}" for size in measured["written"]],
            "times the copy": [f"{times:.1f}" for times in measured["writes"]],
            "CPU s": [f"{cpu:,.2f}" for cpu in measured["cpu_s"]],
        }
    )


def advice(records: pd.DataFrame, measured: pd.DataFrame, maps: Maps) -> str:
    """Return what to do today."""
    picked = pick(records, measured)
    lines = [_reason(picked, measured)]
    others = [
        name for name in (COPY, CUBED) if name != picked.engine and name in set(measured["engine"])
    ]
    for name in others:
        compared = _slower(records, name, picked.engine)
        lines.append(f"- **{_OTHERWISE[name]}:** {compared} here.{_own(name, maps)}")
    if THREADS in set(measured["engine"]) and picked.engine != THREADS:
        row = one(measured, THREADS)
        lines.append(
            f"- **With memory for {row['mib'] * MIB / maps.nbytes:.1f} times the values,** xarray "
            f"and dask's threads (`.chunk(…).to_zarr(…)`) were "
            f"{_slower(records, THREADS, picked.engine)}."
        )
    if picked.engine == COPY:
        lines.append(f"- {_COMPARES}")
    code = _CODE[picked.engine].format(
        chunks=", ".join(map(str, maps.series)), command=_command(maps)
    )
    return f"## What to do today\n\n{code}\n\n" + "\n".join(lines)


def mib(nbytes: float) -> str:
    """Return bytes in MiB.

    Examples
    --------
    >>> mib(2**27)
    '128 MiB'
    """
    return f"{nbytes / MIB:,.3g} MiB" if nbytes < 10 * MIB else f"{nbytes / MIB:,.0f} MiB"


def _copied(row: pd.Series[float], maps: Maps) -> str:
    """Return how the project's own copy went: in one pass, or by way of a temporary file."""
    beside = row["written"] - row["copy"]
    cpu = f"{amount(row['cpu_s'], 's')} of CPU time"
    if beside > maps.nbytes / 2:
        return (
            "read whole maps and laid them out in a plain file, of which it then took pieces that "
            "are whole chunks of the copy. Of the source and of that file it read "
            f"{_times(row['reads'])} what the source has; it wrote "
            f"{amount(beside, 'B')} beside the copy, and took {cpu}."
        )
    return (
        "copied piece by piece: a piece is whole chunks of the copy, as large as memory lets it "
        f"be, and has a part of every map. It wrote each byte {_times(row['writes'])} and read "
        f"each {_times(row['reads'])}, decompressing the map each time: {cpu}. More memory means "
        "fewer passes."
    )


def _reason(picked: Picked, measured: pd.DataFrame) -> str:
    row = one(measured, picked.engine)
    if picked.within:
        return (
            f"- **Rewrite with {NAMES[picked.engine]}:** of those that kept to their memory it was "
            f"the {'fastest' if not picked.alike else 'quickest by median'}."
        )
    return (
        f"- **Allow more than you think:** none kept to its memory here. "
        f"{NAMES[picked.engine]} took the least, {row['mib']:,.0f} MiB."
    )


def _own(name: str, maps: Maps) -> str:
    return "" if name != COPY else f" `{_command(maps)}` does it. {_COMPARES}"


def _command(maps: Maps) -> str:
    """Return the command that makes the copy that was timed."""
    layout = maps.layout(maps.series)
    chunks = "x".join(map(str, maps.series))
    label = f"{layout.format} {chunks} {layout.codec}:{layout.level} shuffle"
    return (
        f'hyperslab advise maps.zarr --variable {VARIABLE} --choice "{label}" '
        "--apply series.zarr --memory 512MiB"
    )


def _over(row: pd.Series[float], allowed_bytes: int) -> str:
    if row["within"]:
        return ", within what it was given,"
    times = row["mib"] * MIB / allowed_bytes
    return f", {times:.1f} times what it was given," if times > 1.05 else ", a little over,"


def _slower(records: pd.DataFrame, of: str, to: str) -> str:
    found: Interval = ratio(records, of, to)
    if found.contains(1.0):
        return f"not told apart from {NAMES[to]} by time [{found.low:.2f}, {found.high:.2f}]"
    return f"{comparison(found, 'slower', 'faster')} than {NAMES[to]}"


def _times(count: float) -> str:
    return "once" if count < 1.15 else f"{count:.1f} times" if count < 10 else f"{count:.0f} times"


_COMPARES = (
    "The command also reads the copy again and compares every value with what was read of the "
    "source, a pass that is not in the times here; its `--memory` is that of the whole process. It "
    "takes netCDF and HDF5 too, which were not timed here."
)
_OTHERWISE = {
    COPY: "Without another library, or from and to netCDF, this project's own copy",
    CUBED: "By way of a temporary store, cubed",
}
_CODE = {
    CUBED: """```python
# MALLOC_TRIM_THRESHOLD_=65536 python rechunk.py: freed memory goes back at once
import cubed
import zarr

spec = cubed.Spec("scratch", allowed_mem="256MB", executor_name="single-threaded")
maps = cubed.from_zarr("maps.zarr", path="uo", spec=spec)
series = zarr.create_group("series.zarr").create_array(
    "uo", shape=maps.shape, chunks=({chunks}), dtype=maps.dtype,
    dimension_names=("time", "lat", "lon"),
)
cubed.store([maps.rechunk(series.chunks)], [series])
```""",
    COPY: """```
{command}
```""",
    THREADS: """```python
import xarray as xr

maps = xr.open_zarr("maps.zarr", chunks={{}})
series = maps.chunk(dict(zip(("time", "lat", "lon"), ({chunks}))))
series["uo"].encoding = {{}}
series.to_zarr("series.zarr")
```""",
    P2P: """```python
import dask
import xarray as xr
from distributed import Client

dask.config.set({{"array.rechunk.method": "p2p"}})
with Client(processes=False):
    maps = xr.open_zarr("maps.zarr", chunks={{}})
    series = maps.chunk(dict(zip(("time", "lat", "lon"), ({chunks}))))
    series["uo"].encoding = {{}}
    series.to_zarr("series.zarr")
```""",
}
