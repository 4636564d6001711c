"""Put figures, tables and sentences on a page of the book, and under a cell in Jupyter."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import display

from ..measure.noise import VOID, Disturbed, Noise, disturbed, judge
from ..measure.records import DISCARDED
from ..text import data, percent, printable
from .pictures.style import darkened, styled

# What is escaped, code without a bar, and what begins other markup.
_MARKS = re.compile(r"\\.|(?<!`)`[^`|]+`(?!`)|[<{\[`|]")
MYST = "text/x-myst"  # staging makes it text/markdown, which the book reads as MyST


class NotebookRun(Protocol):
    """What shows figures: a run of a notebook, or all claims."""

    @property
    def notebook(self) -> str: ...
    @property
    def results(self) -> Path: ...


def figure(run: NotebookRun, draw: Callable[[], Any], name: str, caption: str, alt: str) -> None:
    """Show a figure, for light and for dark pages; see `page.show`."""
    folder = run.results / "figures" / run.notebook
    folder.mkdir(parents=True, exist_ok=True)
    light, dark = (f"{name}.{style}.svg" for style in ("light", "dark"))
    description = " ".join(alt.split())
    with styled():
        drawn = draw()
        metadata = {"Date": None, "Creator": None, "Title": description}
        drawn.savefig(folder / light, bbox_inches="tight", metadata=metadata)
        plt.close(drawn)
    picture = (folder / light).read_text("utf-8")
    (folder / dark).write_text(darkened(picture), "utf-8")
    head = f"figure}} ../figures/{run.notebook}/{light}"
    myst = _directive(head, caption, name=f"fig-{name}", alt=description)
    _display({"image/svg+xml": picture, MYST: myst})


def table(frame: pd.DataFrame, name: str, caption: str, *, folded: bool = False) -> None:
    """Show a table whose values are formatted, without its index; see `page.table`."""
    if frame.empty:
        return
    body = [[str(value) for value in row] for row in frame.itertuples(index=False)]
    sides = ["---:" if all(map(_numeric, column)) else "---" for column in zip(*body, strict=True)]
    rows = [list(map(str, frame.columns)), sides, *([*map(cell, row)] for row in body)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    myst = _directive(f"table}} {caption}", "\n".join(lines), name=f"tab-{name}")
    if folded:
        myst = f"~~~~~{{dropdown}} The table ({len(frame)} rows)\n{myst}~~~~~\n"
    _display({"text/html": frame.to_html(index=False), MYST: myst})


def cell(given: str) -> str:
    """Return text with its code and what is escaped, and with no other markup."""
    return _MARKS.sub(
        lambda match: match[0] if len(match[0]) > 1 else f"\\{match[0]}", printable(given)
    )


def _numeric(cell: str) -> bool:
    return cell in ("", "–") or cell.lstrip("−+<~ ")[:1].isdigit()


def text(markdown: str) -> None:
    """Show MyST prose, with numbers from the records in it."""
    _display({"text/markdown": markdown, MYST: markdown})


def admonition(title: str, *lines: str, kind: str = "warning") -> str:
    return "\n".join([f"```{{admonition}} {title}", f":class: {kind}", *lines, "```"])


def html(markup: str) -> None:
    """Show HTML, which asks no other host for anything, as it is."""
    _display({"text/html": markup, MYST: f"~~~~{{raw}} html\n{markup}\n~~~~\n"})


def _directive(head: str, body: str, **options: str) -> str:
    listed = "".join(f":{key}: {value}\n" for key, value in options.items())
    return f"~~~~{{{head}\n{listed}\n{body}\n~~~~\n"  # of tildes: heads may hold backticks


def _display(data: dict[str, Any]) -> None:
    display(data, raw=True)  # type: ignore[no-untyped-call]


def lost(*frames: pd.DataFrame) -> None:
    """Show in a line each what could not be measured, or is void, and why; nothing when all is."""
    whole = pd.concat(frames)
    for message in (lost_text(whole), void_text(judge(whole))):
        if message:
            text(message)


def lost_text(frame: pd.DataFrame) -> str:
    """Return the configurations without a sample, and how many samples others lost, as MyST."""
    keys = ["experiment", "cache_state", "case"]
    counted = frame.loc[frame["aa"] != DISCARDED, [*keys, "block", "aa", "status"]]
    samples = counted.drop_duplicates()
    good = samples["status"].isin(("ok", ""))
    if good.all():
        return ""
    taken = samples.drop_duplicates([*keys, "block", "aa"]).groupby(keys).size().to_dict()
    measured = set(samples.loc[good, keys].itertuples(index=False, name=None))
    lines = []
    for (experiment, state, status), failures in samples[~good].groupby(
        ["experiment", "cache_state", "status"]
    ):
        names = []
        for case, lost in failures.groupby("case", sort=False):
            some = (experiment, state, case) in measured
            of = f", {len(lost)} of {taken[experiment, state, case]} samples" if some else ""
            names.append(f"{data(str(case))}{of}")
        where = data(f"{experiment} {state}".strip())
        lines.append(f"- {where}: {', '.join(names)}: {data(str(status))}")
    return admonition("Not measured", *lines)


def void_text(judged: Sequence[Noise]) -> str:
    """Return which times are void, as MyST, before anybody reads what they seem to say."""
    lines = [f"- {_noise(item)}" for item in judged if item.state == "void"]
    head = (
        f"Too much else went on, or equal configurations differed by more than {VOID * 100:.0f} %. "
        "They decide no claim;\ndo not rely on what this page says of them:"
    )
    return admonition("Void times", head, *lines) if lines else ""


def noise(*frames: pd.DataFrame) -> None:
    """Show what the run says of its own noise: A/A pairs, other programs, disturbed samples."""
    whole = pd.concat(frames)
    fresh = bool(whole["draw"].notna().any())
    text(noise_text(judge(whole, widths=True), disturbed(whole), fresh=fresh))


def noise_text(judged: Sequence[Noise], counts: Disturbed, *, fresh: bool = True) -> str:
    """Return the noise of a run as MyST."""
    lines = [f"- {_noise(item)}: {item.state}" for item in judged]
    if counts.samples:
        lines.append(
            f"- {counts.retaken} of {counts.samples} samples were disturbed and measured again; "
            f"{counts.left or 'none'} of those that count are disturbed"
        )
    if not fresh:
        lines.append(
            "- All blocks shared their processes and one copy of each file: the next run may lie "
            "outside of these intervals"
        )
    kind = "note" if all(item.state == "clean" for item in judged) else "warning"
    return admonition("Noise of this run", *lines, kind=kind)


def _noise(item: Noise) -> str:
    counted = item.others_cpu == item.others_cpu
    others = f"{100 * item.others_cpu:.0f} % of the CPU" if counted else "not counted here"
    width = item.half_width
    typical = f", typical interval ±{percent(width)}" if width == width and item.ratio.n > 1 else ""
    return f"{item.name}: A/A ratio {item.ratio:.3f}{typical}, other programs {others}"
