"""The options of `hyperslab bench`, for people who know bm_file and hyperfine."""

from __future__ import annotations

from collections.abc import Mapping

from ..options import SEVERAL, SHUFFLE, WHOLE, Rows

ABOUT = """\
Copy variables of FILE into other layouts, and time writing them, opening them
and reading them back by the usual access patterns, cold and warm. With FILE
alone: its largest variable, as it is stored now (copy), in the library's
default chunks, and in chunks that suit a time series, a map, and both. Samples
are interleaved and run in fresh processes; the layout as it is is measured
twice, so that the noise of the run is known. Every value is compared with the
original. In brackets below: what is taken when an option is not given.
"""

EXAMPLES = """\
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

OPTIONS: Mapping[str, Rows] = {
    "": [
        ("FILE", "netCDF (classic, 64-bit offset, CDF-5, netCDF-4), HDF5 or Zarr; a path or a URL"),
        ("--variables A,B", "which to copy, group/name in groups; all for every one (the largest)",
         SEVERAL),
    ],
    "layouts to try (several values of --chunks: each)": [
        ("-f --format F",
         "1 netcdf3, 2 netcdf3-64bit, 3 netcdf4, 4 netcdf4-classic, 5 cdf5, or hdf5, zarr2, "
         "zarr3, nczarr (the file's; netcdf4 where a classic file would need chunks)"),
        ("--chunks C",
         "1,721,1440 or time=1,lat=721 (others keep theirs), default (the library's choice), "
         "auto (one layout each for a map, a series and both), same, contiguous; may be repeated",
         SEVERAL),
        ("--codec NAME[:LEVEL]",
         "none, deflate, zstd, blosc-lz4, blosc-zstd, bzip2, szip or lzf (the file's)"),
        SHUFFLE,
        ("--quantize MODE:N",
         "keep N digits (bitgroom, granular_bitround) or N bits (bitround) of floats"),
        ("-e --endian 1|2", "byte order: 1 or little, 2 or big (the file's)"),
        ("--cache SIZE", "chunk cache of each variable, such as 64MiB (the library's)"),
        ("--grid NAME=V/V",
         "try every combination: format, chunks, codec, shuffle, quantize, endian or cache with "
         "its values; may be repeated", SEVERAL),
        ("-c V:Z:S:C:C:C[,…]",
         "as bm_file: variable (number or name), deflate level (-1 none), shuffle (0 or 1), "
         "chunk lengths (none: the library's); each -c is one layout", {"dest": "bm", **SEVERAL}),
        ("--no-copy", "leave out the layout as it is, which others are compared with",
         {"dest": "copy", "action": "store_false"}),
    ],
    "reads to time": [
        ("--patterns A,B",
         "time_series, map, profile, row, column, whole, or none (those that the dimensions of "
         "the variable suggest)", SEVERAL),
        ("-s --slabs N", "read in slabs of 1/N of the slowest dimension", WHOLE),
        ("-t V:N:N:N[,…]", "read boxes: where the first one starts", {"dest": "starts"}),
        ("-u V:N:N:N[,…]", "… how large they are", {"dest": "counts"}),
        ("-r V:N:N:N[,…]", "… how far apart (-t, -u, -r together)", {"dest": "increments"}),
    ],
    "measuring": [
        ("--repeats N", "how often each layout is measured; intervals need 6 (7)",
         {"default": 7, **WHOLE}),
        ("--memory SIZE",
         "most memory of the process that makes a copy, libraries included (256MiB)",
         {"default": "256MiB"}),
        ("--no-verify", "do not compare the values of copies with the original",
         {"dest": "verify", "action": "store_false"}),
        ("--ranks N",
         "write and read one variable by N processes together, through MPI and parallel HDF5, "
         "each a part of its slowest dimension", WHOLE),
        ("--independent", "with --ranks: each rank for itself, not in collective calls"),
        ("--workdir DIR",
         "where copies are made: what is timed is the disk that this is on (here)"),
        ("--seed N", "of the order (0)", {"default": 0, **WHOLE}),
    ],
    "results": [
        ("--csv FILE",
         "one line a layout, bm_file's columns first (chunks and codec of the largest variable); "
         "- for output"),
        ("--json FILE", "the same with the sentences; - for output"),
        ("--parquet FILE", "every sample and phase"),
        ("--plot FILE", "a picture: .png, .svg or .pdf"),
        ("--html FILE", "the report and the picture as one page"),
        ("-o --output FILE",
         "write the best layout (over the patterns; the one asked for, if one) to FILE"),
        ("-v --verbose", "also show calls, bytes and CPU time"),
        ("-q --quiet", "no progress"),
    ],
}  # fmt: skip
