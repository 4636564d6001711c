"""Whether a Parquet file holds records of one notebook's run, whole and verified."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hyperslab.measure.records import (
    COLUMNS,
    FLAGS,
    NEEDED,
    NUMBERS,
    TEXT,
    about,
    labels_of,
)

from ..privacy import revealed
from ..profile import PROFILES
from .problem import Problem

_NEVER_NEGATIVE = ("block", "wall_s", "user_s", "sys_s", "read_bytes", "useful_bytes")


def shape_problems(path: Path) -> Iterator[Problem]:
    """Yield why a file is no table of records."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def is_text(kind: Any) -> bool:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    def problem(what: str, column: str = "", remedy: str = _again(path)) -> Problem:
        return Problem(path.name, what, remedy, column)

    try:
        table = pq.read_table(path)
    except Exception as error:  # pyarrow has many
        yield problem(f"is no whole Parquet file ({error})")
        return
    labels = about(path).get("labels", [])
    fits = (
        ((*TEXT, *labels), "text", is_text),
        (NUMBERS, "a double", pa.types.is_float64),
        (FLAGS, "a flag (bool)", pa.types.is_boolean),
    )
    names = table.schema.names
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield problem("stands there twice", name)
    for name, column in zip(names, table.columns, strict=True):
        if name not in (*COLUMNS, *labels):
            remedy = "take it out, or declare it in measure/records.py"
            yield problem("is no column of records", name, remedy)
        for columns, kind, right in fits:
            if name in columns and not right(column.type):
                yield problem(f"is of the type {column.type}, must be {kind}", name)
        if name in TEXT and column.null_count:
            yield problem("has values that are missing", name)
    for name in NEEDED:
        if name not in names:
            yield problem("is missing", name)


def table_problems(
    path: Path, frame: pd.DataFrame, scrub: Callable[[str], str]
) -> Iterator[Problem]:
    """Yield what is wrong with a file's records."""
    again = _again(path)
    yield from _run_problems(path, frame, again)
    yield from _sample_problems(path.name, frame, again)
    yield from _private(path.name, frame, scrub)
    if what := private(json.dumps(about(path), ensure_ascii=False), scrub):
        yield Problem(path.name, f"{what}, in what it says of itself", again, "", True)


def _again(path: Path) -> str:
    return f"measure again with `hyperslab run {path.stem} --again`"


def _run_problems(path: Path, frame: pd.DataFrame, again: str) -> Iterator[Problem]:
    if frame.empty:
        yield Problem(path.name, "has no rows", again)
        return
    for name in ("run_id", "profile", "notebook"):
        found = sorted(set(frame[name]))
        if len(found) != 1 or not found[0]:
            yield Problem(path.name, f"must have one value, has {found}", again, name)
    notebook = str(frame["notebook"].iloc[0])
    if notebook and notebook != path.stem:
        what = f"is {notebook!r}, and the file is named after {path.stem!r}"
        yield Problem(path.name, what, f"name it {notebook}.parquet", "notebook")
    for profile in sorted(set(frame["profile"])):
        if profile not in PROFILES:
            allowed = f"choose from {', '.join(PROFILES)}"
            yield Problem(path.name, f"is {profile!r}", allowed, "profile")
        if profile == "smoke":
            what = "is smoke: toy sizes say nothing about the claims"
            yield Problem(path.name, what, "measure with --profile quick or full", "profile", True)


def _sample_problems(file: str, frame: pd.DataFrame, again: str) -> Iterator[Problem]:
    def counted(wrong: "pd.Series[bool]", column: str, what: str) -> Iterator[Problem]:
        if count := int(wrong.sum()):
            yield Problem(file, f"{count} {what}", again, column)

    good = frame["status"] == "ok"
    if not good.any():
        yield Problem(file, "has no sample that succeeded", again, "status")
    timed = good & frame["user_s"].notna() & frame["order"].notna()
    yield from counted(timed & frame["wall_s"].isna(), "wall_s", "timed samples have no time")
    yield from counted(frame[timed].duplicated(), "wall_s", "samples stand there twice")
    yield from counted(frame["block"].dropna() % 1 != 0, "block", "values are no whole numbers")
    unsure = good & ~frame["verified"]
    yield from counted(unsure, "verified", "samples were not compared with the truth")
    for name in _NEVER_NEGATIVE:
        yield from counted(frame[name] < 0, name, "values are below zero")
    for name in NUMBERS:
        yield from counted(np.isinf(frame[name]), name, "values are infinite")


def _private(file: str, frame: pd.DataFrame, scrub: Callable[[str], str]) -> Iterator[Problem]:
    for name in (*TEXT, *labels_of(frame)):
        for text in frame[name].unique():
            if what := private(text, scrub):
                remedy = "records are public: replace it in the file, and say where it comes from"
                yield Problem(file, what, remedy, name, True)
                break  # one of a column is enough


def private(text: str, scrub: Callable[[str], str]) -> str:
    """Return what in a text must not be published, or ""."""
    if what := revealed(text):
        return f"has {what}"
    if scrub(text) != text:
        return f"has a name or folder of this machine, in {text[:60]!r}"
    return ""
