"""What cannot be had of bench, advise and rechunk is said in a line, before anything is done."""

import netCDF4
import pytest
from made_advice import maps

from hyperslab.cli import USAGE, main
from hyperslab.parallel.found import find


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    with netCDF4.Dataset(maps(folder / "in.nc"), "a") as nc:
        for name in "zwab":
            nc.createDimension(name, 1)
        nc.createVariable("many", "i1", ("time", "lat", "lon", "z", "w"))
        nc.createVariable("names", str, ("z",))
        nc.createVariable("scalar", "f4", ())
        nc.createVariable("plain", "f4", ("a", "b"))
        nc.createDimension("later", None)
        nc.createVariable("later", "f4", ("later",))
    with netCDF4.Dataset(folder / "empty.nc", "w") as nc:
        nc.createDimension("x", 3)
    (folder / "link.nc").symlink_to("in.nc")
    (folder / "folder").mkdir()
    return folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("bench none.nc", "does not exist"),
        ("bench in.nc --variables u", "no variable 'u'"),
        ("bench in.nc --chunks depth=2", "no variable has a dimension depth"),
        ("bench in.nc --chunks 1,61,90", "a chunk is longer than 'lat': give at most its length"),
        ("bench in.nc --chunks 1,2,3,4", "fit no variable"),
        ("bench in.nc --memory lots", "give bytes"),
        ("bench in.nc --repeats 0", "give at least 1"),
        ("bench in.nc --plot a.nc", ".png, .svg or .pdf"),
        ("bench in.nc --csv no/where.csv", "does not exist: make it first"),
        ("bench in.nc --csv - --json -", "give one of them a file"),
        ("bench in.nc --csv .", "is a folder: give the name of a file"),
        ("bench in.nc --csv a.txt --json ./a.txt", "--csv and --json are both"),
        ("bench in.nc --workdir nowhere", "nowhere is no folder that can be written to"),
        ("bench in.nc --patterns diagonal", "give some of time_series"),
        ("bench in.nc --patterns profile", "has such a read"),
        ("bench in.nc -f 9", "1 netcdf3"),
        ("bench in.nc --chunks contiguous --codec zstd", "cannot be compressed; give chunks"),
        ("bench in.nc --chunks lat=1,lat=2", "chunks 'lat=1,lat=2': give lengths of at least 1"),
        ("bench in.nc --codec zstd:99", "codec 'zstd:99': zstd takes 1 to 22"),
        ("bench in.nc --codec lzf:1", "codec 'lzf:1': lzf takes no level"),
        ("bench in.nc --quantize bitround:0", "quantize 'bitround:0': give bitgroom:DIGITS"),
        ("bench in.nc --grid colour=red", "NAME=VALUE"),
        ("bench in.nc --memory 90MiB", "allow at least"),
        ("bench in.nc --ranks 0", "give at least 1"),
        ("bench in.nc --ranks 49", "give at most 48"),
        ("bench in.nc --ranks 2 --variables sst,ice", "name one with --variables"),
        ("bench in.nc --ranks 2 --variables many", "has 5 dimensions"),
        ("bench in.nc --ranks 2 --patterns map", "--ranks with --patterns"),
        ("bench in.nc --ranks 2 -f zarr3", "not zarr3"),
        ("bench in.nc --ranks 2 --codec zstd", "not zstd"),
        ("bench in.nc --ranks 2 --independent", "collective calls only"),
        ("bench in.nc --independent", "give --ranks N too"),
        ("bench in.nc --ranks 4", "apt-get install"),  # where there is no MPI
        ("advise", "no FILE is named"),
        ("advise empty.nc", "empty.nc holds no array of numbers"),
        ("advise in.nc --variable none", "has no variable 'none'"),
        ("advise in.nc --variable names", "names cannot be copied: it holds text"),
        ("advise in.nc --variable scalar", "a scalar: there is no layout to advise on"),
        ("advise in.nc --access series=1", "no access 'series': give one of time_series, map"),
        ("advise in.nc --access map=0.5,map=0.5", "map is given twice"),
        ("advise in.nc --access map=a", "give a share above 0, as in map=0.7 or 70%"),
        ("advise in.nc --access map=0", "give a share above 0"),
        ("advise in.nc --access map=0.9,whole=0.3", "1.2, not to 1 (or 100%): give map=0.75, w"),
        ("advise in.nc --access time_series --variable plain", "say what is time, as in --dims t"),
        ("advise in.nc --dims time=x", "sst has no dimension x: give some of time, lat, lon"),
        ("advise in.nc --dims when=lat", "give ROLE=DIMENSION"),
        ("advise in.nc --variable later", "holds no values yet"),
        ("advise in.nc --access profile", "no such read: take time_series, map, row, column, wh"),
        ("advise in.nc --budget 0x", "--budget 0x: give a multiple above 0"),
        ("advise in.nc --store moon", "--store moon: give local"),
        ("advise in.nc --store 0MB/s,80ms", "--store 0MB/s,80ms: give local"),
        ("advise in.nc --cache hot", "--cache hot: give warm, cold or auto"),
        ("advise in.nc --formats tiff", "format 'tiff': give one of"),
        ("advise in.nc --formats netcdf3", "--formats netcdf3: no layout has chunks and these"),
        ("advise in.nc --codecs rar", "codec 'rar': give none"),
        ("advise in.nc --library zarr", "it does not read sst, netcdf4: give one of netcdf4"),
        ("advise in.nc --library netcdf-c --store s3", "netcdf4 over a network: give one of"),
        ("advise in.nc --measure -1", "--measure -1: give 0"),
        ("advise in.nc --calls 0", "--calls 0"),
        ("advise in.nc --calls 61 --access row", "has 48 such reads of row"),
        ("advise in.nc --repeats 0", "--repeats 0: give at least 1"),
        ("advise in.nc --sample 0", "--sample 0: give at least 64 KiB"),
        ("rechunk in.nc in.nc", "is the source itself"),
        ("rechunk in.nc link.nc --overwrite", "is the source itself"),
        ("rechunk in.nc empty.nc", "exists: remove it, or give another name"),
        ("rechunk in.nc folder --overwrite", "is a folder and no Zarr store"),
        ("rechunk in.nc none/a.nc", "is not a folder: make it first"),
        ("rechunk in.nc a.nc --scratch none", "none is not a folder"),
        ("rechunk in.nc a.nc --chunks tim=-1", "no variable has all of these: time (time 48); lat"),
        ("rechunk in.nc a.nc --chunks time=0", "with a length of at least 1, or -1"),
        ("rechunk in.nc a.nc --chunks time=8,lat=99", "is longer than 'lat': give at most its"),
        ("rechunk in.nc a.nc --variable ssh", "has no variable 'ssh': take of time, lat"),
        ("rechunk in.nc a.nc --variable sst --variable lat", "not every variable has all of these"),
        ("rechunk in.nc a.nc --codec lzf", "it takes deflate, zstd"),
        ("rechunk in.nc a.zarr --format hdf5", "its name means zarr3: give another name"),
        ("rechunk in.nc a.nc --memory 1MiB", "allow at least"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(folder, monkeypatch, capsys, words, message):
    monkeypatch.chdir(folder)
    command, *given = words.split()
    if "apt" in message:
        monkeypatch.setenv("HYPERSLAB_MPI_HIDDEN", "hdf5")
    if "--ranks" in given and "hdf5" in find().missing and "apt" not in message:
        pytest.skip("no parallel HDF5 here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))  # after find: it may compile
    if command == "rechunk":
        given += ["--leave-out", *(() if "--chunks" in given else ("--chunks", "time=-1"))]
    elif "--ranks" in given and "--variables" not in given:
        given += ["--variables", "sst"]
    before = {path: path.is_file() and path.read_bytes() for path in folder.iterdir()}
    assert main([command, *given, "-q"] if given else [command]) == USAGE
    out, err = capsys.readouterr()
    assert err.startswith(f"hyperslab {command}: ") and message in err
    assert (out, err.count("\n")) == ("", 1)
    assert {path: path.is_file() and path.read_bytes() for path in folder.iterdir()} == before
