"""Compare `hyperslab.subchunk` with h5py, xarray's engines and Zarr, on any HDF5 files.

    python tools/corpus.py FOLDER… [--jobs 2] [--seconds 60] [--memory 4] [--selections 8]

Every HDF5 file below the folders is read without an index and with one, by the xarray engine and as
a Zarr store, in processes of its own with limits of time and memory. What comes is compared with
what h5py gives (types, shapes, values, attributes), and with the engines h5netcdf and netcdf4. A
line is printed for each difference, and counts at the end. Where a process dies, each library is
tried alone, to name the one that dies by itself. The exit code is 1 where anything is amiss that is
this project's to mend.
"""

from __future__ import annotations

import argparse
import collections
import functools
import hashlib
import multiprocessing
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import h5netcdf  # noqa: F401 # loaded before the processes are forked
import h5py
import netCDF4  # noqa: F401
import numpy as np
import xarray as xr
import zarr

from hyperslab import subchunk
from hyperslab.subchunk.check import check
from hyperslab.subchunk.store import SubchunkStore

xr.backends.list_engines()  # looks them up, which takes a while, before the processes are forked
FORK = multiprocessing.get_context("fork")
SIGNATURE, OFFSETS = b"\x89HDF\r\n\x1a\n", (0, 512, 1024, 2048, 4096)
WHOLE = 2**26  # bytes of a variable up to which all of it is compared
# `decode_cf=False` is not passed on by xarray.open_groups.
RAW = dict.fromkeys(
    ("mask_and_scale", "decode_times", "decode_timedelta", "concat_characters", "decode_coords"),
    False,
)
ENGINES = {"subchunk": {}, "h5netcdf": {"phony_dims": "sort"}, "netcdf4": {}}
# netCDF-4's bookkeeping, which every engine hides.
HIDDEN = {
    "CLASS", "DIMENSION_LABELS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_NCProperties",
    "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict",
}  # fmt: skip
OURS = ("ours: ", "unnamed: ", "death: ")  # what lines begin with that are this project's to mend


class Notes:
    """Counts, and a line for each difference, sent to the process that asked."""

    def __init__(self, send):
        self.send = send

    def count(self, what, number=1):
        self.send(("count", what, number))

    def differs(self, what):
        self.send(("line", what))

    def stage(self, what):
        self.send(("stage", what))


def is_hdf5(path):
    with path.open("rb") as file:
        return any(file.seek(at) == at and file.read(8) == SIGNATURE for at in OFFSETS)


def message(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]


def canonical(value):
    """The value in a form that compares equal where two libraries mean the same."""
    if isinstance(value, h5py.Empty):
        return "" if value.dtype.kind in "SUO" else canonical(np.empty(0, value.dtype))
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape").rstrip("\0")
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.names == ("r", "i"):  # how netCDF-C shows complex numbers
            return canonical(value["r"] + 1j * value["i"])
        if value.dtype.names:
            fields = [[name, canonical(value[name])] for name in sorted(value.dtype.names)]
            return [list(value.shape), fields]
        if value.dtype.kind in "SUOT":
            items = [canonical(item) for item in np.asarray(value).ravel()]
            return [list(value.shape), items] if value.ndim else items[0]
        if value.dtype.kind in "biu":
            return [list(value.shape), np.asarray(value).ravel().tolist()]
        if value.dtype.kind in "fc":  # NaN is NaN; a long double has bytes that nobody uses
            wide = np.asarray(value).ravel().astype("c16" if value.dtype.kind == "c" else "f8")
            return [list(value.shape), [repr(item) for item in wide.tolist()]]
        return [list(value.shape), np.asarray(value).tobytes().hex()]
    if isinstance(value, h5py.Reference | h5py.RegionReference):
        return "a reference"
    if isinstance(value, list | tuple):
        return canonical(np.array(value, dtype=object)) if value else []
    return value


def alike(first, second):
    """Whether arrays have the same type, shape and values."""
    if type(first) is not type(second):
        return False
    if not isinstance(first, np.ndarray | np.generic):
        return bool(canonical(first) == canonical(second))
    if first.shape != second.shape:
        return False
    if first.dtype != second.dtype and not (
        first.dtype.names and dict(first.dtype.fields) == dict(second.dtype.fields)
    ):  # in which order h5py gives fields depends on what else is open
        return False
    if first.dtype.kind in "biufc" and not first.dtype.itemsize > 8:
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"))
    return canonical(first) == canonical(second)


def digest(values):
    """A hash of values that is the same where they are."""
    if values.dtype.kind in "biufc" and values.dtype.itemsize <= 8:
        native = values.astype(values.dtype.newbyteorder("="))
        if native.dtype.kind in "fc":
            native[np.isnan(native)] = np.nan
        return hashlib.sha1(native.dtype.str.encode() + native.tobytes()).hexdigest()
    return hashlib.sha1(repr(canonical(values)).encode(errors="surrogatepass")).hexdigest()


def attribute(value):
    """An attribute as netCDF shows it: what has one value is no array."""
    if isinstance(value, np.ndarray) and value.shape and len(value) == 1:
        value = value[0]
    return canonical(value)


def selections(shape, rng, count):
    """All of it, and random selections."""
    yield (...,)
    for _ in range(count if shape else 0):
        key = []
        for n in shape:
            kind = rng.choice(("int", "slice", "step", "back", "list", "all"))
            low, high = sorted((rng.randrange(n + 1), rng.randrange(n + 1)))
            if kind == "int" and n:
                key.append(rng.randrange(-n, n))
            elif kind == "slice":
                key.append(slice(low, high))
            elif kind == "step":
                key.append(slice(low, None, rng.choice((2, 3, 7))))
            elif kind == "back":
                key.append(slice(None, None, -rng.choice((1, 2, 5))))
            elif kind == "list" and n:
                key.append([rng.randrange(-n, n) for _ in range(rng.randrange(1, 4))])
            else:
                key.append(slice(None))
        yield tuple(key[: rng.randrange(1, len(shape) + 1)])


def cut(values, key):
    """What a selection gives, lists selecting their product."""
    axis = 0
    for item in key if key != (...,) else ():
        values = values[(slice(None),) * axis + (item,)]
        axis += not isinstance(item, int)
    return values


def h5py_names(file):
    """Every dataset with its paths by hard and soft links, as h5py finds them."""
    names = []
    pending, seen = [("", file)], set()
    while pending:
        path, group = pending.pop()
        address = h5py.h5o.get_info(group.id)
        if (address.fileno, address.addr) in seen:
            continue
        seen.add((address.fileno, address.addr))
        for name in group:
            try:
                link = group.get(name, getlink=True)
                item = None if isinstance(link, h5py.ExternalLink) else group[name]
            except Exception:
                continue
            where = f"{path}/{name}" if path else name
            if isinstance(item, h5py.Group) and isinstance(link, h5py.HardLink):
                pending.append((where, item))
            elif isinstance(item, h5py.Dataset) and isinstance(name, str):
                names.append(where)
    return names


def compare_reading(notes, how, file, truth, rng, count):
    """Compare what is listed and read with h5py, variable by variable."""
    left_out, lost = getattr(file, "left_out", {}), getattr(file, "left_out_attrs", {})
    listed = set(file)
    for kind, reasons in (("left out", left_out), ("attributes left out", lost)):
        for why in reasons.values() if how == "open" else ():
            notes.count(f"{kind}: {why.partition(' /')[0].partition(': ')[0]}")
    for path, attrs in ((path, file.attributes(path)) for path in file.listing.dimensions):
        compare_attributes(notes, f"{how}: /{path}", attrs, truth[path or "/"].attrs, lost, path)
    for name in h5py_names(truth):
        dataset = truth[name]
        try:
            mark = dataset.attrs.get("NAME", b"")
        except Exception:
            mark = b""
        if isinstance(mark, bytes) and mark.startswith(b"This is a netCDF dimension but not"):
            continue
        if name not in listed:
            if not left_out.get(name):
                notes.differs(f"ours: {how}: {name} is neither listed nor left out")
            continue
        compare_variable(notes, f"{how}: {name}", file[name], dataset, rng, count)
        compare_attributes(notes, f"{how}: {name}", file[name].attrs, dataset.attrs, lost, name)


def compare_variable(notes, what, reader, dataset, rng, count):
    notes.count("variables")
    base, more = dataset.dtype.subdtype or (dataset.dtype, ())
    shape = (*dataset.shape, *more)
    same_type = reader.dtype == base and reader.dtype.metadata == base.metadata
    if reader.shape != shape or not same_type:
        notes.differs(f"ours: {what} is {reader.dtype} {reader.shape}, h5py has {base} {shape}")
        return
    small = dataset.size * dataset.dtype.itemsize <= WHOLE
    whole = None
    try:
        if small:
            whole = dataset[...]
    except Exception as error:
        notes.count("variables that h5py cannot read")
        try:
            _ = reader[...]
        except subchunk.SubchunkError:
            pass
        except Exception as strange:
            notes.differs(f"unnamed: {what}: {message(strange)} where h5py has {message(error)}")
        return
    notes.count("variables read by points", not reader.plain)
    for key in selections(shape, rng, count):
        if not small:  # a corner of it
            key = tuple(slice(rng.randrange(n + 1), None) for n in shape)
            key = tuple(slice(span.start, span.start + 50) for span in key)
        notes.count("selections")
        try:
            values = reader[key]
        except subchunk.SubchunkError as error:
            notes.differs(f"ours: {what} {key} is refused where h5py reads it: {message(error)}")
            return
        except Exception as error:
            notes.differs(f"unnamed: {what} {key}: {message(error)}")
            return
        scalar = len(key) == len(dataset.shape) and all(isinstance(item, int) for item in key)
        true = dataset[key] if scalar or not small else cut(whole, key)
        if not alike(values, true):
            notes.differs(f"ours: {what} {key} is {values!r:.60}, not {true!r:.60}")
            return


def compare_attributes(notes, what, attrs, truth, left_out, name):
    try:
        names = sorted(set(truth) - HIDDEN, key=str)
    except Exception:
        notes.count("attributes that h5py cannot list")
        return
    for key in names:
        try:
            true = truth[key]
        except Exception:
            continue
        notes.count("attributes")
        shown = key.decode(errors="replace") if isinstance(key, bytes) else key
        if key not in attrs:
            if not left_out.get(f"{name}:{shown}"):
                notes.differs(f"ours: {what}:{key} is lost, {true!r:.60}")
        elif canonical(attrs[key]) != attribute(true):
            notes.differs(f"ours: {what}:{key} is {attrs[key]!r:.60}, h5py has {true!r:.60}")


def opened(engine, path, **options):
    """All groups by an engine: shapes and digests of values by their paths; its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        groups = xr.open_groups(path, engine=engine, **ENGINES[engine], **options)
        contents = {}
        for group, dataset in groups.items():
            for name, variable in dataset.variables.items():
                where = f"{group.rstrip('/')}/{name}"
                try:
                    values = digest(np.asarray(variable.values))
                except Exception as error:
                    named = isinstance(error, subchunk.SubchunkError)
                    contents[where] = f"{'' if named else 'unnamed '}{message(error)}"
                    continue
                contents[where] = (variable.shape, values)
        for dataset in groups.values():
            dataset.close()
    return contents, [str(warning.message) for warning in caught]


def examine(path, index, seed, count, send):
    """Everything that needs no other engine than h5netcdf."""
    notes, rng = Notes(send), random.Random(seed)
    notes.stage("h5py")
    try:
        truth = h5py.File(path, "r")
    except OSError:
        notes.count("files that h5py cannot open")
        truth = None

    def stage(how, act):
        notes.stage(how)
        try:
            return act()
        except subchunk.SubchunkError as error:
            if truth is not None:
                notes.differs(f"ours: {how} refuses the file: {message(error)}")
        except Exception as error:
            notes.differs(f"ours: {how} crashes: {message(error)}")
        return None

    def read(how, index_path):
        with subchunk.open(path, index_path) as file:
            if truth is not None:
                compare_reading(notes, how, file, truth, rng, count)

    stage("open", lambda: read("open", None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        built = stage("build", lambda: subchunk.build(path, index))
    if built:
        stage("indexed", lambda: read("indexed", built))
        stage("check", lambda: check(path, built))
    stage("store", lambda: compare_store(notes, path, built, count, rng))
    for decoded in (False, True):
        compare_engines(notes, path, built, decoded)


def compare_engines(notes, path, built, decoded):
    notes.stage("h5netcdf")
    try:
        other, _ = opened("h5netcdf", path, **({} if decoded else RAW))
    except Exception as error:
        other = message(error)
    notes.stage("engine")
    try:
        with_index = {"index": built} if built else {}
        ours, warned = opened("subchunk", path, **with_index, **({} if decoded else RAW))
    except Exception as error:
        kind = "ours" if isinstance(other, dict) else "both fail"
        notes.count(f"engine: {kind}")
        if kind == "ours":
            notes.differs(f"ours: engine subchunk fails (decode_cf={decoded}): {message(error)}")
        return
    notes.count("engine: opened")
    notes.send(("digests", decoded, ours))
    for name, mine in ours.items():
        theirs = other.get(name) if isinstance(other, dict) else None
        if isinstance(mine, str) and mine.startswith("unnamed"):
            if isinstance(theirs, str):  # as where attributes are no numbers: xarray's own error
                notes.count("engine: values that neither gives")
                continue
            notes.differs(f"unnamed: engine: {name}: {mine} (decode_cf={decoded})")
    if not isinstance(other, dict):
        return
    notes.count("engine: opened by h5netcdf too")
    for name, theirs in other.items():
        mine = ours.get(name)
        if mine is None:
            named = any(f"{name.strip('/')} is left out" in t or " more: " in t for t in warned)
            if not named and not isinstance(theirs, str):
                notes.differs(f"engine: {name} is not there, h5netcdf has {theirs[0]}")
        elif mine != theirs and not isinstance(theirs, str):
            notes.differs(f"engine: {name} is {mine}, h5netcdf has {theirs} (decode_cf={decoded})")


def compare_store(notes, path, built, count, rng):
    store = SubchunkStore(path, index=built)
    group = zarr.open_group(store, mode="r")
    with subchunk.open(path, built) as file:
        for name, reader in file.items():
            shown = name if name in store._arrays else name.replace("_nc4_non_coord_", "")
            if shown not in store._arrays:
                if not store.left_out.get(shown):
                    notes.differs(f"ours: store: {name} is neither there nor left out")
                continue
            notes.count("store: arrays")
            array = group[shown]
            if array.size * 8 > WHOLE:
                continue
            try:
                true = reader[...]
            except subchunk.SubchunkError:
                continue
            inside = tuple(slice(n) for n in true.shape)
            try:
                values = np.asarray(array[...])[inside]
            except subchunk.UnreadableError:
                continue
            except Exception as error:
                notes.differs(f"unnamed: store: {shown}: {message(error)}")
                continue
            if canonical(np.asarray(true)) != canonical(values) and true.size:
                notes.differs(f"ours: store: {shown} has other values")
    store.close()


def alone(library, path, send):
    """Open and read a file with one library, to see whether it dies by itself."""
    if library == "h5py":
        with h5py.File(path, "r") as file:
            for name in h5py_names(file):
                _ = file[name][()]
    elif library in ENGINES:
        for decoded in (False, True):
            try:
                contents, _ = opened(library, path, **({} if decoded else RAW))
            except Exception as error:
                contents = message(error)
            send(("digests", decoded, contents))
    else:
        with tempfile.TemporaryDirectory() as folder:
            subchunk.build(path, Path(folder))


def child(connection, memory, call, *arguments):
    """Run something within limits, sending notes."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stderr = open("/dev/null", "w")  # noqa: SIM115, PTH123 # libraries talk
    warnings.simplefilter("ignore")
    call(*arguments, connection.send)
    connection.send(("end",))


def run(limits, call, *arguments):
    """Run something in a process of its own; return its notes, and how it ended: "" if well."""
    receiver, sender = FORK.Pipe(False)
    process = FORK.Process(target=child, args=(sender, limits.memory * 2**30, call, *arguments))
    process.start()
    sender.close()
    notes, last, ends = [], "start", time.monotonic() + limits.seconds
    how = f"takes more than {limits.seconds} s"
    while (left := ends - time.monotonic()) > 0 and receiver.poll(left):
        try:
            note = receiver.recv()
        except EOFError:
            process.join()
            how = f"ended by signal {-process.exitcode}" if process.exitcode < 0 else "failed"
            break
        if note[0] == "end":
            how = ""
            break
        if note[0] == "stage":
            last = note[1]
        notes.append(note)
    process.kill()
    process.join()
    return notes, f"{last} {how}" if how else ""


def examine_file(limits, number, path):
    """Examine a file; return its counts and lines."""
    counts, lines, digests = collections.Counter(files=1), [], {}
    folder = Path(tempfile.mkdtemp())
    try:
        notes, died = run(limits, examine, str(path), folder, number, limits.selections)
        for kind, *note in notes:
            if kind == "count":
                counts[note[0]] += note[1]
            elif kind == "line":
                lines.append(note[0])
            elif kind == "digests":
                digests[note[0]] = note[1]
        if died:
            libraries = ("h5py", "h5netcdf", "netcdf4", "subchunk", "build")
            ends = {library: run(limits, alone, library, str(path))[1] for library in libraries}
            guilty = [library for library, how in ends.items() if "signal" in how or "takes" in how]
            own = not {*guilty, died.partition(" ")[0]} & {"h5py", "h5netcdf", "netcdf4"}
            lines.append(f"{'death' if own else 'died'}: {died}; alone: {guilty or 'none'}")
    finally:
        shutil.rmtree(folder)
    others, died = run(limits, alone, "netcdf4", str(path))
    counts["engine: netcdf4 dies"] += bool(died)
    for _, decoded, theirs in others:
        mine = digests.get(decoded)
        if not isinstance(mine, dict) or not isinstance(theirs, dict):
            continue
        counts["engine: opened by netcdf4 too"] += 1
        for name, content in theirs.items():
            if name in mine and mine[name] != content and not isinstance(content, str):
                lines.append(f"netcdf4: {name} is {mine[name]}, netcdf4 has {content}")
    return path, counts, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="or files")
    parser.add_argument("--jobs", type=int, default=2, help="files at a time (2)")
    parser.add_argument("--seconds", type=int, default=60, help="of each file (60)")
    parser.add_argument("--memory", type=int, default=6, help="GiB of address space (6)")
    parser.add_argument("--selections", type=int, default=8, help="random ones a variable (8)")
    limits = parser.parse_args()
    files = [
        path
        for folder in limits.folders
        for path in sorted(folder.rglob("*") if folder.is_dir() else [folder])
        if path.is_file() and is_hdf5(path)
    ]
    total, bad = collections.Counter(), 0
    with ProcessPoolExecutor(limits.jobs, FORK) as pool:
        done = pool.map(functools.partial(examine_file, limits), range(len(files)), files)
        for path, counts, lines in done:
            total += counts
            bad += any(line.startswith(OURS) for line in lines)
            for line in lines:
                total[f"lines: {line.partition(':')[0]}"] += 1
                print(f"{path}: {line}", flush=True)
    for name, number in sorted(total.items()):
        print(f"{number:>9,}  {name}")
    print(f"{bad} files differ in what is ours to mend")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
