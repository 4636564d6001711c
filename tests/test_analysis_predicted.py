"""How good predictions are, on records made up here."""

import pytest

from hyperslab.analysis.predicted import beside, errors, gains, share, winners
from hyperslab.measure.records import frame_of


def records(off):
    """Eight reads, warm and cold in turn, each measured thrice, and predicted by a factor off."""
    measured, predicted = [], []
    for n in range(8):
        read = {
            "case": f"ocean: {n}/map", "cache_state": "cold" if n % 2 else "warm",
            "codec": "deflate" if n < 6 else "", "phase": "read", "status": "ok",
        }  # fmt: skip
        seconds = 1e-3 * 2**n
        measured += [read | {"block": block, "wall_s": seconds} for block in range(3)]
        predicted.append(read | {"mode": "blind", "wall_s": seconds * off})
    return frame_of(measured), frame_of(predicted)


def test_errors_are_told_apart_by_regime_and_what_was_not_measured_has_none():
    measured, predicted = records(1.1)
    measured = measured[measured["case"] != "ocean: 0/map"]
    found = errors(beside(measured, predicted), ["regime"])
    reads = {"cold, decoded": 3, "warm, decoded": 2, "warm, not decoded": 1, "cold, not decoded": 1}
    assert found["reads"].to_dict() == reads
    assert found[["median", "p90", "bias"]].to_numpy() == pytest.approx(0.1)


def test_winners_are_named_among_reads_that_are_alike():
    found = beside(*records(1.0))
    assert winners(found, ["cache_state"]) == (12, 12)
    assert winners(found) == (28, 28)
    found["predicted"] = found["seconds"].max() - found["seconds"]
    assert winners(found) == (0, 28)
    assert winners(found.iloc[:1]) == (0, 0)
    assert f"{share(29, 31):%}" == "94 % [79 %, 99 %]"


def test_leaving_a_file_as_it_is_has_no_gain_that_could_be_off():
    rows = [
        {"hints": "as it is", "gain_predicted": 1.0, "gain": 1.0},
        {"hints": "1x2", "gain_predicted": 2.0, "gain": 3.0},
        {"hints": "2x1", "gain_predicted": 3.0, "gain": 2.0},
        {"hints": "2x2", "gain_predicted": 3.0},
    ]
    assert gains(frame_of(rows))["off"].tolist() == [1.5, 1.5]
