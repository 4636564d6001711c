"""The options of `hyperslab bench`, for people who know bm_file and hyperfine."""

from __future__ import annotations

import argparse

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
  hyperslab bench sst.nc -f 3 -c 0:-1:0:64:16:16 -c 0:2:1:9:99:99     as bm_file

exit codes: 0; 1 a layout failed, holds wrong values, or the run was interrupted;
2 what was asked for cannot be had, and nothing was measured.

Options of bm_file keep their letter, but for two: its -h (print a header) is not
needed, since --csv always has one and -h is help here; its -d (reread) is always
done. The page "hyperslab bench" of the book has the whole table.
"""


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
    _layouts(parser.add_argument_group("layouts to try (several values of --chunks: each)"))
    _reads(parser.add_argument_group("reads to time"))
    _measuring(parser.add_argument_group("measuring"))
    _results(parser.add_argument_group("results"))
    return parser


def _layouts(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-f", "--format", metavar="F",
        help="1 netcdf3, 2 netcdf3-64bit, 3 netcdf4, 4 netcdf4-classic, 5 cdf5, or hdf5, zarr2, "
        "zarr3, nczarr (the file's; netcdf4 where a classic file would need chunks)",
    )  # fmt: skip
    group.add_argument(
        "--chunks", action="append", metavar="C",
        help="1,721,1440 or time=1,lat=721 (others keep theirs), default (the library's choice), "
        "auto (one layout each for a map, a series and both), same, contiguous; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--codec", metavar="NAME[:LEVEL]",
        help="none, deflate, zstd, blosc-lz4, blosc-zstd, bzip2, szip or lzf (the file's)",
    )  # fmt: skip
    group.add_argument(
        "--shuffle", action=argparse.BooleanOptionalAction, default=None,
        help="shuffle bytes before the codec (as the file does)",
    )  # fmt: skip
    group.add_argument(
        "--quantize", metavar="MODE:N",
        help="keep N digits (bitgroom, granular_bitround) or N bits (bitround) of floats",
    )  # fmt: skip
    group.add_argument(
        "-e", "--endian", metavar="1|2", help="byte order: 1 or little, 2 or big (the file's)"
    )
    group.add_argument(
        "--cache",
        metavar="SIZE",
        help="chunk cache of each variable, such as 64MiB (the library's)",
    )
    group.add_argument(
        "--grid", action="append", default=[], metavar="NAME=V/V",
        help="try every combination: format, chunks, codec, shuffle, quantize, endian or cache "
        "with its values; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "-c", dest="bm", action="append", default=[], metavar="V:Z:S:C:C:C[,…]",
        help="as bm_file: variable (number or name), deflate level (-1 none), shuffle (0 or 1), "
        "chunk lengths (none: the library's); each -c is one layout",
    )  # fmt: skip
    group.add_argument(
        "--no-copy", dest="copy", action="store_false",
        help="leave out the layout as it is, which others are compared with",
    )  # fmt: skip


def _reads(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--patterns", action="append", metavar="A,B",
        help="time_series, map, profile, row, column, whole, or none (those that the dimensions "
        "of the variable suggest)",
    )  # fmt: skip
    group.add_argument(
        "-s", "--slabs", type=int, metavar="N",
        help="read in slabs of 1/N of the slowest dimension",
    )  # fmt: skip
    group.add_argument(
        "-t", dest="starts", metavar="V:N:N:N[,…]", help="read boxes: where the first one starts"
    )
    group.add_argument("-u", dest="counts", metavar="V:N:N:N[,…]", help="… how large they are")
    group.add_argument(
        "-r", dest="increments", metavar="V:N:N:N[,…]", help="… how far apart (-t, -u, -r together)"
    )


def _measuring(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--repeats", type=int, default=7, metavar="N",
        help="how often each layout is measured; intervals need 6 (7)",
    )  # fmt: skip
    group.add_argument(
        "--memory", default="256MiB", metavar="SIZE",
        help="most memory of the process that makes a copy, libraries included (256MiB)",
    )  # fmt: skip
    group.add_argument(
        "--verify", "-m", action=argparse.BooleanOptionalAction, default=True,
        help="compare every value of every copy with the original (on)",
    )  # fmt: skip
    group.add_argument(
        "-d", action="store_true", dest="doublecheck", help="reread the copy, as is always done"
    )
    group.add_argument(
        "-p", "--parallel", action="store_true", help="refused: copies are made by one process"
    )
    group.add_argument("-i", action="store_true", dest="mpiio", help="changes nothing without -p")
    group.add_argument(
        "--workdir", metavar="DIR",
        help="where copies are made: what is timed is the disk that this is on (here)",
    )  # fmt: skip
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the order (0)")


def _results(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--csv",
        metavar="FILE",
        help="one line a layout, bm_file's columns first (chunks and codec "
        "of the largest variable); - for output",
    )
    group.add_argument("--json", metavar="FILE", help="the same with the sentences; - for output")
    group.add_argument("--parquet", metavar="FILE", help="every sample and phase")
    group.add_argument("--plot", metavar="FILE", help="a picture: .png, .svg or .pdf")
    group.add_argument(
        "-o", "--output", metavar="FILE",
        help="write the best layout (over the patterns; the one asked for, if one) to FILE",
    )  # fmt: skip
    group.add_argument("--keep", metavar="DIR", help="write every layout to DIR")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="also show calls, bytes and CPU time"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress")
