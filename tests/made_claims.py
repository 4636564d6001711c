"""A claim written into a file, and judged by made-up records."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from hyperslab import claims
from hyperslab.measure.records import frame_of, save

BLOCKS = 7
RATIO = {"kind": "ratio", "value": "wall_s", "of": {"case": "a"}, "to": {"case": "b"}}
COUNT = {"kind": "count", "value": "file_bytes", "cells": {"case": "a"}}


def part(**changes: object) -> dict[str, Any]:
    return {
        "name": "time",
        "headline": True,
        "measure": RATIO,
        "rule": {"kind": "effect", "document": 4},
        "reason": "A against B: {compared}, {of} against {to}.",
        **changes,
    }


def claim(*parts: Mapping[str, object], **changes: object) -> dict[str, Any]:
    return {
        "id": "lee-x",
        "title": "A test",
        "document": "lee",
        "section": "1",
        "statement": "A takes four times as long as B.",
        "numbers": {"ratio": 4},
        "notebook": "trial",
        "dated": date(2026, 11, 20),
        "parts": list(parts) or [part()],
        **changes,
    }


def written(folder: Path, *items: Mapping[str, object]) -> Path:
    path = folder / "claims.yml"
    content = {"documents": {"lee": "L"}, "chapters": {"trial": "A trial"}, "claims": list(items)}
    path.write_text(yaml.safe_dump(content))
    return path


def samples(case: str, wall_s: float, **columns: object) -> list[dict[str, object]]:
    fixed = {"run_id": "run-1", "profile": "quick", "experiment": "e", "phase": "read", "order": 0}
    return [
        {
            **fixed,
            "case": case,
            "block": block,
            "wall_s": wall_s,
            "status": "ok",
            "others_cpu": 0.02,
            **columns,
        }
        for block in range(BLOCKS)
    ]


def quiet(drift: float = 1.0, **columns: object) -> list[dict[str, object]]:
    """An A/A pair whose two labels differ by a factor."""
    return samples("aa", drift, aa="A", **columns) + samples("aa", 1.0, aa="B", **columns)


def judge(
    folder: Path, item: Mapping[str, object], rows: list[dict[str, object]]
) -> claims.Judgement:
    """Judge one claim by made-up records of the notebook `trial`."""
    if rows:
        save(frame_of(rows), folder / "trial.parquet")
    loaded = claims.load(written(folder, item))
    [found] = claims.evaluate(loaded, folder)
    return found
