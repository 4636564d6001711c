"""A claim written into a file, and judged by made-up records."""

from datetime import date
from functools import cache
from itertools import product
from pathlib import Path

import yaml

from hyperslab import claims
from hyperslab.measure.records import frame_of, save

BLOCKS = 7
RATIO = {"kind": "ratio", "value": "wall_s", "of": {"case": "a"}, "to": {"case": "b"}}
COUNT = {"kind": "count", "value": "file_bytes", "cells": {"case": "a"}}

COMMON = {"run_id": "r", "profile": "quick", "block": 0, "status": "ok", "others_cpu": 0.0}


@cache
def load():
    """Return the claims of the study."""
    return claims.read(Path(__file__).parents[1] / claims.FILE).claims


def timed(wall_s, *, pair=False, blocks=BLOCKS, **columns):
    """A sample a block of one case, or two of them where it is the A/A pair."""
    for block, aa in product(range(blocks), "AB" if pair else [""]):
        yield {**columns, "block": block, "aa": aa, "wall_s": wall_s * (1 + block / 1e4)}


def verdicts(folder, notebook, rows, labels):
    """Judge the study's claims on a notebook by made-up records, by their ids."""
    common = {**COMMON, "notebook": notebook}
    made = [
        {**common, "case": " ".join(str(row.get(one, "")) for one in labels), "order": n, **row}
        for n, row in enumerate(rows)
    ]
    save(frame_of(made, labels), folder / f"{notebook}.parquet")
    wanted = [one for one in load() if notebook in {each.notebook for each in one.parts}]
    return {found.claim.id: found for found in claims.evaluate(wanted, folder)}


def part(**changes):
    return {
        "name": "time",
        "headline": True,
        "measure": RATIO,
        "rule": {"kind": "effect", "document": 4},
        "reason": "A against B: {compared}, {of} against {to}.",
        **changes,
    }


def claim(*parts, **changes):
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


def written(folder, *items, **more):
    path = folder / "claims.yml"
    content = {"documents": {"lee": "L"}, "chapters": {"trial": "A trial"}, "claims": list(items)}
    path.write_text(yaml.safe_dump(content | more))
    return path


def samples(case, wall_s, **columns):
    fixed = {"run_id": "run-1", "experiment": "e", "phase": "read", "order": 0, "case": case}
    return [
        {**COMMON, **fixed, "block": block, "wall_s": wall_s, **columns} for block in range(BLOCKS)
    ]


def quiet(drift=1.0, **columns):
    """An A/A pair whose two labels differ by a factor."""
    return samples("aa", drift, aa="A", **columns) + samples("aa", 1.0, aa="B", **columns)


def judge(folder, item, rows):
    """Judge one claim by made-up records of the notebook `trial`."""
    if rows:
        save(frame_of(rows), folder / "trial.parquet")
    [found] = claims.evaluate(claims.read(written(folder, item)).claims, folder)
    return found
