"""What the chunk cache did for files that are open in parallel, with numbers from the records."""

import pandas as pd

from ...parallel import counted
from ...text import listing
from .flash import AGAIN, CHUNK, CHUNKS
from .results import parts

_HOW = {"parallel": "for reading and writing", "parallel, read only": "for reading alone"}


def cache(records: pd.DataFrame, sizes: pd.DataFrame) -> str:
    """Return what the chunk cache did for files open in parallel.

    Parameters
    ----------
    records, sizes : pandas.DataFrame
        The experiments "cache" and "cache sizes".
    """
    if records.empty:
        return "Parallel HDF5 is not here, so that the chunk cache was not tried."
    reads = records[records["phase"] == "read"].set_index("case")
    serial, ranks = int(reads["stages"]["serial"]), int(reads["ranks"]["parallel"])
    each = {how: int(reads["stages"][case]) for case, how in _HOW.items()}
    past = [how for how, count in each.items() if count > serial]
    kept = [how for how, count in each.items() if count <= serial]
    tail = []
    if past:
        tail.append(f"opened in parallel {listing(past)} the file is read past the chunk cache")
    if kept:
        tail.append(f"opened in parallel {listing(kept)} the chunk cache is used as ever")
    both, only = each.values()
    said = [
        f"{counted(ranks)} {'each read' if ranks > 1 else 'reads'} the same {CHUNKS} chunks of "
        f"{CHUNK[0]} × {CHUNK[1]} doubles, {AGAIN} times. A rank alone that opens the file "
        f"serially makes {serial:,} read requests for that; in parallel a rank makes {both:,} "
        f"when the file is open for reading and writing, and {only:,} when it is open for reading "
        f"alone: {'; '.join(tail)}."
    ]
    rows = AGAIN * CHUNKS * CHUNK[0]
    for case, at in (("serial", 1), ("parallel", ranks), ("parallel, read only", ranks)):
        if found := parts(sizes[sizes["phase"] == "read"], case, at):
            said.append(f"- {case}, {counted(at)}: {found}")
    if len(said) > 1:
        said.insert(
            1,
            f"\nWhat these are, of all ranks together ({AGAIN} times {CHUNKS} chunks of "
            f"{CHUNK[0]} rows are {rows:,} rows of {CHUNK[1] * 8} B for each rank, the chunks have "
            f"{CHUNK[0] * CHUNK[1] * 8 // 1024} KiB, and what is left is their index):\n",
        )
    return "\n".join(said)
