"""Figures are laid out once and drawn for both kinds of pages."""

import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from hyperslab.measure.noise import Disturbed, judge
from hyperslab.measure.records import TEXT, frame_of
from hyperslab.study import show
from hyperslab.study.pictures.style import styled


def draw():
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([1, 2], label="a line")
    left.set_ylabel("of a height")
    shown = right.imshow(np.arange(6).reshape(2, 3))
    figure.colorbar(shown, ax=right, label="colour")
    figure.suptitle("above")
    figure.legend(loc="outside lower center")
    return figure


def places(figure):
    figure.draw_without_rendering()
    boxes = [axes.get_position().bounds for axes in figure.axes]
    return np.array([*boxes, (*figure.texts[0].get_position(), 0, 0)])


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Show a figure; the figures that were drawn for it, and what went to the page."""
    made, seen = [], []

    def kept(function):
        made.append(function())
        return made[-1]

    def put(function=draw):
        session = SimpleNamespace(results=tmp_path, notebook="one")
        show.figure(session, lambda: kept(function), "a-name", "What it shows.", "A  line.")
        return made, seen[-1]

    monkeypatch.setattr(show, "_display", lambda *given: seen.append(given))
    return put


def test_both_styles_look_as_if_each_was_laid_out(shown, tmp_path):
    others = plt.get_fignums()
    (light, dark), (data, metadata) = shown()
    for style, figure in (("light", light), ("dark", dark)):
        with styled(style):
            alone = draw()
            assert np.allclose(places(figure), places(alone), atol=1e-9)
            plt.close(alone)
        text = (tmp_path / f"figures/one/a-name.{style}.svg").read_text()
        assert ("#2b2b2b" in text) == (style == "light")
    assert data["image/png"].startswith(b"\x89PNG")
    assert ":alt: A line.\n" in data[show.MYST]
    assert metadata == {"image/png": {"alt": "A  line."}}
    assert plt.get_fignums() == others


def test_a_figure_of_other_parts_is_laid_out_itself(shown):
    rest = [draw, lambda: plt.subplots()[0]]
    (_, dark), _ = shown(lambda: rest.pop(0)())
    with styled("dark"):
        alone = plt.subplots()[0]
        alone.draw_without_rendering()
    assert np.allclose(dark.axes[0].get_position().bounds, alone.axes[0].get_position().bounds)
    plt.close(alone)


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
