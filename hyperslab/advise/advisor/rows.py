"""An advice as records, from which its page is drawn again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..advice.rows import Advice, Row
from ..sources.remote import is_url, shown
from . import text, why

BEYOND, SAID = "beyond", "said"


def rows(advice: Advice) -> Iterator[Mapping[str, object]]:
    """Yield a row for each candidate and access, and one for each thing that is said.

    Of a candidate: predicted_s, predicted_reads (the chunks touched), useful_bytes, file_bytes,
    wall_s (the median measured on the sample), gain with its interval, order (0 is the file as it
    is), rank (1 is what is advised), and what it is as mode. What is said has the mode "said", and
    its words as hints.

    Parameters
    ----------
    advice
        From `hyperslab.advise.advice.rank.advise`.
    """
    for number, row in enumerate((advice.present, *advice.rows)):
        yield from _rows(advice, row, number, row.candidate.kind)
    for row in advice.beyond:
        yield from _rows(advice, row, -1, BEYOND)
    for what, words in spoken(advice).items():
        yield {"case": what, "mode": SAID, "hints": words}


def bare_name(address: str) -> str:
    """Return an address without folders, and of a URL without its server.

    Examples
    --------
    >>> bare_name("/data/sst.nc"), bare_name("https://me:secret@example.org/data/sst.nc?token=1")
    ('sst.nc', 'https://SERVER/sst.nc')
    """
    name = (shown(address) if is_url(address) else address).rstrip("/").rpartition("/")[2]
    return f"{address.partition('://')[0]}://SERVER/{name}" if is_url(address) else name


def spoken(advice: Advice) -> dict[str, str]:
    """Return what is said of an advice, by what it is: MyST text without a path."""
    asked = advice.question
    asked = replace(
        asked, address=bare_name(asked.address), url=bare_name(asked.url) if asked.url else ""
    )
    bare = replace(advice, question=asked)
    return {
        "file": text.head(bare),
        "now": "\n".join(f"- {line}" for line in why.now(bare)),
        "advice": "\n\n".join(why.verdict(bare)),
        "table": text.table(bare, 12),
        "how": "\n".join(text.how(bare)),
        "notes": "\n".join(f"- {note}" for note in bare.notes),
    }


def _rows(advice: Advice, row: Row, number: int, mode: str) -> Iterator[Mapping[str, object]]:
    gain = row.measured_gain
    for access in advice.accesses:
        counts = row.counts[access.name]
        measured = row.measured[access.name].value if row.measured else math.nan
        yield {
            **row.candidate.layout.record(),
            "case": row.candidate.name,
            "mode": mode,
            "library": row.candidate.library,
            "pattern": access.name,
            "weight": access.weight,
            "order": number,
            "rank": 1.0 if row is advice.first else math.nan,
            "predicted_s": row.seconds.get(access.name, math.nan),
            "predicted_reads": counts.chunks,
            "useful_bytes": counts.useful_bytes,
            "file_bytes": row.nbytes,
            "wall_s": measured,
            "gain_predicted": row.gain,
            "gain": gain.value if gain else math.nan,
            "gain_low": gain.low if gain else math.nan,
            "gain_high": gain.high if gain else math.nan,
            "cache_state": advice.where.cache,
        }
