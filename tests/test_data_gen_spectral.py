"""Random fields with a prescribed spectrum."""

import numpy as np
import pytest

from data_gen.spectral import (
    amplitude,
    field,
    radial_spectrum,
    slope,
    stream,
    wavenumbers,
    white,
)


@pytest.fixture(scope="module")
def waves():
    ky, kx = wavenumbers((256, 256))
    return np.hypot(ky, kx)


def drawn(spectrum, seed=0):
    modes = white(stream(seed, "test"), spectrum.shape) * spectrum
    return field(modes, (256, 256), (256, 256))


def test_streams_depend_on_seed_and_every_word():
    first = stream(0, "a", "b").random(4)
    assert (first == stream(0, "a", "b").random(4)).all()
    for other in (stream(1, "a", "b"), stream(0, "b", "a"), stream(0, "a")):
        assert (first != other.random(4)).all()


@pytest.mark.parametrize("wanted", [5 / 3, 3.0])
def test_a_field_has_the_slope_it_was_asked_for(waves, wanted):
    k, energy = radial_spectrum(drawn(amplitude(waves, wanted, 2.0)), 1 / 256, 1 / 256)
    assert slope(k, energy, 8, 80) == pytest.approx(-wanted, abs=0.25)
