"""Candidates read from a server behind a link: what is measured, said, and left out."""

import math

import pytest
from forked_servers import forking
from made_advice import advice, maps

from hyperslab.advise.advice import far, rank
from hyperslab.advise.advice.trials import try_out
from hyperslab.network.link import Link

forked = pytest.fixture(scope="module", autouse=True)(forking)


LINK = Link(100e6, 0.02)


@pytest.fixture
def file(tmp_path_factory):
    return maps(tmp_path_factory.mktemp("advice") / "maps of.nc")


def test_candidates_are_read_over_the_link_and_compared(file, tmp_path, monkeypatch):
    kept = []

    def seen(*words, **options):
        kept.append(try_out(*words, **options)[0])
        return kept[0], {}

    monkeypatch.setattr(rank, "try_out", seen)
    shares, limits = {"map": 1.0}, {"codecs": ("deflate",), "most_times": math.inf}
    found = advice(file, tmp_path, shares, link=LINK, measured=2, repeats=1, **limits)
    (frame,) = kept
    assert set(frame["status"]) == {"ok"} and frame["verified"].all()
    assert set(frame["phase"]) == {"read:map"}
    assert (frame["wall_s"] >= 2 * LINK.round_trip_s).all()  # a connection, and the file's head
    remedies = {row.candidate.remedy for row in found.rows if row.measured}
    assert remedies == {"", "index", "references"}
    assert found.notes[-1].startswith("what was measured was read from a server on this machine")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_served_is_predicted_and_said(file, tmp_path, monkeypatch):
    monkeypatch.setattr(far, "NEEDED", ("fsspec", "no_such_server"))
    found = advice(file, tmp_path, link=LINK, measured=2)
    assert not any(row.measured for row in (found.present, *found.rows))
    assert "nothing was measured over the network, for want of no_such_server" in found.notes[-1]


def test_what_arrives_with_opening_is_counted_as_the_read_of_it(file, tmp_path):
    """HDF5 files of less than fsspec's read-ahead are in memory when they are open."""
    slow = Link(1e6, 0.01)
    limits = {"codecs": ("deflate",), "most_times": math.inf}
    found = advice(file, tmp_path, {"map": 1.0}, link=slow, measured=1, repeats=1, **limits)
    whole_s = found.present.nbytes / slow.bytes_per_s
    assert found.present.measured["map"].value >= whole_s
    assert found.present.seconds["map"] >= whole_s
