"""`hyperslab rechunk IN OUT`: the options, the plan, progress and the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .copy_plan import RECHUNK_BYTES
from .report.table import tell
from .shared_options import CODEC, SEVERAL, SHUFFLE, Rows, add_command
from .specs import parse
from .specs.target import SAME, Choice

if TYPE_CHECKING:
    from .passes import Lap

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
_TEXT = {"default": ""}
_OPTIONS: dict[str, Rows] = {
    "": [
        ("IN", "netCDF (of every kind), HDF5 or Zarr; a path or a URL"),
        ("OUT", "the new file or Zarr store"),
        ("--chunks DIM=N,…", "lengths of a chunk in elements, -1 for a dimension whole (as they "
         "are)", _TEXT),
        ("--variable NAME", "give chunks and codec to this variable, and leave others as they "
         "are; may be repeated (all that have the dimensions)", SEVERAL),
        CODEC,
        SHUFFLE,
        ("--format F", "netcdf4, netcdf4-classic, hdf5, zarr2, zarr3, nczarr, netcdf3, "
         "netcdf3-64bit or cdf5 (what OUT's ending says, or the file's)", _TEXT),
        ("--shards DIM=N,…", "lengths of a shard, whole chunks; dimensions not named are a chunk "
         "long (Zarr 3)", _TEXT),
        ("--pages SIZE", "lay HDF5 out in pages of this size", _TEXT),
        ("--memory SIZE", "most memory of this process, libraries included (%(default)s)",
         {"default": f"{RECHUNK_BYTES // 2**20}MiB"}),
        ("--scratch FOLDER", "where a scratch file goes (OUT's)", _TEXT),
        ("--leave-out", "go on where OUT cannot hold all of IN, such as text, records, or "
         "some attributes; without it such a file is refused"),
        ("--overwrite", "replace OUT when it is whole"),
        ("-q --quiet", "no plan and no progress"),
    ],
}  # fmt: skip


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `rechunk` to those of `hyperslab`."""
    usage = "IN OUT [--chunks DIM=N,…] [options]"
    add_command(commands, "rechunk", usage, _ABOUT, _EXAMPLES, _OPTIONS, run)


def run(arguments: argparse.Namespace) -> int:
    """Rewrite the file, and return the exit code: 0, or 1 when it was interrupted."""
    from hyperslab.measure.memory import give_back

    from .rechunk import rechunk, times

    codec, level = parse.codec(arguments.codec or SAME)
    give_back()
    try:
        report = rechunk(
            getattr(arguments, "in"),
            arguments.out,
            _lengths("--chunks", arguments.chunks),
            variables=arguments.variable,
            choice=Choice(codec=codec, level=level, shuffle=arguments.shuffle),
            format=parse.format_name(arguments.format) if arguments.format else "",
            shards=_lengths("--shards", arguments.shards) or None,
            page_bytes=parse.size(arguments.pages) if arguments.pages else None,
            leave_out=arguments.leave_out,
            memory_bytes=parse.size(arguments.memory),
            whole_process=True,
            scratch=arguments.scratch,
            overwrite=arguments.overwrite,
            say=None if arguments.quiet else tell,
            progress=None if arguments.quiet else progress,
        )
    except KeyboardInterrupt:
        print(f"\ninterrupted: nothing is left of {arguments.out}", file=sys.stderr)
        return 1
    tell(f"{report.path}: {report.file_bytes:,} bytes, every value compared; the source was read "
         f"{times(report.reads)}")  # fmt: skip
    return 0


def _lengths(option: str, text: str) -> dict[str, int]:
    allowed = "each dimension once, with a length of at least 1, or -1 for all of it: time=-1"
    return parse.lengths(f"{option} {text}", text, allowed, whole=True)


@contextmanager
def progress(nbytes: int) -> Iterator[Lap]:
    """Show how far the copy is, of so many bytes to be read, written and compared."""
    from tqdm import tqdm

    every = 0.5 if sys.stderr.isatty() else 30
    phases = {"data_read": "reading", "data_write": "writing", "data_reread": "comparing"}

    @contextmanager
    def lap(phase: str) -> Iterator[dict[str, object]]:
        columns: dict[str, object] = {}
        bar.set_description(phases.get(phase, ""), refresh=False)
        yield columns
        bar.update(int(str(columns.get("useful_bytes", 0))))

    with tqdm(total=nbytes, unit="B", unit_scale=True, unit_divisor=1024, mininterval=every,
              delay=every, leave=False, file=sys.stderr) as bar:  # fmt: skip
        yield lap
