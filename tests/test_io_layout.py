"""Layouts: what they accept, refuse and record."""

import math
from dataclasses import replace

import pytest

from hyperslab.io import CODECS, FORMATS, LEVELS, Layout


def test_a_layout_is_a_value_with_a_suffix_and_columns():
    suffixes = {"binary": ".bin", "hdf5": ".h5", "zarr2": ".zarr", "zarr3": ".zarr",
                "nczarr": ".zarr"}  # fmt: skip
    for format in FORMATS:
        layout = Layout(format)
        assert layout.suffix == suffixes.get(format, ".nc")
    assert hash(Layout("hdf5", chunks=[4, 8])) == hash(Layout("hdf5", chunks=(4, 8)))
    layout = Layout("netcdf4", chunks=(790, 790), codec="zstd", level=7)
    assert layout.record() == {
        "format": "netcdf4", "codec": "zstd", "level": 7, "shuffle": False, "chunks": "790x790",
    }  # fmt: skip
    plain = Layout("netcdf3", byteorder="big").record()  # as it is by nature
    assert (plain["codec"], plain["chunks"]) == ("", "") and math.isnan(plain["level"])


def test_levels_have_ends_and_a_missing_one_is_the_codecs_own():
    for codec in CODECS:
        low, high, default = LEVELS.get(codec, (None, None, None))
        layout = Layout("zarr2" if default else "hdf5", (10,), codec)
        assert layout.effective_level == default
        if default:
            assert replace(layout, level=low).effective_level == low
            assert replace(layout, level=high).effective_level == high
            for level in (low - 1, high + 1):
                with pytest.raises(ValueError, match=f"{level}: {codec} takes {low} to {high}"):
                    replace(layout, level=level)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"format": "netcdf5"}, "format='netcdf5': give one of binary, netcdf3"),
        ({"byteorder": "middle"}, "byteorder='middle': give one of native, little, big"),
        ({"codec": "gzip", "chunks": (1,)}, "codec='gzip': give one of deflate"),
        ({"chunks": (0, 1)}, r"chunks=\(0, 1\): give a tuple of integers of at least 1"),
        ({"chunks": "790x790"}, "chunks='790x790': give a tuple of integers"),
        ({"chunks": (True,)}, r"chunks=\(True,\): give a tuple of integers"),
        ({"codec": "deflate"}, "contiguous data cannot be compressed; give chunks"),
        ({"codec": "lzf", "chunks": (1,)}, "codec='lzf' with format='netcdf4': it takes deflate"),
        ({"level": 4}, "level=4 with codec=None: it has no effect"),
        ({"shuffle": True}, "shuffle=True with codec=None: it has no effect"),
        ({"format": "hdf5", "chunks": (1,), "codec": "lzf", "level": 1}, "lzf has no levels"),
        ({"codec": "zstd", "chunks": (1,), "shuffle": True}, "leave the bytes unshuffled"),
        ({"fletcher32": True}, "checksums need chunks"),
        ({"fletcher32": True, "format": "zarr2"}, "only netcdf4, netcdf4-classic, hdf5 have"),
        ({"prefill": False, "format": "binary"}, "have prefill; leave prefill out"),
        ({"byteorder": "little", "format": "netcdf3"}, "always big-endian; leave byteorder out"),
        ({"byteorder": "big", "format": "nczarr"}, "swaps the bytes of its fill values"),
        ({"shards": (4,), "format": "zarr3"}, "a shard holds whole chunks"),
        ({"shards": (4, 4), "chunks": (2,), "format": "zarr3"}, "as many axes as the shards"),
        ({"shards": (5,), "chunks": (2,), "format": "zarr3"}, "a multiple of the chunk's"),
        ({"page_bytes": 4096}, "only hdf5 have page_bytes"),
        ({"page_bytes": 100, "format": "hdf5"}, "integers of at least 512"),
        ({"quantize": ("bitshave", 7)}, r"quantize=\('bitshave', 7\): give \('bitgroom'"),
        ({"quantize": ("bitround", 1.5)}, "a number of digits"),
        ({"quantize": ("bitgroom", 16)}, "bitgroom takes 1 to 15"),
        ({"format": "cdf5", "codec": "deflate"}, "format='cdf5': it takes no codec"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        Layout(**given)
