"""Every finished block on disk, so that an interrupted run goes on where it stopped."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .processes import LOADED

Rows = list[dict[str, Any]]


class Journal:
    """An append-only file of finished blocks, one JSON line each.

    Parameters
    ----------
    path : Path
        Where it lies; made when missing.
    header : mapping
        What a run must share with the blocks it takes over: machine, versions, code, seed. A
        journal with another header is set aside.
    run_id : str
        Of a run that begins one; then that of the run that began it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "journal.jsonl")
    >>> Journal(path, {"seed": 0}, "run-1").add("read", "plan", 0, [{"wall_s": 1.0}])
    >>> journal = Journal(path, {"seed": 0}, "run-2")
    >>> journal.run_id, journal.blocks("read", "plan")
    ('run-1', {0: [{'wall_s': 1.0}]})
    """

    def __init__(self, path: Path, header: Mapping[str, object], run_id: str) -> None:
        self.path = path
        self.run_id = run_id
        self.resumed = 0  # how many blocks were found
        self._blocks: dict[tuple[str, str], dict[int, Rows]] = {}
        self._loaded: set[str] = set()  # what the lines name already
        path.parent.mkdir(parents=True, exist_ok=True)
        json_header = json.loads(json.dumps(header))
        if not self._take_over(json_header):
            if path.exists():
                path.replace(path.with_suffix(".old"))
            self._append({"header": json_header, "run_id": run_id})

    def blocks(self, experiment: str, plan: str) -> dict[int, Rows]:
        """Return the finished blocks of an experiment, if its plan is still the same."""
        return self._blocks.get((experiment, plan), {})

    def add(self, experiment: str, plan: str, block: int, rows: Rows) -> None:
        """Keep one finished block; it is on the disk when this returns."""
        self._blocks.setdefault((experiment, plan), {})[block] = rows
        entry = {"experiment": experiment, "plan": plan, "block": block, "rows": rows}
        self._append({**entry, "loaded": sorted(LOADED - self._loaded)})
        self._loaded |= LOADED

    def discard(self) -> None:
        """Delete the journal: its blocks are in the records now."""
        self.path.unlink(missing_ok=True)

    def _append(self, value: Mapping[str, object]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(value) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _take_over(self, header: object) -> bool:
        """Read what an earlier run left, and cut off a damaged line with what follows it."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole, entries = 0, []
        for line in content[: content.rfind(b"\n") + 1].splitlines(keepends=True):
            try:
                entries.append(json.loads(line))
            except ValueError:
                break
            whole += len(line)
        if not entries or entries[0].get("header") != header:
            return False
        first, *blocks = entries
        for entry in blocks:
            key = (entry["experiment"], entry["plan"])
            self._blocks.setdefault(key, {})[entry["block"]] = entry["rows"]
            self._loaded.update(entry["loaded"])
        LOADED.update(self._loaded)  # what measured a block measured the whole
        os.truncate(self.path, whole)
        self.run_id, self.resumed = first["run_id"], len(blocks)
        return True
