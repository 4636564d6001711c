"""Cold samples that took much longer than others of the same reads, and what they spent it on."""

import pandas as pd

from ...measure.records import main
from ...text import number, percent
from .plan import Cell, size_bytes, size_name, spaced

_SLOW = 2.0
_ALIKE = 0.02
MOST = 0.5
"""Share of a difference from which on it is CPU time of the system."""
_COLUMNS = ["seconds", "system", "fetched", "calls"]
_Sample = dict[str, float]


def slow(records: pd.DataFrame) -> str:
    """Return how many cold reads had slow samples, and whether device or memory was slow.

    A read that waits for the device spends no CPU time. Where a slow sample does, in the system,
    it is the memory that the file is read into that was slow to be had.

    Parameters
    ----------
    records : pandas.DataFrame
        Of an experiment with cold reads.
    """
    rows = main(records)
    rows = rows[(rows["phase"] == "read") & (rows["cache_state"] == "cold")]
    rows = rows[rows["read_bytes"].notna()]
    if rows.empty:
        return ""
    useful = rows["useful_bytes"]
    each = rows.assign(
        seconds=rows["wall_s"] / useful,
        system=rows["sys_s"] / useful,
        fetched=rows["read_bytes"] / useful,
        calls=rows["syscr"] / useful,
    )
    pairs = [_ends(part) for _, part in each.groupby("case")]
    far = [(quick, late) for quick, late in pairs if late["seconds"] > _SLOW * quick["seconds"]]
    if not far:
        return ""
    alike = sum(_alike(quick, late) for quick, late in far)
    memory = sum(_share(quick, late) > MOST for quick, late in far)
    text = (
        "**Slow samples.** A way, a pattern and a buffer make a kind of read, of which each block "
        f"has a sample. In {len(far)} of {len(pairs)} kinds of cold read the slowest sample took, "
        "for each byte that it read, more than twice as long as the quickest. In "
        f"{alike} of these {len(far)} the two fetched as much from the device for each byte, by as "
        f"many calls, within {percent(_ALIKE)}."
    )
    if memory:
        text += (
            f" In {memory} of the {len(far)} most of the time between the two is CPU time of the "
            "system: not the device was slow, but the memory that the file is read into. A virtual "
            "machine whose host takes back what is freed (free page reporting) is given each page "
            "anew."
        )
    if len(far) > memory:
        text += f" In the other {len(far) - memory}" if memory else " In all of them"
        text += (
            " the device was slow for a while, or the machine below it, and nothing that a process "
            "can count says why."
        )
    return f"{text} {_large(each)}".strip()


def _ends(part: pd.DataFrame) -> tuple[_Sample, _Sample]:
    ordered = part.sort_values("seconds")[_COLUMNS].to_numpy("f8").tolist()
    first, last = (dict(zip(_COLUMNS, row, strict=True)) for row in (ordered[0], ordered[-1]))
    return first, last


def _alike(quick: _Sample, late: _Sample) -> bool:
    pairs = [(quick[name], late[name]) for name in ("fetched", "calls")]
    return all(abs(a - b) <= _ALIKE * max(a, b) for a, b in pairs)


def _share(quick: _Sample, late: _Sample) -> float:
    return system_share(late["seconds"] - quick["seconds"], late["system"] - quick["system"])


def system_share(seconds: float, system: float) -> float:
    """Return how much of a difference in time is CPU time of the system, from 0 to 1.

    Examples
    --------
    >>> system_share(2.0, 1.5), system_share(2.0, 2.1), system_share(2.0, -0.1)
    (0.75, 1.0, 0.0)
    """
    return min(1.0, max(0.0, system / seconds))


def _large(each: pd.DataFrame) -> str:
    """Say what the largest buffer spends its time on, where it is much slower than 1 MiB."""
    part = each[each["case"].str.startswith("c-fread/sequential/")]
    middle = {
        size_bytes(Cell.named(str(case)).size): {
            name: float(samples[name].median()) for name in _COLUMNS
        }
        for case, samples in part.groupby("case")
    }
    top, base = max(middle, default=0), 2**20
    if base not in middle or middle[top]["seconds"] < _SLOW * middle[base]["seconds"]:
        return ""
    large, small = middle[top], middle[base]
    return (
        f"Plain C in buffers of {spaced(size_name(top))} takes "
        f"{number(large['seconds'] / small['seconds'])} times as long as in buffers of 1 MiB, and "
        f"{percent(_share(small, large))} of the difference is CPU time of the system."
    )
