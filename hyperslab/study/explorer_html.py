"""The explorer's table and chooser as HTML that needs no other host."""

import html
import json
from pathlib import Path

import pandas as pd

from .explorer import SHOWN

SCRIPT = Path(__file__).with_name("explorer.js")
STYLE = Path(__file__).with_name("explorer.css")
_WORDS = {"data": "Of", "access": "I read", "chunk": "from chunks of", "place": "by way of"}
_COUNTS = ("requests", "MB moved", "MB read", "calls")
# Four digits, never an exponent; what was not counted is empty, and comes last at the first click.
_RENDER = """function (value, type) {
  const known = typeof value === "number";
  if (type !== "display" && type !== "filter") return known ? value : -Infinity;
  return known ? value.toLocaleString("en", {maximumSignificantDigits: 4}) : "";
}"""


def table(summaries: pd.DataFrame) -> str:
    """Return all summaries as a table that is sorted, searched and filtered in the page.

    Parameters
    ----------
    summaries : pandas.DataFrame
        From `explorer.summaries`.
    """
    from itables import JavascriptFunction, options, to_html_datatable
    from itables.javascript import generate_init_offline_itables_html

    text = summaries.select_dtypes(exclude="number").columns
    shown = summaries.assign(
        **{name: summaries[name].fillna("").astype(str).map(html.escape) for name in text}
    )
    numbers = [n for n, name in enumerate(shown) if name not in set(text)]
    hidden = [n for n, name in enumerate(shown) if name not in SHOWN]
    counts = [n for n, name in enumerate(shown) if name in _COUNTS]
    made = to_html_datatable(
        shown,
        table_id="explorer-samples",
        connected=False,
        showIndex=False,
        maxBytes=0,
        column_filters="footer",
        columnDefs=[
            {"targets": numbers, "render": JavascriptFunction(_RENDER)},
            {"targets": counts, "orderSequence": ["desc", "asc"]},
            {"targets": hidden, "visible": False},
        ],
        layout={"topStart": "buttons", "topEnd": "search"},
        buttons=["pageLength", {"extend": "colvis", "text": "Columns"}],
        pageLength=25,
        classes="display compact",
        scrollX=True,
        text_in_header_can_be_selected=False,  # a click on it sorts
    )
    bundle = generate_init_offline_itables_html(options.dt_bundle)
    return f"{bundle}\n{made}"


def chooser(choices: pd.DataFrame) -> str:
    """Return a chart of the seconds of each way to read, for what the reader picks.

    Parameters
    ----------
    choices : pandas.DataFrame
        From `explorer_choices.choices`.
    """
    picks = "\n".join(
        f'<label>{words} <select name="{part}"></select></label>' for part, words in _WORDS.items()
    )
    rows = choices.astype(object).where(choices.notna(), None).to_dict("records")
    data = json.dumps(rows).replace("<", "\\u003c")
    return (
        f"<style>{STYLE.read_text()}</style>\n"
        f'<div class="chooser" id="chooser"><form>{picks}</form>\n'
        '<table><thead><tr><th scope="col">read with</th>'
        '<th scope="col"><span class="axis" aria-label="time, logarithmic"></span></th>'
        '<th scope="col">time</th></tr></thead><tbody></tbody></table>\n'
        f'<script type="application/json">{data}</script></div>\n'
        f"<script>{SCRIPT.read_text()}</script>"
    )
