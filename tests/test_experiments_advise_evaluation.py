from dataclasses import replace

import pytest
from made_advice import advice, as_if_measured, maps

from hyperslab.experiments.advise_evaluation import judged
from hyperslab.text import Interval


def test_what_found_the_fastest_does_not_judge_the_advice(tmp_path):
    plain = advice(maps(tmp_path / "maps.nc"), tmp_path, {"time_series": 1.0})
    asked, lucky, fair = (as_if_measured(plain, gains) for gains in ([4], [4, 6], [4, 4.2]))
    now = replace(plain.present, measured_gain=Interval(1, 1, 1, 7))
    rows = list(judged("maps", asked, replace(lucky, present=now), replace(fair, present=now)))
    advised = next(row for row in rows if row["mode"] == "advised")
    assert advised["hints"] == plain.rows[0].candidate.name
    assert (advised["rank"], advised["tried"]) == (2, 3)
    assert advised["weight"] == pytest.approx(4.2 / 4)
    best = next(judged("maps", asked, replace(asked, present=now), replace(asked, present=now)))
    assert (best["rank"], best["weight"]) == (1, 1)
