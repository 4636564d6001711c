"""Figures, noise and markup on a page."""

import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from hyperslab.measure.noise import Disturbed, judge
from hyperslab.measure.records import TEXT, frame_of
from hyperslab.study import show
from hyperslab.study.pictures.style import STYLES


def test_a_figure_is_drawn_for_light_and_for_dark_pages(monkeypatch, tmp_path):
    seen, others = [], plt.get_fignums()
    monkeypatch.setattr(show, "_display", lambda *given: seen.append(given))
    place = SimpleNamespace(results=tmp_path, notebook="one")
    show.figure(place, lambda: plt.subplots()[0], "a-name", "What it shows.", "A  line.")
    for style in STYLES:
        text = (tmp_path / f"figures/one/a-name.{style}.svg").read_text()
        assert ("#2b2b2b" in text) == (style == "light")
    ((data, metadata),) = seen
    assert data["image/png"].startswith(b"\x89PNG")
    assert ":alt: A line.\n" in data[show.MYST]
    assert metadata == {"image/png": {"alt": "A  line."}}
    assert plt.get_fignums() == others


@pytest.mark.parametrize(("blocks", "said"), [(1, "one block, no interval"), (4, "the range of 4")])
def test_few_blocks_of_an_aa_pair_have_no_interval(blocks, said):
    row = {"experiment": "e", "case": "a", "phase": "read"}
    rows = [row | {"aa": aa, "block": b, "wall_s": 1.0 + b} for b in range(blocks) for aa in "AB"]
    text = show.noise_text(judge(frame_of(rows)), Disturbed(9, 3, 2))
    assert said in text and "[" not in text and "2 of those" in text


EVIL = "<script>alert(3)</script> {{role}} {math}`x` | *a* \x07\x1b[31m\n```{raw} html\n# a"


def test_markup_in_records_is_shown_and_does_nothing(monkeypatch):
    seen = []
    monkeypatch.setattr(show, "_display", seen.append)
    show.table(pd.DataFrame({name: [EVIL] for name in TEXT}), "a-name", "Words.")
    row = seen[0][show.MYST].splitlines()[-2]
    assert row.count(" | ") == len(TEXT) - 1 and row.isprintable()
    assert not re.search(r"(?<!\\)[<{]", row) and "<script>" not in seen[0]["text/html"]
    evil = dict.fromkeys(("experiment", "cache_state", "case", "status"), EVIL)
    said = show.lost_text(frame_of([{**evil, "block": 0}]))
    assert said.count("# a") == 4 and said.count("```") == 2
    assert not re.search(r"(?<!\\)[<{]", said.removeprefix("```{"))
