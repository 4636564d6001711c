"""The options of `hyperslab bench`, for people who know bm_file and hyperfine."""

from __future__ import annotations

import argparse
from typing import Any

_ABOUT = """\
Copy variables of FILE into other layouts, and time writing them, opening them
and reading them back by the usual access patterns, cold and warm. With FILE
alone: its largest variable, as it is stored now (copy), in the library's
default chunks, and in chunks that suit a time series, a map, and both. Samples
are interleaved and run in fresh processes; the layout as it is is measured
twice, so that the noise of the run is known. Every value is compared with the
original. In brackets below: what is taken when an option is not given.
"""

_EXAMPLES = """\
examples:
  hyperslab bench sst.nc                           what suits this file?
  hyperslab bench sst.nc --chunks time=100,lat=50,lon=50 --chunks default
  hyperslab bench sst.nc --grid codec=none/deflate:1/zstd:3 --grid chunks=same/auto
  hyperslab bench sst.nc -f zarr --codec blosc-zstd --csv sst.csv --plot sst.png
  hyperslab bench https://host/sst.nc --variables sst,ice --patterns map,profile
  hyperslab bench sst.nc --ranks 4                 written and read through MPI
  hyperslab bench sst.nc -f 3 -c 0:-1:0:64:16:16 -c 0:2:1:9:99:99     as bm_file

exit codes: 0; 1 a layout failed, holds wrong values, or the run was interrupted;
2 what was asked for cannot be had, and nothing was measured.

Options of bm_file keep their letter, but for five: -h is help here; its -d (reread)
and -m (compare) are always done; its -p and -i are --ranks and --independent. The
page "hyperslab bench" of the book has the whole table.
"""

# By group: the words of an option, what else argparse takes, and its help.
_GROUPS: dict[str, list[tuple[tuple[str, ...], dict[str, Any], str]]] = {
    "layouts to try (several values of --chunks: each)": [
        (("-f", "--format"), {"metavar": "F"},
         "1 netcdf3, 2 netcdf3-64bit, 3 netcdf4, 4 netcdf4-classic, 5 cdf5, or hdf5, zarr2, "
         "zarr3, nczarr (the file's; netcdf4 where a classic file would need chunks)"),
        (("--chunks",), {"metavar": "C", "action": "append"},
         "1,721,1440 or time=1,lat=721 (others keep theirs), default (the library's choice), "
         "auto (one layout each for a map, a series and both), same, contiguous; may be repeated"),
        (("--codec",), {"metavar": "NAME[:LEVEL]"},
         "none, deflate, zstd, blosc-lz4, blosc-zstd, bzip2, szip or lzf (the file's)"),
        (("--shuffle",), {"action": argparse.BooleanOptionalAction, "default": None},
         "shuffle bytes before the codec (as the file does)"),
        (("--quantize",), {"metavar": "MODE:N"},
         "keep N digits (bitgroom, granular_bitround) or N bits (bitround) of floats"),
        (("-e", "--endian"), {"metavar": "1|2"}, "byte order: 1 or little, 2 or big (the file's)"),
        (("--cache",), {"metavar": "SIZE"},
         "chunk cache of each variable, such as 64MiB (the library's)"),
        (("--grid",), {"metavar": "NAME=V/V", "action": "append", "default": []},
         "try every combination: format, chunks, codec, shuffle, quantize, endian or cache with "
         "its values; may be repeated"),
        (("-c",), {"metavar": "V:Z:S:C:C:C[,…]", "dest": "bm", "action": "append", "default": []},
         "as bm_file: variable (number or name), deflate level (-1 none), shuffle (0 or 1), "
         "chunk lengths (none: the library's); each -c is one layout"),
        (("--no-copy",), {"dest": "copy", "action": "store_false"},
         "leave out the layout as it is, which others are compared with"),
    ],
    "reads to time": [
        (("--patterns",), {"metavar": "A,B", "action": "append"},
         "time_series, map, profile, row, column, whole, or none (those that the dimensions of "
         "the variable suggest)"),
        (("-s", "--slabs"), {"metavar": "N", "type": int},
         "read in slabs of 1/N of the slowest dimension"),
        (("-t",), {"metavar": "V:N:N:N[,…]", "dest": "starts"},
         "read boxes: where the first one starts"),
        (("-u",), {"metavar": "V:N:N:N[,…]", "dest": "counts"}, "… how large they are"),
        (("-r",), {"metavar": "V:N:N:N[,…]", "dest": "increments"},
         "… how far apart (-t, -u, -r together)"),
    ],
    "measuring": [
        (("--repeats",), {"metavar": "N", "type": int, "default": 7},
         "how often each layout is measured; intervals need 6 (7)"),
        (("--memory",), {"metavar": "SIZE", "default": "256MiB"},
         "most memory of the process that makes a copy, libraries included (256MiB)"),
        (("--no-verify",), {"dest": "verify", "action": "store_false"},
         "do not compare the values of copies with the original"),
        (("--ranks",), {"metavar": "N", "type": int},
         "write and read one variable by N processes together, through MPI and parallel HDF5, "
         "each a part of its slowest dimension"),
        (("--independent",), {"action": "store_true"},
         "with --ranks: each rank for itself, not in collective calls"),
        (("--workdir",), {"metavar": "DIR"},
         "where copies are made: what is timed is the disk that this is on (here)"),
        (("--seed",), {"metavar": "N", "type": int, "default": 0}, "of the order (0)"),
    ],
    "results": [
        (("--csv",), {"metavar": "FILE"},
         "one line a layout, bm_file's columns first (chunks and codec of the largest variable); "
         "- for output"),
        (("--json",), {"metavar": "FILE"}, "the same with the sentences; - for output"),
        (("--parquet",), {"metavar": "FILE"}, "every sample and phase"),
        (("--plot",), {"metavar": "FILE"}, "a picture: .png, .svg or .pdf"),
        (("--html",), {"metavar": "FILE"}, "the report and the picture as one page"),
        (("-o", "--output"), {"metavar": "FILE"},
         "write the best layout (over the patterns; the one asked for, if one) to FILE"),
        (("-v", "--verbose"), {"action": "store_true"}, "also show calls, bytes and CPU time"),
        (("-q", "--quiet"), {"action": "store_true"}, "no progress"),
    ],
}  # fmt: skip


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the command `bench` with its options, and return its parser."""
    parser = commands.add_parser(
        "bench",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="hyperslab bench [options] FILE",
        allow_abbrev=False,
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="netCDF (classic, 64-bit offset, CDF-5, netCDF-4), HDF5 or Zarr; a path or a URL",
    )
    parser.add_argument(
        "--variables",
        action="append",
        metavar="A,B",
        help="which to copy, group/name in groups; all for every one (the largest)",
    )
    for title, options in _GROUPS.items():
        group = parser.add_argument_group(title)
        for words, more, what in options:
            group.add_argument(*words, help=what, **more)
    return parser
