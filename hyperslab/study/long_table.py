"""A long table that a reader sorts, searches and filters in the page, without any other host."""

import html
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from . import show

# Four digits, never an exponent; what was not counted is empty, and comes last at the first click.
_RENDER = """function (value, type) {
  const known = typeof value === "number";
  if (type !== "display" && type !== "filter") return known ? value : -Infinity;
  return known ? value.toLocaleString("en", {maximumSignificantDigits: 4}) : "";
}"""


def listing(frame: pd.DataFrame, name: str, **how: Any) -> None:
    """Show a table that is sorted, searched and filtered in the page; see `markup`."""
    show.html(markup(frame, name, **how))


def markup(
    frame: pd.DataFrame,
    name: str,
    *,
    hidden: Sequence[str] = (),
    falling: Sequence[str] = (),
    links: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the HTML of `listing`: columns that are hidden, sorted from the largest, or links."""
    from itables import JavascriptFunction, options, to_html_datatable
    from itables.javascript import generate_init_offline_itables_html

    numbers, shown = list(map(str, frame.select_dtypes("number"))), frame.copy()
    for column in frame.columns.difference(numbers):
        shown[column] = frame[column].fillna("").astype(str).map(html.escape)
    for column, addresses in (links or {}).items():
        pairs = zip(shown[column], addresses, strict=True)
        shown[column] = [f'<a href="{html.escape(address)}">{cell}</a>' for cell, address in pairs]

    def numbered(chosen: Collection[str]) -> list[int]:
        return [number for number, column in enumerate(shown) if column in chosen]

    render, falls = JavascriptFunction(_RENDER), ["desc", "asc"]
    table = to_html_datatable(
        shown,
        table_id=name,
        connected=False,
        showIndex=False,
        allow_html=True,  # all text is escaped above
        maxBytes=0,
        column_filters="footer",
        columnDefs=[
            {"targets": numbered(numbers), "render": render},
            {"targets": numbered(falling), "orderSequence": falls},
            {"targets": numbered(hidden), "visible": False},
        ],
        layout={"topStart": "buttons", "topEnd": "search"},
        buttons=["pageLength", {"extend": "colvis", "text": "Columns"}],
        pageLength=25,
        order=[],  # as it is given
        classes="display compact",
        scrollX=True,
        text_in_header_can_be_selected=False,  # a click on it sorts
    )
    return f"{generate_init_offline_itables_html(options.dt_bundle)}\n{table}"
