"""A codec that is chosen keeps the shuffle of the file, where the format has it."""

from dataclasses import replace

import pytest
from made_bench import SST

from hyperslab.tune.specs.target import Choice, kept_codec

SHUFFLED = replace(SST, codec="deflate 4, shuffle")


@pytest.mark.parametrize(
    ("choice", "format", "expected"),
    [
        (Choice(), "netcdf4", ("deflate", 4, True)),
        (Choice(codec="none"), "netcdf4", (None, None, False)),
        (Choice(codec="deflate", level=1), "netcdf4", ("deflate", 1, True)),
        (Choice(codec="blosc-lz4"), "netcdf4", ("blosc-lz4", None, True)),
        (Choice(codec="zstd", level=3), "netcdf4", ("zstd", 3, False)),
        (Choice(codec="zstd", level=3), "zarr3", ("zstd", 3, False)),
        (Choice(), "netcdf3", (None, None, False)),
    ],
)
def test_shuffle_stays_unless_it_is_chosen(choice, format, expected):
    assert kept_codec(SHUFFLED, choice, format) == expected


def test_what_was_not_shuffled_is_not():
    plain = replace(SHUFFLED, codec="deflate 4")
    assert kept_codec(plain, Choice(codec="zstd", level=3), "netcdf4") == ("zstd", 3, False)
