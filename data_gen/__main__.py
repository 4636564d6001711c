"""Write a synthetic dataset to a file: ``python -m data_gen ocean --out currents.nc``."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from data_gen import NAMES, dataset, parameters, write
from hyperslab.io import CODECS, FORMATS, Layout
from hyperslab.io.creation import STORE_MARKS
from hyperslab.io.layout import ZARR
from hyperslab.io.work import remove

WORDS = {
    "ocean": "hourly surface currents of a Mediterranean-like sea, uo and vo",
    "gfs": "hourly global air temperature on 13 pressure levels",
    "radar": "a radar mosaic tile of twelve packed products",
    "array": "an array of counted values",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str
        Words of the command line; those of the process when not given.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     main(["array", "--shape", "4x5", "--out", f"{folder}/a.nc", "--quiet"])
    0
    """
    parser = _parser()
    args = parser.parse_args(arguments)
    out = Path(args.out)
    try:
        source = dataset(args.dataset, **_given(args))
        layout = _layout(args, source.frame)
        _check(out, layout, args.force)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    unfinished = out.with_name(f".part-{out.name}")
    try:
        remove(unfinished)
        write(source, {unfinished: layout}, progress=not args.quiet)
        remove(out)
        unfinished.replace(out)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    finally:
        remove(unfinished)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m data_gen",
        description="Write a synthetic dataset to a file, frame by frame, in constant memory.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="parameters for --set, with their defaults:\n"
        + "\n".join(
            f"  {name}: " + ", ".join(f"{key}={value}" for key, value in parameters(name).items())
            for name in NAMES
        ),
    )
    parser.add_argument(
        "dataset", choices=NAMES, help="; ".join(f"{name}: {WORDS[name]}" for name in NAMES)
    )
    parser.add_argument("--out", required=True, help="the file, or the directory of a Zarr format")
    parser.add_argument("--force", action="store_true", help="replace what lies at --out")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    what = parser.add_argument_group("what is drawn")
    what.add_argument("--steps", type=int, help="frames (ocean 72, gfs 13)")
    what.add_argument("--seed", type=int, help="seed of the random fields (0)")
    what.add_argument("--tile", help="radar: tile1, tile2 or tile4")
    what.add_argument("--shape", type=_lengths, help="array: such as 3162x3162")
    what.add_argument("--dtype", help="array: i2, i4, i8, f4 or f8")
    what.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="more",
        help="any other parameter; may be repeated",
    )
    how = parser.add_argument_group("how it is stored")
    how.add_argument("--format", default="netcdf4", choices=FORMATS, help="netcdf4 if not given")
    how.add_argument(
        "--chunks", default="", help="such as 1x380x1287, or frame; contiguous if not given"
    )
    how.add_argument("--codec", choices=CODECS, help="none if not given; needs chunks")
    how.add_argument("--level", type=int, help="of the codec; its own default if not given")
    how.add_argument("--shuffle", action="store_true", help="shuffle bytes before the codec")
    return parser


def _lengths(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(n) for n in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give lengths such as 3162x3162") from None


def _given(args: argparse.Namespace) -> dict[str, object]:
    given = {
        name: getattr(args, name)
        for name in ("steps", "seed", "tile", "shape", "dtype")
        if getattr(args, name) is not None
    }
    defaults = parameters(args.dataset)
    for pair in args.more:
        name, sign, value = pair.partition("=")
        if not sign:
            raise ValueError(f"--set {pair}: give NAME=VALUE, NAME one of {', '.join(defaults)}")
        default = defaults.get(name)
        try:
            given[name] = type(default)(value) if isinstance(default, int | float) else value
        except ValueError:
            raise ValueError(f"--set {pair}: give a number, such as {default}") from None
    return given


def _layout(args: argparse.Namespace, frame: tuple[int, ...]) -> Layout:
    chunks = None
    if args.chunks:
        try:
            chunks = frame if args.chunks == "frame" else _lengths(args.chunks)
        except argparse.ArgumentTypeError as error:
            raise ValueError(f"--chunks {error}") from None
    elif args.codec:
        chunks = frame
    return Layout(
        args.format, chunks=chunks, codec=args.codec, level=args.level, shuffle=args.shuffle
    )


def _check(out: Path, layout: Layout, force: bool) -> None:
    if not out.parent.is_dir():
        raise ValueError(f"--out {out}: {out.parent} is not a directory; make it first")
    if out.exists() and not force:
        raise ValueError(f"--out {out}: it exists; give another name, or --force to replace it")
    if out.is_dir() and layout.format not in ZARR:
        raise ValueError(f"--out {out}: it is a directory, and {layout.format} is one file")
    if out.is_dir() and not any((out / mark).exists() for mark in STORE_MARKS):
        raise ValueError(f"--out {out}: it is a directory but no Zarr store, and left alone")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it cleans up, as by Ctrl-C
    sys.exit(main())
