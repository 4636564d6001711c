"""`hyperslab rechunk IN OUT`: the options, the plan, progress and the result."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hyperslab.text import printable
from hyperslab.tune.specs import parse
from hyperslab.tune.specs.target import Choice

_ABOUT = """\
Rewrite IN as OUT with other chunks, another codec or format. Every value of OUT is
compared with what was read of IN, and OUT appears when it is whole, or not at all.
The process keeps within --memory: where a source chunk would be read more than
twice, values go through a scratch file and each is read once. The plan is printed
before the work starts. IN is only read.
"""

_EXAMPLES = """\
examples:
  hyperslab rechunk maps.nc series.nc --chunks time=-1
  hyperslab rechunk maps.nc series.zarr --chunks time=-1,lat=32,lon=32 --codec zstd:3
  hyperslab rechunk sst.nc small.nc --variable sst --chunks time=100,lat=60,lon=60 \\
      --codec deflate:4 --shuffle --memory 512MiB --scratch /fast/disk
  hyperslab rechunk classic.nc new.nc --codec deflate
  hyperslab rechunk sst.nc sst.zarr
  hyperslab rechunk sst.nc sst.zarr --chunks time=24 --shards time=240

--chunks goes to all variables that have all of the dimensions named (or to those of
them named by --variable); other variables keep their layout. Dimensions that are
not named keep their chunk lengths, and are shortened to make about 1 MiB where a
chunk would otherwise be larger than it was and than 1 MiB. -1 is a dimension whole.

What stops the run leaves nothing behind; after kill -9 there is a file .OUT.….part
beside OUT, which the next run removes.

exit codes: 0; 1 the disk was too small, a value differed, or the run was
interrupted; 2 what was asked for cannot be had, and nothing was written.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `rechunk` to those of `hyperslab`."""
    parser = commands.add_parser(
        "rechunk",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="hyperslab rechunk IN OUT [--chunks DIM=N,…] [options]",
        allow_abbrev=False,
    )
    option = parser.add_argument
    option("file", metavar="IN", help="netCDF (of every kind), HDF5 or Zarr; a path or a URL")
    option("output", metavar="OUT", help="the new file or Zarr store")
    option(
        "--chunks", default="", metavar="DIM=N,…",
        help="lengths of a chunk in elements, -1 for a dimension whole (as they are)",
    )  # fmt: skip
    option(
        "--variable", action="append", default=[], metavar="NAME",
        help="give chunks and codec to this variable, and leave others as they are; may be "
        "repeated (all that have the dimensions)",
    )  # fmt: skip
    option(
        "--codec", default="", metavar="NAME[:LEVEL]",
        help="none, deflate, zstd, blosc-lz4, blosc-zstd, bzip2, szip or lzf (the file's)",
    )  # fmt: skip
    option(
        "--shuffle", action=argparse.BooleanOptionalAction, default=None,
        help="shuffle bytes before the codec (as the file does)",
    )  # fmt: skip
    option(
        "--format", default="", metavar="F",
        help="netcdf4, netcdf4-classic, hdf5, zarr2, zarr3, nczarr, netcdf3, netcdf3-64bit or "
        "cdf5 (what OUT's ending says, or the file's)",
    )  # fmt: skip
    option(
        "--shards", default="", metavar="DIM=N,…",
        help="lengths of a shard, whole chunks; dimensions not named are a chunk long (Zarr 3)",
    )  # fmt: skip
    option("--pages", default="", metavar="SIZE", help="lay HDF5 out in pages of this size")
    option(
        "--memory", default="1GiB", metavar="SIZE",
        help="most memory of this process, libraries included (1GiB)",
    )  # fmt: skip
    option("--scratch", default="", metavar="FOLDER", help="where a scratch file goes (OUT's)")
    option(
        "--leave-out", action="store_true",
        help="go on where OUT cannot hold all of IN, such as text, records, or attributes of "
        "groups; without it such a file is refused",
    )  # fmt: skip
    option("--overwrite", action="store_true", help="replace OUT when it is whole")
    option("-q", "--quiet", action="store_true", help="no plan and no progress")
    parser.set_defaults(call=run)


def run(arguments: argparse.Namespace) -> int:
    """Rewrite the file, and return the exit code: 0, or 1 when it was interrupted."""
    codec, level = parse.codec(arguments.codec) if arguments.codec else ("same", None)
    options: dict[str, Any] = {
        "chunks": lengths("--chunks", arguments.chunks),
        "variables": arguments.variable,
        "choice": Choice(codec=codec, level=level, shuffle=arguments.shuffle),
        "format": parse.format_name(arguments.format) if arguments.format else "",
        "shards": lengths("--shards", arguments.shards) if arguments.shards else None,
        "page_bytes": parse.size(arguments.pages) if arguments.pages else None,
        "memory_bytes": parse.size(arguments.memory),
        "scratch": arguments.scratch,
        "overwrite": arguments.overwrite,
        "leave_out": arguments.leave_out,
    }
    from hyperslab.measure.memory import give_back

    from .rechunk import rechunk, times

    give_back()
    try:
        made = rechunk(
            arguments.file,
            arguments.output,
            **options,
            whole_process=True,
            say=None if arguments.quiet else _say,
            progress=None if arguments.quiet else progress,
        )
    except (FileExistsError, FileNotFoundError) as error:  # a matter of usage
        raise ValueError(str(error)) from error
    except KeyboardInterrupt:
        print(f"\ninterrupted: nothing is left of {arguments.output}", file=sys.stderr)
        return 1
    _say(f"{made.path}: {made.file_bytes:,} bytes, every value compared; the source was read "
         f"{times(made.reads)}")  # fmt: skip
    return 0


def lengths(option: str, text: str) -> dict[str, int]:
    """Return lengths by dimension."""
    found: dict[str, int] = {}
    for part in text.split(",") if text else ():
        dim, _, number = (word.strip() for word in part.rpartition("="))
        if not dim or not re.fullmatch(r"-1|0*[1-9]\d*", number) or dim in found:
            raise ValueError(
                f"{option} {text}: give each dimension once, with a length of at least 1, or -1 "
                "for all of it: time=-1,lat=32"
            )
        found[dim] = int(number)
    return found


@contextmanager
def progress(nbytes: int) -> Iterator[Any]:
    """Show how far the copy is, of so many bytes to be read, written and compared."""
    from tqdm import tqdm

    bar = tqdm(
        total=nbytes,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        mininterval=0.5 if sys.stderr.isatty() else 30,
        leave=False,
        file=sys.stderr,
    )

    @contextmanager
    def lap(phase: str) -> Iterator[dict[str, object]]:
        columns: dict[str, object] = {}
        bar.set_description(_PHASES.get(phase, ""), refresh=False)
        yield columns
        bar.update(int(str(columns.get("useful_bytes", 0))))

    with bar:
        yield lap


_PHASES = {"data_read": "reading", "data_write": "writing", "data_reread": "comparing"}


def _say(words: str) -> None:
    print(printable(words), file=sys.stderr)  # names from files must not steer a terminal
