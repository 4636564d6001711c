"""The options of `hyperslab advise`."""

from __future__ import annotations

import argparse

_ABOUT = """\
Say what the reads of FILE cost and why, in chunks, bytes and calls, and rank what
would make them cheaper: other chunks, codecs and formats, and remedies that leave
the file as it is. Times are predicted from counts by a cost model of this machine
(calibrated once, in under two minutes); the best few are measured on a sample of
the file. FILE is only read. In brackets below: what is taken when an option is
not given.
"""

_EXAMPLES = """\
examples:
  hyperslab advise sst.nc
  hyperslab advise sst.nc --access time_series=0.7 --access map=0.3
  hyperslab advise sst.nc --access time_series=70%,map=30% --budget 2x
  hyperslab advise model.h5 --access time_series --dims time=dim_0,y=dim_1,x=dim_2
  hyperslab advise https://host/sst.nc --store 20MB/s,80ms
  hyperslab advise sst.nc --no-measure --json advice.json --plot advice.svg
  hyperslab advise --calibrate

A share is that of all reads: with time_series=0.7 and map=0.3, seven of ten reads
are time series. Shares sum to 1, or to 100 in percent; names without shares weigh
alike. A gain is the time of an average read now over that with the advice.

hyperslab rechunk rewrites the file: the report has its command for each layout.

exit codes: 0; 1 the run was interrupted; 2 what was asked for cannot be had, and
nothing was measured.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the command `advise` with its options, and return its parser."""
    parser = commands.add_parser(
        "advise",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="hyperslab advise [options] FILE",
        allow_abbrev=False,
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="",
        help="netCDF (of every kind), HDF5 or Zarr; a path or a URL",
    )
    _asked(parser.add_argument_group("how it is read"))
    limits = parser.add_argument_group("what may be advised")
    _limits(limits)
    _codecs(limits)
    _measuring(parser.add_argument_group("predicting and measuring"))
    _results(parser.add_argument_group("results"))
    return parser


def _asked(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--access", action="append", default=[], metavar="NAME=SHARE",
        help="time_series, map, profile, row, column or whole, with its share of all reads; may "
        "be repeated (a time series and a map, alike)",
    )  # fmt: skip
    group.add_argument(
        "--calls", type=int, default=1, metavar="N",
        help="each access is N reads, one after another with the file open: series at "
        "neighbouring points, consecutive maps (1)",
    )  # fmt: skip
    group.add_argument("--variable", default="", metavar="NAME", help="which is read (the largest)")
    group.add_argument(
        "--dims", action="append", default=[], metavar="ROLE=DIM",
        help="what dimensions are: time, height, y or x (as the file's metadata say)",
    )  # fmt: skip
    group.add_argument(
        "--store", default="", metavar="STORE",
        help="where the file is read from: local; RATE,DELAY such as 20MB/s,80ms; s3 or the URL "
        "that it has there, for both of which 100 MB/s and 30 ms are taken (where FILE is)",
    )  # fmt: skip
    group.add_argument(
        "--library", default="", metavar="NAME",
        help="what reads it now: netcdf4, h5py, h5netcdf, xarray-netcdf4, zarr … (the usual one)",
    )  # fmt: skip
    group.add_argument(
        "--cache", default="auto", metavar="STATE",
        help="warm, cold or auto: whether the file is in memory when it is read (auto: cold where "
        "it is larger than half of the memory)",
    )  # fmt: skip


def _limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--budget", default="1.25x", metavar="SIZE",
        help="what the variable may take in a new layout: a multiple of now (2x), bytes (5GB), or "
        "any (1.25x)",
    )  # fmt: skip
    group.add_argument(
        "--formats", default="", metavar="A,B",
        help="formats of new layouts: netcdf4, hdf5, zarr3 … (the file's own and zarr3)",
    )  # fmt: skip


def _codecs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--codecs", default="", metavar="A,B",
        help="codecs of new layouts: none, deflate, zstd, blosc-zstd, blosc-lz4 (all)",
    )  # fmt: skip


def _measuring(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--measure", type=int, default=4, metavar="N",
        help="measure the N best layouts and remedies on a sample (4)",
    )  # fmt: skip
    group.add_argument(
        "--no-measure", dest="measure", action="store_const", const=0, help="predict only"
    )
    group.add_argument(
        "--sample", default="64MiB", metavar="SIZE", help="bytes of values in the sample (64MiB)"
    )
    group.add_argument(
        "--disk", default="2GiB", metavar="SIZE", help="what samples may take on the disk (2GiB)"
    )
    group.add_argument(
        "--repeats", type=int, default=7, metavar="N",
        help="how often each is measured; intervals need 6 (7)",
    )  # fmt: skip
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the order (0)")
    group.add_argument(
        "--calibrate", action="store_true",
        help="calibrate the cost model of this machine anew, in under two minutes",
    )  # fmt: skip
    group.add_argument(
        "--rough", action="store_true",
        help="predict with typical costs instead, without a calibration",
    )  # fmt: skip
    group.add_argument(
        "--workdir", metavar="DIR", help="where samples are made: the disk that is timed (here)"
    )


def _results(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--rows", type=int, default=12, metavar="N", help="rows of the table that are shown (12)"
    )
    group.add_argument("--json", metavar="FILE", help="everything as JSON; - for output")
    group.add_argument(
        "--plot", metavar="FILE", help="size against access times: .png, .svg or .pdf"
    )
    group.add_argument("--html", metavar="FILE", help="the report as a page, with the figure")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress")
