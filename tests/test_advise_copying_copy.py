"""A copy is whole under its name or not there at all, and every value is what it was."""

import subprocess
import sys
from pathlib import Path

import made_files
import netCDF4
import numpy as np
import pytest
import zarr

from hyperslab.advise.copying.copy import copy, copy_apart
from hyperslab.advise.copying.room import MemoryLimitError
from hyperslab.advise.report.compare import WrongValuesError
from hyperslab.advise.source import SourceError, open_source
from hyperslab.advise.specs.target import Choice, Target
from hyperslab.io import Layout

MIB = 2**20
SAME = Target("copy")


def values(path):
    with open_source(path) as source:
        return {
            name: source.read(name, tuple(slice(0, n) for n in variable.shape))
            for name, variable in source.variables.items()
            if variable.copyable
        }


def same(copied, original):
    found, truth = values(copied), values(original)
    assert set(found) == set(truth)
    for name in truth:
        assert found[name].dtype == truth[name].dtype
        assert found[name].tobytes() == truth[name].tobytes(), name


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {
        "tile": made_files.radar_tile(folder / "tile.nc"),
        "classic": made_files.classic(folder / "classic.nc"),
        "cdf5": made_files.classic(folder / "five.nc", "NETCDF3_64BIT_DATA"),
        "nested": made_files.nested(folder / "nested.nc"),
        "shards": made_files.sharded(folder / "sharded.zarr"),
        "packed": made_files.packed(folder / "packed.nc"),
        "scalars": made_files.scalars(folder / "scalars.nc"),
    }


@pytest.mark.parametrize("format", ["netcdf4", "hdf5", "zarr3", "zarr2", "nczarr"])
@pytest.mark.parametrize(
    "kind", ["tile", "classic", "cdf5", "nested", "shards", "packed", "scalars"]
)
def test_every_kind_goes_into_every_format(files, tmp_path, kind, format):
    target = Target("chunked", format, Choice("default", "deflate"))
    out = tmp_path / f"out{Layout(format).suffix}"
    report = copy(files[kind], out, target)
    same(out, files[kind])
    assert report.path == out
    assert set(report.variables) == set(values(files[kind]))
    assert report.file_bytes > 0
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("format", ["netcdf3", "netcdf3-64bit", "cdf5", "netcdf4-classic"])
def test_classic_formats_take_what_has_no_groups(files, tmp_path, format):
    for kind in ("tile", "classic", "packed"):
        out = tmp_path / f"{kind}.nc"
        copy(files[kind], out, Target("plain", format))
        same(out, files[kind])
    with netCDF4.Dataset(tmp_path / "classic.nc") as nc:
        assert nc.dimensions["time"].isunlimited()
    with pytest.raises(ValueError, match=r"lie in groups, which .* has not: take netcdf4, hdf5"):
        copy(files["nested"], tmp_path / "nested.nc", Target("plain", format))


def test_attributes_dimensions_and_fill_values_are_carried_over(files, tmp_path):
    out = tmp_path / "out.nc"
    report = copy(files["packed"], out, Target("a", "netcdf4", Choice((4, 5, 30), "zstd", 3)))
    with netCDF4.Dataset(out) as nc:
        sst = nc["sst"]
        assert sst.dimensions == ("time", "lat", "lon")
        assert (sst.scale_factor, sst.add_offset, sst._FillValue) == (0.01, 273.15, -32768)
        assert sst.chunking() == [4, 5, 30]
        assert sst.filters()["zstd"]
        assert sst[:].mask.sum() == 8 * 20 * 30 - 6 * 20 * 22  # masked as in the source
    assert report.notes == ()


def test_what_is_left_out_is_said_with_the_reason(files, tmp_path):
    report = copy(files["nested"], tmp_path / "out.nc", SAME)
    assert "records is left out: it holds records (compound values of speed, count)." in (
        report.notes
    )
    assert "dimensions of groups lie in the root of the copy" in report.notes[0]
    assert len(report.notes) == 5
    with netCDF4.Dataset(tmp_path / "out.nc") as nc:
        assert nc.history == "made"
        assert nc["ocean/deep/salt"].chunking() == [2, 12]
        assert nc["ocean/heat"].endian() == "big"
    with pytest.raises(SourceError, match="no variable 'ssh': take of depth, ocean/heat"):
        copy(files["nested"], tmp_path / "other.nc", SAME, variables=["ssh"])


def test_shards_are_kept_and_made(files, tmp_path):
    copy(files["shards"], tmp_path / "same.zarr", Target("copy", "zarr3"))
    assert zarr.open(tmp_path / "same.zarr")["sst"].shards == (20, 20)


def test_bm_files_copy_has_bm_files_bytes(tmp_path):
    source = made_files.square(tmp_path / "a.nc")
    report = copy(source, tmp_path / "b.nc", Target("128", "netcdf4", Choice((128, 128))))
    assert report.file_bytes == (tmp_path / "b.nc").stat().st_size == made_files.BM_FILE_BYTES
    same(tmp_path / "b.nc", source)


def test_quantized_values_are_compared_as_rounded(tmp_path, files):
    target = Target("q", "netcdf4", Choice((7, 5, 9), "deflate", quantize=("bitround", 8)))
    copy(files["classic"], tmp_path / "q.nc", target, variables=["sst"])
    error = values(tmp_path / "q.nc")["sst"] - values(files["classic"])["sst"]
    assert 0 < np.abs(error).max() < 2**-8


def test_a_url_is_copied(files, tmp_path):
    with made_files.served(files["packed"].parent) as address:
        copy(f"{address}/packed.nc", tmp_path / "a.nc", SAME)
    same(tmp_path / "a.nc", files["packed"])


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ({"output": "source"}, ValueError, "is the source itself: give another name"),
        ({"output": "there.nc"}, FileExistsError, "exists: remove it, or give another name"),
        ({"output": "none/a.nc"}, FileNotFoundError, "is not a folder: make it first"),
        ({"verify": "some"}, ValueError, "give one of full, sample, none"),
        ({"target": Target("t", "netcdf4", Choice((9, 20, 30)))}, ValueError,
         r"dimension time of sst has length 8, and a chunk of 9 is longer: give at most 8"),
        ({"memory_bytes": 10 * MIB}, MemoryLimitError, r"0 MiB of 10 MiB are left.*at least 2\d M"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_before_anything_is_written(tmp_path, words, kind, said):
    source = made_files.packed(tmp_path / "source")
    (tmp_path / "there.nc").write_text("mine")
    options = {"output": "new.nc", "target": SAME} | words
    with pytest.raises(kind, match=said) as error:
        copy(source, tmp_path / options.pop("output"), options.pop("target"), **options)
    assert "\n" not in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "there.nc"]
    assert (tmp_path / "there.nc").read_text() == "mine"


def test_a_file_is_replaced_only_when_asked(files, tmp_path):
    (tmp_path / "a.nc").write_text("mine")
    copy(files["packed"], tmp_path / "a.nc", SAME, overwrite=True)
    same(tmp_path / "a.nc", files["packed"])


def test_memory_counts_what_copying_adds_or_the_whole_process(files, tmp_path):
    words = {"memory_bytes": 60 * MIB}  # less than this process has
    copy(files["packed"], tmp_path / "a.nc", SAME, **words)
    with pytest.raises(MemoryLimitError, match="of 60 MiB are left"):
        copy(files["packed"], tmp_path / "b.nc", SAME, whole_process=True, **words)
    report = copy_apart(files["packed"], tmp_path / "b.nc", SAME, memory_bytes=200 * MIB)
    assert report.path == tmp_path / "b.nc"
    same(tmp_path / "b.nc", files["packed"])


def test_errors_come_back_from_a_process_of_its_own(files, tmp_path):
    with pytest.raises(SourceError, match="no variable 'b': take of sst"):
        copy_apart(files["packed"], tmp_path / "a.nc", SAME, variables=["b"])
    with pytest.raises(MemoryLimitError, match="allow at least"):
        copy_apart(files["packed"], tmp_path / "a.nc", SAME, memory_bytes=MIB)
    (tmp_path / "a.nc").write_text("mine")
    with pytest.raises(OSError, match="exists: remove it"):
        copy_apart(files["packed"], tmp_path / "a.nc", SAME)


def test_a_wrong_value_keeps_the_copy_from_its_name(files, tmp_path, monkeypatch):
    from hyperslab.io import by_netcdf4 as netcdf

    write = netcdf.NetCDFWriter.write

    def wrong(self, name, selection, data):
        write(self, name, selection, np.where(data == data.max(), data - 1, data))

    monkeypatch.setattr(netcdf.NetCDFWriter, "write", wrong)
    with pytest.raises(
        WrongValuesError, match=r"sst of the copy is wrong in \[0:8, .*values differ"
    ):
        copy(files["packed"], tmp_path / "a.nc", SAME)
    assert list(tmp_path.iterdir()) == []
    copy(files["packed"], tmp_path / "a.nc", SAME, verify="none")


def test_a_copy_ends_when_nobody_waits_for_it(files, tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with pytest.raises(InterruptedError, match=f"process {gone.pid}, .* is gone"):
        copy(files["tile"], tmp_path / "a.nc", SAME, owner=gone.pid)
    assert list(Path(tmp_path).iterdir()) == []
