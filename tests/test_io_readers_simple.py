"""hidefix and pyfive, which take only simple files: those, and how they refuse the others."""

import h5py
import numpy as np
import pytest
from contracts.readers import ReaderContract, Truth

from hyperslab.io import reader as reader_named
from hyperslab.io import readers

HERE = [name for name in ("hidefix", "pyfive") if name in readers()]


@pytest.fixture(scope="session", params=HERE)
def reader(request):
    return reader_named(request.param)


@pytest.fixture(scope="session")
def truth(tmp_path_factory):
    """What they take: nothing missing, no checksum, deflate at most."""
    folder = tmp_path_factory.mktemp("simple")
    (folder / "text.nc").write_text("This is no data.\n" * 1000)
    (folder / "folder").mkdir()
    random = np.random.default_rng(3)
    values = {
        "main": random.normal(size=(7, 11, 13)).astype("f4"),
        "frames": random.normal(size=(7, 11, 13)).astype("f4"),
        "one": random.normal(size=(7, 1, 13)).astype("f4"),
        "plain": np.arange(143, dtype="i2").reshape(11, 13),
        "group/deep": np.arange(143.0).reshape(11, 13),
        "scalar": np.array(2.5),
    }
    with h5py.File(folder / "data.h5", "w") as file:
        kinds = {"chunks": (3, 4, 5), "compression": 4, "shuffle": True}
        file.create_dataset("main", data=values["main"], **kinds)
        file.create_dataset("frames", data=values["frames"], chunks=(1, 11, 13), compression=1)
        file.create_dataset("one", data=values["one"], chunks=(3, 1, 5), compression=1)
        for name in ("plain", "group/deep", "scalar"):
            file[name] = values[name]
    return Truth(folder / "data.h5", values, "main", folder)


class TestSimple(ReaderContract):
    """The readers' contract, on such a file."""

    def test_series_and_parts_of_whole_chunks(self, reader, truth):
        values = truth.values["frames"]
        with reader.open(truth.path, "frames") as opened:
            for selection in (
                (slice(None), 4, 7), (slice(1, 6, 2), 10, 12), (slice(0, 2), slice(0, 1)), 3,
                (2, slice(3, 9, 2)), (slice(2, 5), slice(None), slice(11, 13)),
            ):  # fmt: skip
                assert np.array_equal(opened.read(selection), values[selection])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("hidefix", {"data": np.arange(10.0), "chunks": (5,), "compression": "lzf"}),
        ("hidefix", {"data": np.arange(10.0), "chunks": (5,), "fletcher32": True}),
        ("hidefix", {"data": np.arange(10, dtype=">f4")}),
        ("hidefix", {"shape": (10,), "dtype": "f4", "chunks": (5,)}),
        ("pyfive", {"shape": (10,), "dtype": "f4", "chunks": (5,)}),
    ],
    ids=["lzf", "checksum", "big-endian", "missing-chunks", "missing-chunks-by-pyfive"],
)
def test_what_it_cannot_read_is_an_error_and_not_wrong(tmp_path, name, other):
    if name not in HERE:
        pytest.skip(f"{name} is not installed")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("x", **other)
        if "shape" in other:
            made[:5] = 1  # one chunk of two
    with pytest.raises(OSError, match=rf"a\.h5: {name} cannot open 'x': ."):
        reader_named(name).open(tmp_path / "a.h5", "x")
