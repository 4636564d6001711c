"""Chunk size against write rate and file size (Lee et al. 2008, section 5.1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from ...io.work import NAME, Holds, Remove, Values, Write
from ...measure.case import Case
from ...measure.records import main
from ...measure.stats import median_interval, middle_eight
from ...storage.geometry import (
    ceil_chunk,
    chunk_grid,
    floor_chunk,
    padded_bytes,
    predicted_bytes,
)
from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create, stored_bytes

SIDE = 3162
ITEMSIZE = 4
SIDES = (
    8, 16, 32, 50, 64, 100, 128, 256, 316, 317, 395, 396, 512, 527, 632, 633, 790, 791, 792, 1024,
    1054, 1581, 2048, 3072, 3162,
)  # fmt: skip
"""Twenty-five square chunks from 8 to 3162: those the document names, lengths on both sides of a
whole number of parts, and powers of two. 3072 makes the 151 MB of its largest file."""

# Table 6: MB/s (10^6 bytes), MB.
TABLE_6 = {790: (31.52, 62.42), 791: (50.04, 40.05), 792: (48.17, 40.15)}
DOCUMENT_RATES = {8: 5.29, 3162: 49.87} | {side: rate for side, (rate, _) in TABLE_6.items()}
DOCUMENT_RANGE_MB_S = (5.29, 51.59)


def sides(length: int) -> tuple[int, ...]:
    """Return the document's chunk lengths, scaled down to a shorter array.

    Parameters
    ----------
    length : int
        Elements along an axis of the array.

    Examples
    --------
    >>> len(sides(3162)), sides(512)[-3:]
    (25, (171, 256, 512))
    """
    if length == SIDE:
        return SIDES
    parts = {ceil_chunk(SIDE, side) for side in SIDES if side > 128}
    small = {side for side in SIDES if side <= 128 and side < length // 2}
    good = {ceil_chunk(length, n) for n in parts}
    bad = {floor_chunk(length, n) for n in parts}
    return tuple(sorted(small | good | bad))


def chunk_name(side: int) -> str:
    """Return the name of a case.

    Examples
    --------
    >>> chunk_name(790)
    '790x790'
    """
    return f"{side}x{side}"


def cases(length: int, values: Values, scratch: Path) -> list[Case]:
    """Return one write of the whole array for each chunk size.

    Parameters
    ----------
    length : int
        Elements along each axis of the square int32 array.
    values : callable
        Returns the array.
    scratch : Path
        Where the files go, one at a time.
    """
    chosen = sides(length)
    middle = min(chosen, key=lambda side: abs(side - length / 4))
    found = []
    for side in chosen:
        layout = Layout("netcdf4", chunks=(side, side))
        path = scratch / f"{chunk_name(side)}.nc"
        found.append(
            Case(
                chunk_name(side),
                Write(path, (length, length), values, layout),
                check=Holds(path, "h5py", values),
                columns={"library": "netCDF4", **layout.record()},
                prepare=Remove(path),
                cleanup=Remove(path),
                aa=side == middle,
            )
        )
    return found


def geometry(length: int, values: Values, scratch: Path) -> Iterator[dict[str, object]]:
    """Yield the real and the predicted file size of each chunk size."""
    array = values()
    for side in sides(length):
        yield _sized(chunk_name(side), length, side, array, scratch)


def divided(
    length: int, values: Values, scratch: Path, smallest: int
) -> Iterator[dict[str, object]]:
    """Yield real and predicted sizes for chunks of ceil(d/N) and floor(d/N), for all N.

    Parameters
    ----------
    length : int
        d, the elements along each axis.
    values : callable
        Returns the array.
    scratch : Path
    smallest : int
        The chunk length that ends the series; N stands in the column ``stages``.
    """
    array = values()
    seen: dict[int, dict[str, object]] = {}
    for parts in range(2, length // smallest + 1):
        pair = ("ceil", ceil_chunk(length, parts)), ("floor", floor_chunk(length, parts))
        for kind, side in pair:
            if side not in seen:
                seen[side] = _sized("", length, side, array, scratch)
            yield seen[side] | {"case": f"{kind}/{parts}", "stages": parts}


def _sized(
    name: str, length: int, side: int, array: NDArray[Any], scratch: Path
) -> dict[str, object]:
    layout = Layout("netcdf4", chunks=(side, side))
    path = scratch / f"size-{side}.nc"
    writer = create(path, [Variable(NAME, ("y", "x"), array.shape, "i4")], layout, overwrite=True)
    writer.write(NAME, ..., array)  # in one put, as the experiment does
    writer.close()
    size = stored_bytes(path)
    path.unlink()
    return {
        "case": name,
        "phase": "size",
        "library": "netCDF4",
        "file_bytes": size,
        "predicted_bytes": predicted_bytes((length, length), (side, side), ITEMSIZE),
        "useful_bytes": length * length * ITEMSIZE,
        **layout.record(),
    }


def rates(records: pd.DataFrame) -> pd.DataFrame:
    """Return write rates by chunk length.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "chunk-size".

    Returns
    -------
    pandas.DataFrame
        side, rate, low, high (MB/s, 10^6 bytes; median and 95 % interval of put and sync), mean8
        (the document's own statistic of the same), file_mb, n.
    """
    timed = main(records)
    useful = timed["useful_bytes"].max()
    rows = []
    for case, part in timed.groupby("case"):
        seconds = (
            part[part["phase"].isin(("write", "sync"))].groupby("block")["wall_s"].sum().to_numpy()
        )
        if not seconds.size:
            continue
        median = median_interval(useful / 1e6 / seconds)
        rows.append(
            {
                "side": int(str(case).split("x")[0]),
                "rate": median.value,
                "low": median.low,
                "high": median.high,
                "mean8": useful / 1e6 / middle_eight(seconds) if seconds.size > 2 else float("nan"),
                "file_mb": part["file_bytes"].max() / 1e6,
                "n": median.n,
            }
        )
    return pd.DataFrame(rows).sort_values("side", ignore_index=True)


def model_errors(records: pd.DataFrame) -> pd.Series:
    """Return |predicted/real - 1| of every file of the experiment "geometry" or "ceil"."""
    return (records["predicted_bytes"] / records["file_bytes"] - 1).abs()


def table_6(rated: pd.DataFrame, length: int) -> pd.DataFrame:
    """Return Table 6 with our figures beside the document's."""
    rows = []
    for side in TABLE_6 if length == SIDE else _quarter(length):
        ours = rated[rated["side"] == side].iloc[0]
        document = TABLE_6.get(side) if length == SIDE else None
        grid = chunk_grid((length, length), (side, side))
        rows.append(
            {
                "chunk": chunk_name(side),
                "chunks": f"{grid[0]} × {grid[1]}",
                "file, MB (document)": f"{document[1]:.2f}" if document else "–",
                "file, MB (here)": f"{ours['file_mb']:.2f}",
                "rate, MB/s (document)": f"{document[0]:.2f}" if document else "–",
                "rate, MB/s (here)": f"{ours['rate']:.0f} [{ours['low']:.0f}, {ours['high']:.0f}]",
                "mean of the middle ones": f"{ours['mean8']:.0f}",
                "padding, MB": f"{_padding(length, side) / 1e6:.2f}",
            }
        )
    return pd.DataFrame(rows)


def _quarter(length: int) -> tuple[int, ...]:
    return tuple(sorted({floor_chunk(length, 5), ceil_chunk(length, 5)}))


def _padding(length: int, side: int) -> int:
    return padded_bytes((length, length), (side, side), ITEMSIZE) - length * length * ITEMSIZE
