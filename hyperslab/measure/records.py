"""Tidy records: one row per sample and phase, with the columns declared in one place."""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TEXT = (
    "run_id", "profile", "notebook", "experiment", "case", "aa", "phase", "library",
    "library_version", "format", "codec", "chunks", "pattern", "size", "cache_state", "link",
    "mode", "hints", "byteorder", "quantize", "predicted_chunks", "status",
    "note",  # why something is not here
)  # fmt: skip
NUMBERS = (
    "block", "order", "level", "resident_before", "wall_s", "user_s", "sys_s", "minflt", "majflt",
    "rchar", "read_bytes", "syscr", "wchar", "write_bytes", "syscw", "requests", "connections",
    "wire_bytes", "useful_bytes", "file_bytes", "predicted_bytes", "cache_bytes", "stages",
    "handshakes", "idle_stages", "ranks", "tasks", "latency_s", "overhead_s", "others_cpu",
    "peak_bytes", "predicted_reads", "chunk_bytes",
    "spacing_bytes", "points", "out_at", "stored_at",  # of an index, and places in a chunk
    "predicted_s", "weight", "gain", "gain_low", "gain_high", "gain_predicted", "rank", "tried",
    "error", "relative_error", "changed", "wavelength", "coherence", "spectra", "kept_from",
    "voluntary_switches", "forced_switches",  # of the threads of a process, waiting or made to
    "pace_s", "lasted_s", "reclaimed_bytes",  # of witnesses
    "retaken", "elapsed_s",  # how many tries were discarded; of the first, with all around it
    "draw",  # of processes, and of copies of the files, which two blocks may share for cold reads;
    # blocks of older records share one
)  # fmt: skip
FLAGS = ("shuffle", "verified", "disturbed")
COLUMNS = (*TEXT, *NUMBERS, *FLAGS)
NEEDED = (
    "run_id", "profile", "notebook", "experiment", "case", "phase", "block", "verified", "status",
)  # fmt: skip
"""Columns that a file of records always has; of the others those in which something stands."""
DISCARDED = "discarded"
"""What `aa` says of a try that was disturbed, so that the sample was measured again."""
SAMPLE = ("experiment", "block", "order", "aa")
"""The columns that tell one sample from the others of a run; each of its phases has a row."""
MACHINES = "machine.json"
SCHEMA = 2
"""Of records: 2 has labels of cases as columns, and says what it was measured with."""
_ABOUT = b"hyperslab"
_KINDS: Mapping[str, type | str] = {
    **dict.fromkeys(TEXT, str), **dict.fromkeys(NUMBERS, "f8"), **dict.fromkeys(FLAGS, bool),
}  # fmt: skip
_EMPTY: Mapping[type | str, str | float | bool] = {str: "", "f8": np.nan, bool: False}


def frame_of(rows: Iterable[Mapping[str, object]], labels: Collection[str] = ()) -> pd.DataFrame:
    """Return rows as a table with every declared column and its type, and one for each label.

    Raises
    ------
    ValueError
        When a row has a column that is not declared.

    Examples
    --------
    >>> frame = frame_of([{"case": "8x8", "phase": "write", "wall_s": 0.5}])
    >>> frame["wall_s"][0], frame["library"][0], bool(frame["shuffle"][0])
    (np.float64(0.5), '', False)
    """
    rows = list(rows)
    names = set().union(*rows)
    _check_names(names - set(labels))
    table: dict[str, object] = dict.fromkeys((*TEXT, *labels), [""] * len(rows))
    table |= dict.fromkeys(NUMBERS, np.full(len(rows), np.nan))
    table |= dict.fromkeys(FLAGS, np.zeros(len(rows), bool))
    for name in names:
        values = [row.get(name) for row in rows]
        if name in NUMBERS:
            table[name] = np.array(values, dtype="f8")  # None is NaN
        elif name in FLAGS:
            table[name] = np.array(values, dtype=bool)
        else:
            table[name] = ["" if value is None else str(value) for value in values]
    return pd.DataFrame(table, columns=[*COLUMNS, *labels])


def labels_of(frame: pd.DataFrame) -> list[str]:
    """Return which columns of records are labels of their cases."""
    return [str(name) for name in frame.columns if name not in COLUMNS]


def main(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the samples that results rest on: those that count, one a block for each case.

    The other label of an A/A pair is there to show noise only, and a discarded try for the record.

    Examples
    --------
    >>> rows = [{"aa": aa, "status": "ok"} for aa in ("A", "B", DISCARDED, "")]
    >>> main(frame_of([*rows, {"aa": "", "status": "lost"}]))["aa"].tolist()
    ['A', '']
    """
    return frame[frame["aa"].isin(("", "A")) & (frame["status"] == "ok")]


def save(frame: pd.DataFrame, path: Path, about: Mapping[str, object] | None = None) -> None:
    """Write records, and what `about` gives back of them, as Parquet, whole or not at all.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.parquet")
    >>> save(frame_of([{"case": "a"}]), path)
    >>> load(path)["case"].tolist()
    ['a']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    empty = [name for name in frame if name not in NEEDED and _is_empty(frame[name])]
    table = pa.Table.from_pandas(frame.drop(columns=empty), preserve_index=False)
    facts = {"schema": SCHEMA, "labels": labels_of(frame), **(about or {})}
    encoded = json.dumps(facts).encode()
    table = table.replace_schema_metadata({**table.schema.metadata, _ABOUT: encoded})
    pq.write_table(table, unfinished, compression="zstd", compression_level=19)
    with unfinished.open("rb") as handle:
        os.fsync(handle.fileno())
    unfinished.replace(path)


def _is_empty(column: "pd.Series[Any]") -> bool:
    empty = _EMPTY[_KINDS.get(str(column.name), str)]
    return bool(column.isna().all() or (column == empty).all())


def about(path: Path) -> dict[str, Any]:
    """Return what records say of themselves: schema, labels, and what they were measured with."""
    return _facts(pq.read_schema(path))


def _facts(schema: pa.Schema) -> dict[str, Any]:
    encoded = (schema.metadata or {}).get(_ABOUT, b'{"schema": 1}')
    facts: dict[str, Any] = json.loads(encoded)
    return facts


def load(path: Path, columns: Collection[str] = ()) -> pd.DataFrame:
    """Read records from Parquet: all columns, or those that are asked for.

    Raises
    ------
    FileNotFoundError
        When there are none.
    ValueError
        When the file is not a table of records.
    """
    if not path.exists():
        raise FileNotFoundError(
            f"no records of {path.stem} in {path.parent}: measure them first, with "
            f"`hyperslab run {path.stem}`, or name another folder"
        )
    try:
        schema = pq.read_schema(path)
        names = set(schema.names)
        frame = pd.read_parquet(path, columns=sorted(names & {*columns}) if columns else None)
    except Exception as error:
        raise ValueError(
            f"{path.name} is not a whole Parquet file of records ({error}): delete it and "
            f"measure again with `hyperslab run {path.stem}`"
        ) from error
    if missing := {"case", "experiment", "phase", "run_id"} - names:
        raise ValueError(f"{path.name} has no columns {sorted(missing)}: it holds no records")
    facts = _facts(schema)
    if facts["schema"] > SCHEMA:
        raise ValueError(
            f"{path.name} is of schema {facts['schema']}, and this release reads up to {SCHEMA}: "
            "take a newer release"
        )
    labels = facts.get("labels", [])
    _check_names(names - set(labels))
    known: dict[str, Any] = {**_KINDS, **dict.fromkeys(labels, str)}
    kinds = {name: known[name] for name in columns or known}
    defaults = {kind: pd.Series(value, frame.index, kind) for kind, value in _EMPTY.items()}
    read = {
        name: frame[name].fillna(_EMPTY[kind]).astype(kind) if name in frame else defaults[kind]
        for name, kind in kinds.items()
    }
    return pd.DataFrame(read)


def machines(folder: Path) -> dict[str, dict[str, object]]:
    """Read the machine facts of a results folder, by run_id; empty when there are none."""
    path = folder / MACHINES
    if not path.exists():
        return {}
    try:
        text = path.read_text()
        facts: dict[str, dict[str, object]] = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        raise ValueError(
            f"{path.name} in the results folder cannot be read ({error}): delete it, or measure "
            "into another work directory"
        ) from error
    return facts


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def save_machines(folder: Path, facts: Mapping[str, Mapping[str, object]]) -> None:
    """Write the machine facts of a results folder whole."""
    unfinished = folder / f".{MACHINES}.part"
    unfinished.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    unfinished.replace(folder / MACHINES)


def _check_names(names: set[str]) -> None:
    if unknown := names - set(COLUMNS):
        raise ValueError(
            f"unknown record columns {sorted(unknown)}: declare them in "
            f"hyperslab/measure/records.py, or use one of {', '.join(COLUMNS)}"
        )
