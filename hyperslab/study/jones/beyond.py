"""A file that memory cannot hold: the records of such a run, and what is said of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ...measure import records
from ...measure.records import main
from ...text import amount, number
from ..profile import root
from .baseline import FIGURE_3, pick, rates
from .plan import EXPERIMENT, Cell, size_bytes, spaced
from .spots import PATTERNS, Spots

NOTEBOOK = "jones_baseline"
_NAMES = {"c-fread": "C", "python-read": "Python"}


@dataclass(frozen=True)
class Beyond:
    """The records of a run with a large file, and the facts of its machine.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of the experiment "patterns".
    facts : mapping
        As in machine.json.
    """

    frame: pd.DataFrame
    facts: Mapping[str, object]

    @property
    def file_bytes(self) -> float:
        """Bytes of the file that was read."""
        return float(self.frame["file_bytes"].max())

    @property
    def memory_bytes(self) -> float:
        """Bytes of memory that the run might use, page cache and all."""
        return float(str(self.facts.get("memory_limit_bytes", self.facts["memory_bytes"])))


def read(folder: str) -> Beyond | None:
    """Return the records in a folder of the repository; None where there is no such folder.

    Parameters
    ----------
    folder : str
        With jones_baseline.parquet and machine.json; "" for none.

    Raises
    ------
    ValueError
        When the folder holds no records, or none of the machine they were made on.
    """
    place = root() / folder
    if not folder or not place.is_dir():
        return None
    frame = records.load(place / f"{NOTEBOOK}.parquet")
    frame = frame[frame["experiment"] == EXPERIMENT].reset_index(drop=True)
    known = records.machines(place)
    if frame.empty or frame["run_id"].iloc[0] not in known:
        raise ValueError(f"{folder} holds no patterns of {NOTEBOOK}, or no {records.MACHINES}")
    return Beyond(frame, known[str(frame["run_id"].iloc[0])])


def told(found: Beyond | None) -> str:
    """Return how large the file and the memory were, and what the run took.

    Parameters
    ----------
    found : Beyond or None
        From `read`.
    """
    if found is None:
        return (
            "No such run is shown here: a file that memory cannot hold takes half an hour. "
            "{ref}`sec-beyond-memory` has the command."
        )
    rows = main(found.frame)
    rows = rows[rows["phase"] == "read"]
    stopped = ~rows.apply(_ended, axis=1)
    longest = rows["wall_s"].max()
    large, memory = found.file_bytes, found.memory_bytes
    text = (
        f"A file of {amount(large, 'B')}, {number(large / memory)} times the "
        f"{amount(memory, 'B')} of memory that the run might use, page cache and all"
    )
    if large <= memory:
        text += ": memory could hold it, so that this shows nothing of the kind"
    text += (
        f". It was read in {number(len(rows))} samples, in {number(rows['block'].nunique())} "
        f"blocks, the longest for {amount(float(longest), 's')}; {number(stopped.sum())} stopped "
        "because their time was over, the others came to their end, and each rate is of what was "
        "read. Reading took "
        f"{amount(float(rows['wall_s'].sum()), 's')} in all; no process of a sample had more than "
        f"{amount(float(rows['peak_bytes'].max()), 'B')} of memory"
    )
    resumed = int(str(found.facts.get("resumed_blocks", 0)))
    if resumed:
        blocks = "block" if resumed == 1 else "blocks"
        text += f". The run was ended on its way, and took over {resumed} finished {blocks}"
    return f"{text}. Run {found.frame['run_id'].iloc[0]}."


def _ended(row: "pd.Series[float]") -> bool:
    """Whether a sample made all the reads that its pattern has."""
    cell = Cell.named(str(row["case"]))
    spots = Spots(cell.pattern, size_bytes(cell.size), int(row["file_bytes"]))
    return bool(row["stages"] >= len(spots))


def table(found: Beyond | None) -> pd.DataFrame:
    """Return the rates of such a run, as text; empty without one.

    Parameters
    ----------
    found : Beyond or None
        From `read`.
    """
    if found is None:
        return pd.DataFrame()
    rated, rows = rates(found.frame), []
    sizes = rated.sort_values("nbytes")["size"].drop_duplicates()
    for pattern in PATTERNS:
        for size in sizes:
            row = {"pattern": pattern, "buffer": spaced(str(size))}
            for reader in FIGURE_3:
                mine = pick(rated, "cold", reader, pattern, str(size))
                name = _NAMES[reader]
                heads = ("{}, MB/s", "{}: reads", "{}: from the device, B/B")
                row |= dict.fromkeys((head.format(name) for head in heads), "–")
                if mine is not None:
                    low, middle, high = (number(mine[x] / 1e6) for x in ("low", "median", "high"))
                    row[f"{name}, MB/s"] = f"{middle} [{low}, {high}]"
                    row[f"{name}: from the device, B/B"] = number(float(mine["fetched"]))
                    row[f"{name}: reads"] = number(float(mine["reads"]))
            if set(row.values()) != {pattern, spaced(str(size)), "–"}:
                rows.append(row)
    return pd.DataFrame(rows)


def caption(found: Beyond | None) -> str:
    """Return the caption of the table."""
    if found is None:
        return ""
    return (
        "Cold reads of a file that memory cannot hold: medians with 95 % intervals (ranges, of "
        "fewer than 6 blocks), reads of a sample, and bytes from the device for each byte asked "
        f"for. File system: {found.facts.get('file_system') or 'unknown'}."
    )
