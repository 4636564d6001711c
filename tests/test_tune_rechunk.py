"""A rechunked file is whole under its name or not there at all, and every value is what it was."""

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import h5py
import made_advice
import made_files
import netCDF4
import numpy as np
import odd_files
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from made_files import everything
from samples import until

from hyperslab.cli import main
from hyperslab.io import Layout, Variable, create, write_array
from hyperslab.io import by_netcdf4 as netcdf
from hyperslab.io.opening import open_source
from hyperslab.io.source import SourceVariable
from hyperslab.tune import copy_plan, passes
from hyperslab.tune import rechunk as module
from hyperslab.tune.partial import NoRoomError, part_name, whole_or_nothing
from hyperslab.tune.rechunk import rechunk
from hyperslab.tune.report.differences import WrongValuesError
from hyperslab.tune.specs.target import Choice, Fitted

MIB = 2**20
FORMATS = ["netcdf3", "cdf5", "netcdf4", "hdf5", "zarr2", "zarr3", "nczarr"]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what the test looks at is Linux's")


@pytest.fixture(autouse=True)
def _small_process(monkeypatch):
    """A plan counts what its process holds: a worker of many tests holds more than the command."""
    monkeypatch.setattr(module, "resident_bytes", lambda: 80 * MIB)


def same(copied, original):
    values, truth = everything(copied)[1], everything(original)[1]
    assert set(values) == set(truth)
    for name in truth:
        assert values[name].dtype == truth[name].dtype
        assert values[name].tobytes() == truth[name].tobytes(), name


def names(folder):
    return sorted(path.name for path in folder.iterdir())


KINDS = {
    "maps": partial(made_advice.maps, shape=(12, 60, 90)),
    "classic": made_files.classic,
    "cdf5": partial(made_files.classic, format="NETCDF3_64BIT_DATA"),
    "nested": made_files.nested,
    "shards": made_files.sharded,
    "packed": made_files.packed,
    "scalars": made_files.scalars,
    "growing": made_files.growing,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {kind: make(folder / kind) for kind, make in KINDS.items()}


FEW, FLAT = ("nested", "growing"), ("maps", "classic", "packed")
CLASSIC = ("netcdf3", "netcdf3-64bit", "cdf5", "netcdf4-classic")
INTO = {"netcdf4": KINDS, "zarr3": KINDS, "hdf5": ("shards", *FEW), "zarr2": FEW, "nczarr": FEW}
INTO |= dict.fromkeys(CLASSIC, FLAT)


@pytest.mark.parametrize(
    ("format", "kind"), [(format, kind) for format, kinds in INTO.items() for kind in kinds]
)
def test_every_kind_goes_into_every_format(files, tmp_path, kind, format):
    out = tmp_path / f"out{Layout(format).suffix}"
    choice = Choice() if format in CLASSIC else Choice(codec="deflate")
    rechunk(files[kind], out, {}, choice=choice, format=format, leave_out=True)
    same(out, files[kind])
    assert names(tmp_path) == [out.name]
    if (kind, format) == ("scalars", "netcdf4"):
        with netCDF4.Dataset(out) as nc:
            assert (nc["map"].dtype, nc["map"].grid_mapping_name) == ("S1", "latitude_longitude")
            assert (nc["code"][:], nc["code"]._Encoding) == ("abc", "utf-8")


def test_attributes_dimensions_and_fill_values_are_carried_over(files, tmp_path):
    out = tmp_path / "out.nc"
    report = rechunk(files["packed"], out, {"time": 4, "lat": 5}, choice=Choice(codec="zstd"))
    with netCDF4.Dataset(out) as nc, netCDF4.Dataset(files["packed"]) as before:
        sst = nc["sst"]
        assert sst.dimensions == ("time", "lat", "lon")
        assert (sst.scale_factor, sst.add_offset, sst._FillValue) == (0.01, 273.15, -32768)
        assert (sst.chunking(), bool(sst.filters()["zstd"])) == ([4, 5, 30], True)
        assert np.array_equal(sst[:].filled(-999), before["sst"][:].filled(-999))
    assert report.notes == ()
    rechunk(files["growing"], tmp_path / "grows.nc", {"time": 3})
    with netCDF4.Dataset(tmp_path / "grows.nc") as nc:
        assert nc.dimensions["time"].isunlimited()
        assert (nc["short"]._FillValue, nc["a/b/v"].chunking()[0]) == (-5, 3)
    rechunk(files["classic"], tmp_path / "a.nc", {"time": -1, "lat": 2})
    with netCDF4.Dataset(tmp_path / "a.nc") as nc:  # mask has not all of these dimensions
        assert (nc["sst"].chunking(), nc["mask"].chunking()) == ([7, 2, 9], "contiguous")


@pytest.mark.parametrize(
    ("given_lengths", "shape", "before", "after"),
    [
        ({"t": -1}, (240, 37, 721, 1440), (1, 1, 721, 1440), (240, 1, 32, 33)),
        ({"t": -1}, (1000, 500, 400), None, (1000, 16, 16)),  # about 1 MiB of floats
        ({"t": 1}, (1000, 500, 400), (4, 500, 400), (1, 500, 400)),  # no larger than it was
        ({"t": -1}, (3_000_000, 5, 4), (1, 5, 4), (3_000_000, 1, 1)),
        ({"t": -1}, (0, 5, 4), (1, 5, 4), (1, 5, 4)),
    ],
)
def test_dimensions_that_are_not_named_are_shortened_where_they_must_be(
    given_lengths, shape, before, after
):
    dims = ("t", "z", "y", "x") if len(shape) == 4 else ("t", "y", "x")
    chunk = module._lengths(SourceVariable("a", dims, shape, "f4", chunks=before), given_lengths)
    assert (chunk[0], len(chunk)) == (after[0], len(after))
    assert np.prod(after) * 0.75 <= np.prod(chunk) <= max(MIB // 4, np.prod(after))


def test_shards_and_pages(files, tmp_path):
    out = tmp_path / "a.zarr"
    for length in (3, 4):  # a store is replaced when asked
        rechunk(files["shards"], out, {"y": length}, variables=["sst"], overwrite=True,
                shards={"y": 2 * length, "x": -1})  # fmt: skip
    assert names(tmp_path) == ["a.zarr"]
    with pytest.raises(ValueError, match="is the source itself, in it or"):
        rechunk(out, out / "inside.nc", {})
    with pytest.raises(ValueError, match="shards of tim: no variable has it"):
        rechunk(files["shards"], tmp_path / "b.zarr", {"y": 3}, shards={"tim": 6})
    store = zarr.open(out)
    assert (store["sst"].chunks, store["sst"].shards) == ((4, 10), (8, 60))
    assert store["sub/n"].chunks == (3, 3)
    same(out, files["shards"])
    rechunk(files["maps"], tmp_path / "b.h5", {"lat": 20}, page_bytes=2**16)
    same(tmp_path / "b.h5", files["maps"])


def test_what_a_copy_cannot_hold_is_refused_unless_it_may_be_left_out(files, tmp_path):
    with pytest.raises(ValueError, match=r"records is left out: it holds records .* --leave-out"):
        rechunk(files["nested"], tmp_path / "a.nc", {"x": -1})
    for format in CLASSIC:
        with pytest.raises(ValueError, match=r"lie in groups, which .* has not: take netcdf4, h"):
            rechunk(files["nested"], tmp_path / "a.nc", {}, format=format, leave_out=True)
    report = rechunk(files["nested"], tmp_path / "a.nc", {}, choice=Choice(codec="none"),
                   leave_out=True)  # fmt: skip
    assert "dimensions of groups lie in the root of the copy" in report.notes[0]
    assert len(report.notes) == 5
    with netCDF4.Dataset(tmp_path / "a.nc") as nc:
        assert nc.history == "made"
        assert nc["ocean/heat"].endian() == "big"
    same(tmp_path / "a.nc", files["nested"])


@pytest.mark.parametrize("kind", sorted(odd_files.KINDS))
def test_odd_files_are_copied_as_far_as_they_can_be_or_refused(tmp_path, kind):
    path = odd_files.odd_file(tmp_path, kind)
    before = path.read_bytes(), names(tmp_path)
    try:
        rechunk(path, tmp_path / "out.h5", {}, choice=Choice(codec="deflate"), leave_out=True)
    except (ValueError, OSError) as error:
        assert "\n" not in str(error)
    else:
        same(tmp_path / "out.h5", path)
        (tmp_path / "out.h5").unlink()
    assert (path.read_bytes(), names(tmp_path)) == before


@pytest.mark.parametrize("out", ["a.nc", "a.zarr", "a.h5"])
def test_a_variable_that_is_named_as_a_dimension_is_not_its_coordinate(tmp_path, out):
    with netCDF4.Dataset(tmp_path / "named.nc", "w") as nc:
        for dim, length in (("time", 6), ("x", 4)):
            nc.createDimension(dim, length)
        nc.createVariable("time", "i4", ("x",), chunksizes=(2,))[:] = [1, 2, 3, 4]
        nc.createVariable("t", "f4", ("time", "x"))[:] = np.ones((6, 4))
    rechunk(tmp_path / "named.nc", tmp_path / out, {"x": 2})
    rechunk(tmp_path / out, tmp_path / "back.nc", {})
    for name in (out, "back.nc"):
        assert everything(tmp_path / name)[1]["time"].tolist() == [1, 2, 3, 4]


def test_nothing_is_lost_of_what_is_read_or_replaced(files, tmp_path, monkeypatch):
    store, replace = tmp_path / "a.zarr", Path.replace
    rechunk(files["growing"], store, {}, leave_out=True)
    with pytest.raises(ValueError, match="is the source itself, in it or around it"):
        rechunk(store / "a", store, {}, overwrite=True)
    (tmp_path / "link.zarr").symlink_to(store)
    rechunk(files["growing"], tmp_path / "link.zarr", {}, overwrite=True, leave_out=True)
    assert (tmp_path / "link.zarr").is_symlink()

    def ended(path, to, once=[True]):  # noqa: B006
        if to == store and once and once.pop():
            raise KeyboardInterrupt
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", ended)
    with pytest.raises(KeyboardInterrupt):
        rechunk(files["maps"], store, {}, overwrite=True)
    same(store, files["growing"])
    assert names(tmp_path) == ["a.zarr", "link.zarr"]
    (tmp_path / "b.zarr").write_text("no store")
    with pytest.raises(ValueError, match="is a file, and zarr3 is not"):
        rechunk(files["maps"], tmp_path / "b.zarr", {}, overwrite=True)


@pytest.mark.parametrize("out", ["a.nc", "a.zarr", "a.h5"])
def test_a_coordinate_of_a_group_that_becomes_none_is_refused(tmp_path, out):
    with netCDF4.Dataset(tmp_path / "g.nc", "w") as nc:
        for group, length in ((nc, 4), (nc.createGroup("g"), 5)):
            group.createDimension("x", length)
            group.createVariable("x", "f4", ("x",))[:] = np.arange(length)
            group.createVariable("v", "f4", ("x",))[:] = 1
        nc.createGroup("h").createDimension("g", 3)  # as the group is called
        nc["h"].createVariable("w", "f4", ("g",))[:] = 2
    with pytest.raises(ValueError, match="g/x is the coordinate of its group no more"):
        rechunk(tmp_path / "g.nc", tmp_path / out, {"g_x": 3})
    rechunk(tmp_path / "g.nc", tmp_path / out, {"g_x": 3}, leave_out=True)
    same(tmp_path / out, tmp_path / "g.nc")


def test_nan_of_other_bits_is_nan_where_zarr_stores_no_chunk_of_it(tmp_path):
    variable = Variable("t", ("y", "x"), (4, 6), "f4", fill_value=np.nan)
    with create(tmp_path / "a.nc", [variable], Layout("netcdf4", (2, 6))) as writer:
        writer.write("t", ..., np.copysign(np.full((4, 6), np.nan, "f4"), -1))
    rechunk(tmp_path / "a.nc", tmp_path / "a.zarr", {"y": 4})
    assert np.isnan(everything(tmp_path / "a.zarr")[1]["t"]).all()


def test_each_loss_is_refused_unless_it_may_be_left_out(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        odd = {"flag": np.True_, "_FillValue": np.int8(-1), "square": np.eye(2)}
        for attr, value in odd.items():
            file.create_dataset(attr.strip("_"), data=np.zeros(4, "u1")).attrs[attr] = value
        file.create_group("g/run").attrs["note"] = "inner"
    message = "FillValue loses _FillValue, .* square loses square: netcdf4 has no such attributes"
    with pytest.raises(ValueError, match=message):
        rechunk(tmp_path / "a.h5", tmp_path / "a.nc", {})
    rechunk(tmp_path / "a.h5", tmp_path / "a.nc", {}, leave_out=True)
    with netCDF4.Dataset(tmp_path / "a.nc") as nc:
        assert (nc["flag"].flag, nc["g/run"].note) == (1, "inner")
    for out in ("b.h5", "b.zarr"):
        report = rechunk(tmp_path / "a.nc", tmp_path / out, {})
        assert report.notes == ()
        with open_source(tmp_path / out) as copied:
            assert copied.attrs == {"g/run/": {"note": "inner"}}


def test_a_wrong_value_keeps_the_copy_from_its_name(files, tmp_path, monkeypatch):
    write = netcdf.NetCDFWriter.write

    def wrong(self, name, selection, data):
        write(self, name, selection, np.where(data == data.max(), data - 1, data))

    monkeypatch.setattr(netcdf.NetCDFWriter, "write", wrong)
    message = r"sst of the copy is wrong in \[0:8, .*values differ"
    for least in (2.0, 0.0):  # in one pass, and in two
        monkeypatch.setattr(copy_plan, "MOST_READS", least)
        with pytest.raises(WrongValuesError, match=message):
            rechunk(files["packed"], tmp_path / "a.nc", {"time": -1})
        assert names(tmp_path) == []


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """32 MiB of maps, of which a series needs them all."""
    path = tmp_path_factory.mktemp("maps") / "maps.nc"
    variable = Variable("sst", ("time", "lat", "lon"), (128, 128, 512), "f4")
    layout = Layout("netcdf4", (1, 128, 512), "deflate", 1, shuffle=True)
    first = np.cumsum(np.random.default_rng(0).normal(size=(128, 512)), axis=1).astype("f4")
    with create(path, [variable], layout) as writer:
        for step in range(128):
            writer.write("sst", step, np.roll(first, step, axis=1))
    return path


MEASURED = """
import re, sys
from hyperslab.cli import main
status = main(sys.argv[1:])
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
sys.exit(status)
"""


@LINUX
@pytest.mark.parametrize(("out", "memory"), [("a.nc", 108), ("a.zarr", 136)])
def test_memory_is_kept_and_each_map_is_read_once(maps, tmp_path, out, memory):
    words = ["rechunk", maps, tmp_path / out, "--chunks", "time=-1", "--memory", f"{memory}MiB"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, words)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) / 1024 < memory
    assert "every value compared; the source was read once" in done.stderr
    assert "scratch file of up to 32 MiB" in done.stderr
    same(tmp_path / out, maps)
    assert names(tmp_path) == [out]


@st.composite
def grids(draw, rank=3, longest=40):
    shape = tuple(draw(st.integers(1, longest)) for _ in range(draw(st.integers(1, rank))))
    return shape, *(tuple(draw(st.integers(1, n)) for n in shape) for _ in range(2))


@given(grids(), st.integers(1, 4000))
def test_pieces_are_whole_chunks_that_fit_and_cover_the_array_once(grid, most):
    shape, source, unit = grid
    slabs = copy_plan.choose(shape, 4, source, unit, most)
    seen = np.zeros(shape, int)
    touched = 0
    for slab in slabs:
        seen[slab] += 1
        per_axis = (-(-s.stop // c) - s.start // c for s, c in zip(slab, source, strict=True))
        touched += np.prod(list(per_axis))
    assert (seen == 1).all()
    assert slabs.elements <= max(most, np.prod(unit))
    assert all(n % u == 0 or n == full for n, u, full in zip(slabs.lengths, unit, shape,
                                                             strict=True))  # fmt: skip
    chunked = np.prod([-(-n // c) for n, c in zip(shape, source, strict=True)])
    assert slabs.reads(source) == pytest.approx(touched / chunked)


@given(grids(longest=12), st.data())
def test_what_goes_through_the_scratch_file_comes_out_as_it_was(grid, data):
    shape, first, second = grid
    truth = np.random.default_rng(0).random(shape)
    copy = np.full(shape, np.nan)
    source = SimpleNamespace(
        read=lambda name, slab: np.ascontiguousarray(truth[slab]), cache=lambda *words: None
    )
    writer = SimpleNamespace(
        write=lambda name, slab, values: copy.__setitem__(slab, values), finish=lambda name: None
    )
    variable = SourceVariable("a", tuple("xyz"[: len(shape)]), shape, "f8")
    route = copy_plan.Route(
        copy_plan.Slabs(shape, second), 1.0, 0, 1, copy_plan.Slabs(shape, first), truth.nbytes
    )
    fitted = Fitted((variable,), (variable,), {"a": Layout("hdf5")}, {}, ())
    job = passes.Copying(fitted, copy_plan.CopyPlan({"a": route}, None, 0))
    ledgers = {"a": job.transfer(source, writer, variable)}
    assert copy.tobytes() == truth.tobytes()
    copied = SimpleNamespace(
        read=lambda name, slab: np.ascontiguousarray(copy[slab]), cache=source.cache, format="hdf5"
    )
    job.compare(copied, source, ledgers, passes.untimed)
    copy[tuple(data.draw(st.integers(0, n - 1)) for n in shape)] += 1
    with pytest.raises(WrongValuesError, match="1 of"):
        job.compare(copied, source, ledgers, passes.untimed)


@given(grids(longest=400), st.sampled_from(FORMATS), st.sampled_from(["netcdf4", "zarr3"]),
       st.booleans(), st.integers(22 * MIB, 400 * MIB))  # fmt: skip
def test_what_is_shared_fits_and_the_least_that_is_named_is_enough(
    grid, format, of, packed, memory
):
    shape, before, after = grid
    codec = "deflate 4" if packed else ""
    dims = tuple("xyz"[: len(shape)])
    variable = SourceVariable("a", dims, shape, "f4", chunks=before, codec=codec)
    chunked = format not in ("netcdf3", "cdf5")
    layout = Layout(format, after if chunked else None, "deflate" if packed and chunked else None)
    copied = Fitted((variable,), (variable,), {"a": layout}, {}, ())
    options = {"source_format": of, "cache_bytes": None, "scratch": True}
    try:
        plan = copy_plan.plan_copy(copied, memory_bytes=memory, **options)
    except copy_plan.MemoryLimitError as error:
        enough = re.search(r"allow at least ([\d,]+) MiB", str(error))[1].replace(",", "")
        assert int(enough) * MIB > memory
        copy_plan.plan_copy(copied, memory_bytes=int(enough) * MIB, **options)
        return
    route = plan.each["a"]
    largest = max(each.elements for each in (route.pieces, route.first or route.pieces))
    assert largest * 4 + route.source_cache_bytes <= memory - copy_plan.MARGIN_BYTES
    assert route.reads <= copy_plan.MOST_READS or route.first is None


def test_reads_and_room_are_told_before_the_work(maps, tmp_path, monkeypatch):
    lines = []
    report = rechunk(maps, tmp_path / "a.nc", {"time": -1}, memory_bytes=56 * MIB, say=lines.append)
    assert (report.reads, report.scratch_bytes) == (2, 0)  # the memory allows it
    assert "is read 2.0 times" in lines[0]
    report.path.unlink()
    (tmp_path / "scratch").mkdir()
    free = SimpleNamespace(free=33 * MIB)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    message = f"the scratch file takes 32 MiB in {tmp_path / 'scratch'}.* 33 MiB are left"
    with pytest.raises(NoRoomError, match=message):
        rechunk(maps, tmp_path / "a.nc", {"time": -1}, memory_bytes=34 * MIB,
                scratch=tmp_path / "scratch")  # fmt: skip
    assert names(tmp_path) == ["scratch"]


LIMITED = """
import resource, sys
from pathlib import Path
from hyperslab.tune.rechunk import rechunk
from hyperslab.tune.specs.target import Choice
source, out = sys.argv[1], Path(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, resource.RLIM_INFINITY))
for format in sys.argv[3:]:
    try:
        codec = "none" if format == "netcdf3" else "deflate"
        rechunk(source, out.with_suffix(""), {}, choice=Choice(codec=codec), format=format)
    except OSError as error:
        print(format, error)
    print(sorted(path.name for path in out.parent.iterdir()))
"""


@LINUX
def test_a_full_disk_leaves_nothing_and_touches_nothing(tmp_path):
    formats = ["netcdf3", "netcdf4", "hdf5", "zarr3", "nczarr"]
    source, out = tmp_path / "noise.nc", tmp_path / "disk" / "out"
    out.parent.mkdir()
    noise = np.random.default_rng(0).integers(0, 2**31, (900, 900), "i4")  # not compressible
    write_array(source, noise, Layout("netcdf4"))
    before = source.read_bytes(), source.stat().st_mtime_ns
    command = [sys.executable, "-c", LIMITED, str(source), str(out), *formats]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    for format, line, left in zip(formats, lines[::2], lines[1::2], strict=True):
        assert line.startswith(format) and "a file may not grow beyond 1 MiB" in line
        assert left == "[]"
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before


# Whoever runs the tests may have Ctrl-C ignored, as shells have for what runs in the background.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from hyperslab.cli import main
from hyperslab.tune import passes as module
whole = module.Copying.transfer
def transfer(*words):
    ledger = whole(*words)
    time.sleep(60 * (words[3].name == "sst"))
    return ledger
module.Copying.transfer = transfer
sys.exit(main(["rechunk", *sys.argv[1:], "--chunks", "lat=-1"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_is_ended_half_way_leaves_nothing_or_a_part_that_goes_with_the_next_run(
    files, tmp_path, number
):
    out = tmp_path / "out.nc"
    words = [sys.executable, "-c", SLOW, str(files["maps"]), str(out)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        parts = partial(tmp_path.glob, ".out.nc.*.part")
        until(lambda: any(part.stat().st_size > 10_000 for part in parts()), seconds=30)
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    if number != signal.SIGKILL:
        assert process.returncode == 1
        assert "interrupted: nothing is left of" in errors
        assert names(tmp_path) == []
        return
    assert names(tmp_path) == [part_name("out.nc", process.pid)]
    ample = ("--memory", "9GiB")  # this process may hold what earlier tests took
    assert main(["rechunk", str(files["maps"]), str(out), "--chunks", "lat=-1", "-q", *ample]) == 0
    assert names(tmp_path) == ["out.nc"]
    same(out, files["maps"])


def test_only_what_dead_processes_of_this_machine_left_of_a_file_goes(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    theirs = part_name("a.zarr", process.pid)
    elsewhere = theirs.replace(theirs.split(".")[3].partition("-")[0], "0" * 8)
    spared = [part_name("a.zarr", os.getppid()), elsewhere, ".a.zarr.part",
            "a.zarr", part_name("b.zarr", process.pid)]  # fmt: skip
    for name in [*spared, theirs]:
        (tmp_path / name).write_text("half")
    store = tmp_path / part_name("a.zarr", process.pid, "old")
    store.mkdir()
    (store / "zarr.json").write_text("{}")
    with whole_or_nothing(tmp_path / "a.zarr", overwrite=True) as unfinished:
        assert names(tmp_path) == sorted(spared)
        unfinished.write_text("whole")
    assert (tmp_path / "a.zarr").read_text() == "whole"
