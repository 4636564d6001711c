"""An advice as records, and what is drawn from them: the figure, and one HTML file with it all."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from hyperslab.io.urls import shown
from hyperslab.subchunk.place import is_url

from ..report.plot import STYLE, plain, saved
from ..report.report_files import Section, page, put
from . import explain
from .candidates import LAYOUT, NOW, REMEDY
from .rank import Advice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEYOND, SAID = "beyond", "said"
_VERBATIM = ("now", "table", "how")
_OPTION = re.compile(r"--[a-z]+(?: [a-z0-9,=.]*[a-z0-9])?")
_GREY, _BLUE = "#8c8c8c", "#0072B2"
_MARKS: dict[str, dict[str, Any]] = {
    "layout, predicted": {"marker": "o", "s": 14, "color": _GREY, "zorder": 2},
    "remedy, predicted": {"marker": "^", "s": 36, "color": "#009E73", "zorder": 3},
    "as it is, predicted": {"marker": "s", "s": 60, "color": "#D55E00", "zorder": 5},
    "measured on the sample": {
        "marker": "D", "s": 46, "facecolor": "none", "edgecolor": _BLUE, "zorder": 4,
    },
    "advice": {"marker": "*", "s": 110, "color": _BLUE, "zorder": 6},
}  # fmt: skip
_HEADINGS = {
    "file": "",
    "advice": "What to do",
    "now": "What reads cost now, and why",
    "table": "What was tried",
    "how": "How to apply it",
    "notes": "Notes",
}


def bare_name(address: str) -> str:
    """Return an address without folders, and of a URL without its server."""
    name = shown(address).rstrip("/").rpartition("/")[2]
    return f"{address.partition('://')[0]}://SERVER/{name}" if is_url(address) else name


def rows(advice: Advice, name: Callable[[str], str] = bare_name) -> Iterator[Mapping[str, object]]:
    """Yield records: of each candidate and access, and of each thing said, its words as hints."""
    listed = [(n, row, row.candidate.kind) for n, row in enumerate((advice.present, *advice.rows))]
    listed += [(-1, row, BEYOND) for row in advice.beyond]
    for (number, row, mode), access in product(listed, advice.subject.accesses):
        gain, counts = row.measured_gain, row.counts[access.name]
        yield {
            **row.candidate.layout.record(),
            "case": row.candidate.name,
            "mode": mode,
            "library": row.candidate.library,
            "pattern": access.name,
            "weight": access.weight,
            "order": number,  # 0 is the file as it is
            "rank": 1.0 if row is advice.first else math.nan,
            "predicted_s": row.seconds.get(access.name, math.nan),
            "predicted_reads": counts.chunks,
            "useful_bytes": counts.useful_bytes,
            "file_bytes": row.nbytes,
            "wall_s": row.measured[access.name].value if row.measured else math.nan,
            "gain_predicted": row.gain,
            "gain": gain.value if gain else math.nan,
            "gain_low": gain.low if gain else math.nan,
            "gain_high": gain.high if gain else math.nan,
            "cache_state": advice.subject.cache,
        }
    query = advice.subject.question
    bare = replace(query, address=name(query.address), url=name(query.url) if query.url else "")
    spoken = explain.words(replace(advice, subject=replace(advice.subject, question=bare)))
    spoken["advice"] = spoken["advice"].replace("\n", "\n\n")
    spoken["notes"] = "\n".join(f"- {note}" for note in advice.notes)
    for what, words in spoken.items():
        yield {"case": what, "mode": SAID, "hints": words}


def as_json(records: Sequence[Mapping[str, object]]) -> str:
    """Return records as JSON: what is said by its name, and the candidates, a record an access."""
    content = {str(row["case"]): row["hints"] for row in records if row["mode"] == SAID}
    rows = [row for row in records if row["mode"] != SAID]
    content["candidates"] = [{k: None if v != v else v for k, v in row.items()} for row in rows]
    return json.dumps(content, indent=1)


def said(frame: pd.DataFrame, what: str) -> str:
    """Return what records say of "file", "now", "advice", "table", "how" or "notes"."""
    records = frame[(frame["mode"] == SAID) & (frame["case"] == what)]
    return str(records["hints"].iloc[0]) if len(records) else ""


def myst(frame: pd.DataFrame, what: str) -> str:
    """Return the same as MyST: tables and commands as they are, between fences; options as code."""
    words = said(frame, what)
    if what in _VERBATIM:
        return f"```text\n{words}\n```" if words else ""
    return _OPTION.sub(r"`\g<0>`", words)


def write(frame: pd.DataFrame, path: str | Path, title: str) -> Path:
    """Write the report as an HTML file, whole or not at all, and return its path."""
    path, drawn = Path(path), {"table": picture(frame, ".svg")}
    path.parent.mkdir(parents=True, exist_ok=True)
    html = page(shown(title), [
        Section(head, said(frame, what), what in _VERBATIM, drawn.get(what, b""))
        for what, head in _HEADINGS.items()
    ])  # fmt: skip
    put("html", str(path), html.encode())
    return path


def figure(frame: pd.DataFrame) -> Figure:
    """Draw a panel for each access: size of the variable against the time of the read."""
    import matplotlib.pyplot as plt

    frame = frame[frame["mode"] != SAID]
    names = list(dict.fromkeys(frame["pattern"]))
    drawn, axes = plt.subplots(
        1, len(names), figsize=(1.2 + 3.3 * len(names), 3.9), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for panel, name in zip(axes[0], names, strict=True):
        _panel(panel, frame[frame["pattern"] == name])
        panel.set(title=name, xlabel="ms a read")
    axes[0][0].set_ylabel("size of the variable (MB)")
    drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def picture(frame: pd.DataFrame, ending: str, title: str = "") -> bytes:
    """Return the figure as a file whose name has this ending: .png, .svg or .pdf."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        drawn = figure(frame)
        if title:
            drawn.suptitle(title, x=0.01, ha="left")
        return saved(drawn, ending)


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    frame = frame.assign(ms=1e3 * frame["predicted_s"], mb=frame["file_bytes"] / 1e6)
    predicted = frame[frame["ms"].notna()]
    axes.set_xscale("log")
    rewritten = predicted[predicted["mode"].isin((LAYOUT, BEYOND, NOW))].sort_values(["ms", "mb"])
    best = rewritten[rewritten["mb"] < rewritten["mb"].cummin().shift(fill_value=math.inf)]
    axes.step(best["ms"], best["mb"], where="post", color=_GREY, lw=1, zorder=1)
    tried = frame[frame["wall_s"].notna()]
    groups = {
        "layout, predicted": predicted[predicted["mode"].isin((LAYOUT, BEYOND))],
        "remedy, predicted": predicted[predicted["mode"] == REMEDY],
        "as it is, predicted": predicted[predicted["mode"] == NOW],
        "measured on the sample": tried.assign(ms=1e3 * tried["wall_s"]),
        "advice": predicted[predicted["rank"] == 1],
    }
    for label, group in groups.items():
        if len(group):
            axes.scatter(group["ms"], group["mb"], label=label, **_MARKS[label])
    plain(axes, fine=100)
