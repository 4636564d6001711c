"""Points where deflate's blocks end."""

import zlib

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.deflate import walk as walking
from hyperslab.subchunk.deflate.inflate import WINDOW, inflate_from
from hyperslab.subchunk.deflate.walk import NoZlibError, walk

RNG = np.random.default_rng(2)
TEXTURES = {
    "noise": RNG.integers(0, 256, 300_000).astype("u1"),
    "series": np.cumsum(RNG.integers(-3, 4, 150_000)).astype("<f4").view("u1"),
    "planes": np.cumsum(RNG.integers(-3, 4, 150_000)).astype("<f4").view("u1").reshape(-1, 4).T,
    "same": np.zeros(400_000, "u1"),
}


@pytest.mark.parametrize("level", [0, 1, 4, 9])
@pytest.mark.parametrize("texture", sorted(TEXTURES))
@pytest.mark.parametrize("spacing", [1, 50_000])
def test_decompression_starts_at_each(texture, level, spacing):
    values = np.ascontiguousarray(TEXTURES[texture]).reshape(-1)
    stream = np.frombuffer(zlib.compress(values.tobytes(), level), "u1")
    output = np.empty_like(values)
    places = walk(stream, spacing, output, blocks=True)
    assert np.array_equal(output, values)
    assert (places.out[0], places.bit[0]) == (0, 16)
    assert (np.diff(places.out.astype(int)) >= spacing).all()
    assert (places.header_start == places.header_stop).all()
    for out, bit in zip(places.out.tolist(), places.bit.tolist(), strict=True):
        window = values[max(0, out - WINDOW) : out].tobytes()
        rest = inflate_from(stream.data[bit >> 3 :], bit & 7, (0, 0), window, values.size, zlib)
        assert rest == values[out:].tobytes()


def test_without_a_shared_zlib_the_error_says_what_to_install(monkeypatch, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(9000), chunks=(9000,), compression=4)
    walking.library.cache_clear()
    monkeypatch.setattr(walking, "_candidates", lambda: iter(["no-such-library.so"]))
    with pytest.raises(NoZlibError, match=r"no shared zlib was found.*apt install zlib1g"):
        subchunk.build(tmp_path / "x.h5")
