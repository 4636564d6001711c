"""Maps in layouts: rounded within bounds, and what is left of their waves."""

from functools import partial

import numpy as np
import pytest
from made_claims import COMMON, timed

from hyperslab.analysis.choice import smallest_of_fastest
from hyperslab.analysis.compare import compare
from hyperslab.experiments import codecs_today as codecs
from hyperslab.io import Layout
from hyperslab.io.experiment import Array
from hyperslab.measure.records import frame_of

FILL = 1e20


def test_what_is_missing_stays_missing_and_only_rounding_changes_values(tmp_path):
    values = 280 + np.random.default_rng(0).normal(size=(2, 40, 60)).astype("f4")
    values[:, :10] = FILL
    maps = Array(partial(codecs.maps, values, 2, 1), (2, 40, 60), "f4", "air")
    ways = {
        "exact": {"codec": "deflate"},
        "BitRound": {"codec": "deflate", "quantize": ("bitround", 8)},
        "BitGroom, Blosc": {"codec": "blosc-zstd", "quantize": ("bitgroom", 3)},
    }
    files = {
        ("air", name): codecs.Stored(
            tmp_path / f"{name}.nc", maps, Layout(chunks=(1, 20, 30), **how), FILL
        )
        for name, how in ways.items()
    }
    codecs.write(files)
    for file in files.values():
        exact, given = np.load(file.exact), file.part(...)()
        assert np.array_equal(given == np.float32(FILL), exact == np.float32(FILL))
        assert np.array_equal(given, exact) == (file.layout.quantize is None)
    assert {row["layout"] for row in codecs.fidelities(files)} == {*ways} - {"exact"}


def test_rounding_beyond_its_bound_and_what_is_missing_elsewhere_are_refused():
    values = np.array([1.0, 2.0], "f4")
    layout = Layout(chunks=(2,), quantize=("bitround", 8))
    codecs.check_bound(values, values * np.float32(1.001), layout, None)
    assert codecs.bound(Layout(chunks=(2,), quantize=("bitgroom", 3))) == 0.005
    with pytest.raises(ValueError, match=r"changed a value by 0\.01"):
        codecs.check_bound(values, values * np.float32(1.01), layout, None)
    land, sea = np.full((16, 16), FILL, "f4"), np.zeros((16, 16), "f4")
    with pytest.raises(ValueError, match="missing"):
        codecs.bands([(land, sea)], FILL)


def test_noise_hides_what_is_small():
    """A long wave of size 1 and noise of 0.01: what rounds by 0.1 keeps the one, not the other."""
    rows, columns = np.indices((96, 128))
    wave = np.sin(2 * np.pi * columns / 64 + 0.1 * rows)
    noisy = (wave + 0.01 * np.random.default_rng(1).normal(size=wave.shape)).astype("f4")
    found = codecs.bands([(noisy, np.round(noisy, 1))])
    coherence = [band["coherence"] for band in found]
    assert max(coherence) > 0.999 and min(coherence) < 0.9
    assert found[0]["error"] == pytest.approx(0.05, rel=0.01)
    assert 2 < found[0]["kept_from"] < 128


def test_what_is_as_fast_and_smaller_is_chosen_and_what_was_read_once_is_not():
    seconds = {"LZ4": 1.0, "zstd": 1.0, "deflate": 2.0, "once": 0.1}
    rows = []
    for name, wall_s in seconds.items():
        row = {**COMMON, "phase": "read", "layout": name}
        rows += timed(wall_s, blocks=1 if name == "once" else 6, **row)
    times = compare(frame_of(rows, ["layout"]), "wall_s", "layout")
    sizes = {"LZ4": 4.0, "zstd": 3.0, "deflate": 2.0, "once": 1.0}
    assert smallest_of_fastest(times, sizes, seconds) == "zstd"
    assert smallest_of_fastest(times, sizes, ["deflate", "LZ4"]) == "LZ4"
