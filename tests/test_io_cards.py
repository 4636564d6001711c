"""Which readers there are, and how they say what is missing."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from hyperslab.io import cards, reader, readers
from hyperslab.io.cards import Card

ORDER = (
    "plain", "netcdf4", "netcdf-c", "h5py", "h5py-paged", "subchunk", "chunkindex_layout",
    "h5netcdf", "pyfive", *(["hidefix"] if find_spec("hidefix") else []),
    "xarray-netcdf4", "xarray-h5netcdf", "xarray-zarr", "zarr", "nczarr",
)  # fmt: skip


def test_places_have_their_readers_and_without_s3fs_what_obstore_reads_is_left(monkeypatch):
    assert readers() == ORDER
    assert set(readers(place="http")) - set(readers(place="s3")) == {"netcdf4", "xarray-netcdf4"}
    monkeypatch.setattr(cards, "_OPENERS", {"s3": ("no_such_s3fs",)})
    assert readers("hdf5", place="s3") == (
        "subchunk-obstore", "virtualizarr", "virtualizarr-kerchunk",
    )  # fmt: skip
    with pytest.raises(ValueError, match="place='gs': give one of file, http, s3"):
        readers(place="gs")


def test_an_unknown_reader_or_format_is_named_with_what_there_is(monkeypatch):
    with pytest.raises(ValueError, match=r"no reader 'gdal'; give one of plain, netcdf4"):
        reader("gdal")
    with pytest.raises(ValueError, match=r"format='grib': give one of binary"):
        readers("grib")
    absent = Card("gdal", "gdal", frozenset({"netcdf4"}), "gdal", ("no_such_module",))
    monkeypatch.setattr(cards, "CARDS", (*cards.CARDS, absent))
    assert "gdal" not in readers()
    with pytest.raises(ValueError, match=r"needs no_such_module.*pip install.*usable are plain"):
        reader("gdal")


def test_without_a_compiler_the_reader_in_c_is_left_out_by_name(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    cards.reader.cache_clear()
    assert readers() == tuple(name for name in ORDER if name != "netcdf-c")
    with pytest.raises(ValueError, match=r"'netcdf-c' needs a C compiler.*apt-get install gcc"):
        reader("netcdf-c")


IMPORTED = """
import threading
from hyperslab.io import reader, readers
for name in readers():
    reader(name)
print(threading.active_count())
"""


def test_readers_have_no_threads_when_they_are_imported():
    """Samples are forked from a process that has done so."""
    words = [sys.executable, "-W", "error", "-c", IMPORTED]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")
