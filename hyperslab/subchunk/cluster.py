"""Index many files with the workers of a dask cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .command import FAILED, OK, build_or_widen, said
from .errors import SubchunkError
from .index.options import BUDGET, Options
from .index.place import absolute


def build_many(
    pairs: Sequence[tuple[str | Path, Path]],
    *,
    variables: Sequence[str] | None = None,
    spacing: int | None = None,
    budget: float | None = None,
    add: bool = False,
    jobs: int = 0,
    scheduler: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Build the indexes of many files; one that fails is named and the others go on."""
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError as error:
        raise RuntimeError(
            "several files at once need dask.distributed: pip install distributed, or index one "
            "file at a time"
        ) from error
    # Refuse what makes no sense before anything starts.
    Options(variables, spacing, BUDGET if budget is None else budget)
    cluster = None
    if scheduler is None:
        workers = min(jobs or os.cpu_count() or 1, len(pairs))
        cluster = LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # 8787 may be another cluster's
        )
    failed = 0
    try:
        # Not dask's own choice from now on: the caller may compute something else meanwhile.
        with Client(  # type: ignore[no-untyped-call]
            cluster or scheduler, set_as_default=False
        ) as client:
            tasks = {
                client.submit(
                    one,
                    *(absolute(path), target.absolute(), add),
                    variables=variables,
                    spacing=spacing,
                    budget=budget,
                    storage_options=storage_options,
                    pure=False,
                    retries=2,
                ): (path, target)
                for path, target in pairs
            }
            finished = as_completed(list(tasks), loop=client.loop)  # type: ignore[no-untyped-call]
            for done, future in enumerate(finished, 1):
                path, target = tasks[future]
                wrong = str(future.exception()) if future.status == "error" else future.result()
                if wrong:
                    failed += 1
                    print(f"hyperslab index: {path}: {wrong}", file=sys.stderr)
                else:
                    print(f"[{done}/{len(pairs)}] {said(path, target)}", flush=True)
    finally:
        if cluster is not None:
            cluster.close()
    if failed:
        print(f"hyperslab index: {failed} of {len(pairs)} files failed", file=sys.stderr)
    return FAILED if failed else OK


def one(path: str | Path, target: Path, add: bool, **options: Any) -> str:
    """Build or widen one index, on one thread: the workers are many. Return what went wrong."""
    try:
        build_or_widen(path, target, add, threads=1, **options)
    except (SubchunkError, OSError, ValueError) as error:  # no reason to try it again elsewhere
        return str(error)
    return ""
