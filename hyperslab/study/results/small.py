"""Records as small as they go without losing a value."""

import os
from pathlib import Path

import pandas as pd

from hyperslab.measure.records import FLAGS, NUMBERS, load

from .tables import NEEDED

LEVEL = 19  # of zstd; a second a notebook at most, once
LARGEST_BYTES = 1_000_000


def save_small(frame: pd.DataFrame, path: Path) -> None:
    """Write records compressed, without the columns in which nothing stands.

    `load` gives those back, empty as they were; what it gives is compared with `frame`.

    Parameters
    ----------
    frame : pandas.DataFrame
        With every column of records.
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from hyperslab.measure.records import frame_of
    >>> path = Path(tempfile.mkdtemp(), "a.parquet")
    >>> save_small(frame_of([{"case": "a", "wall_s": 0.5}]), path)
    >>> len(pd.read_parquet(path).columns) < len(load(path).columns)
    True
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kept = [name for name in frame.columns if name in NEEDED or _filled(frame[name])]
    table = pa.Table.from_pandas(frame[kept], preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, path, compression="zstd", compression_level=LEVEL)
    pd.testing.assert_frame_equal(load(path), frame, check_exact=True)
    with path.open("rb") as handle:
        os.fsync(handle.fileno())


def _filled(column: pd.Series) -> bool:
    if column.name in NUMBERS:
        return bool(column.notna().any())
    return bool(column.any()) if column.name in FLAGS else bool((column != "").any())
