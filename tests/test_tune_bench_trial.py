"""One sample of a bench, run here: its phases, what it verifies, what it leaves."""

import sys
from dataclasses import replace

import made_files
import numpy as np
import pytest

from hyperslab.io import Layout, write_array
from hyperslab.io import by_netcdf4 as netcdf
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job
from hyperslab.tune.bench.prepared import prepare
from hyperslab.tune.bench.trial import Clean
from hyperslab.tune.report.compare import WrongValuesError
from hyperslab.tune.source import SourceError, open_source
from hyperslab.tune.specs.patterns import Pattern
from hyperslab.tune.specs.target import Choice, Target

MIB = 2**20


def trial(path, out, target=None, verify=True, variables=None, **others):
    """A sample that may take what there is, since the tests' own process is large."""
    with open_source(path) as source:
        made = prepare(
            source,
            source.choose(variables),
            target or Target("copy"),
            [Pattern("row"), Pattern("whole")],
            memory_bytes=256 * MIB,
            verify=verify,
        )
    return replace(made.trial, path=out, memory_bytes=2**40, **others)


def rows(sample):
    watch = Stopwatch()
    sample(watch)
    return watch.rows()


@pytest.mark.parametrize("format", ["netcdf4", "netcdf3", "hdf5", "zarr3", "nczarr"])
def test_every_phase_is_timed_in_its_order(tmp_path, format):
    path = made_files.packed(tmp_path / "a.nc")
    found = rows(trial(path, tmp_path / "out", Target("t", format)))
    names = [row["phase"] for row in found]
    assert names[:8] == [
        "meta_read", "meta_write", "data_read", "data_write", "sync", "close", "meta_reread",
        "data_reread",
    ]  # fmt: skip
    patterns = [(row["phase"], row["cache_state"]) for row in found[8:]]
    warm = [("pattern:row", "warm"), ("pattern:whole", "warm")]
    cold = [(phase, "cold") for phase, _ in warm]
    assert patterns in (warm, warm + cold)  # some file systems cannot be evicted
    by = {row["phase"]: row for row in found}
    assert by["data_read"]["useful_bytes"] == by["data_reread"]["useful_bytes"] == 9600
    assert by["close"]["file_bytes"] > 0
    assert by["pattern:whole"]["pattern"] == "whole"
    assert by["data_write"]["peak_bytes"] > MIB
    Clean(tmp_path / "out")()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["netcdf4", "netcdf3", "hdf5", "zarr2", "zarr3", "nczarr"])
def test_scalars_are_copied_compared_and_read_in_patterns(tmp_path, format):
    path = made_files.scalars(tmp_path / "a.nc")
    found = rows(trial(path, tmp_path / "out", Target("t", format)))
    again = next(row for row in found if row["phase"] == "data_reread")
    assert again["useful_bytes"] == 8 + 4 + 1 + 12


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults as Linux does")
def test_reading_again_touches_the_same_new_memory_whatever_was_written(tmp_path):
    path = tmp_path / "a.nc"
    values = np.random.default_rng(0).integers(0, 255, (256, 64, 64)).astype("i4")
    write_array(path, values, Layout("netcdf3"))
    faults: dict[str, list[float]] = {}
    for chunks in ((256, 4, 64), (128, 16, 64), (64, 64, 64)):
        target = Target("t", "netcdf4", Choice(chunks))
        sample = trial(path, tmp_path / "out.nc", target)
        case = Case("t", sample, start="fork", cleanup=Clean(tmp_path / "out.nc"))
        with Processes(
            ["hyperslab.tune.bench.trial", "hyperslab.tune.sources.netcdf"]
        ) as processes:
            outcome = processes.run(Job(case))
        assert outcome.status == "ok"
        for row in outcome.rows:
            faults.setdefault(str(row["phase"]), []).append(float(row["minflt"]))
    for phase in ("meta_reread", "data_reread"):
        assert max(faults[phase]) <= 1.2 * min(faults[phase]), (phase, faults[phase])


def test_without_comparing_all_is_read_again_and_nothing_found(tmp_path, monkeypatch):
    path = made_files.packed(tmp_path / "a.nc")
    spoil(monkeypatch, 0)
    found = rows(trial(path, tmp_path / "out.nc", verify=False))
    by = {row["phase"]: row for row in found}
    assert by["data_reread"]["useful_bytes"] == by["data_read"]["useful_bytes"] > 0
    assert by["meta_reread"]["wall_s"] > 0
    assert not any(row.get("verified", True) for row in found)


def spoil(monkeypatch, after):
    """Let the writer change one value."""
    write = netcdf.NetCDFWriter.write

    def wrong(self, name, selection, values):
        write(self, name, selection, np.where(values == values.max(), after, values))

    monkeypatch.setattr(netcdf.NetCDFWriter, "write", wrong)


def test_one_wrong_value_spoils_a_sample(tmp_path, monkeypatch):
    path = made_files.classic(tmp_path / "a.nc")
    spoil(monkeypatch, 0)
    with pytest.raises(
        WrongValuesError, match=r"sst of the copy is wrong in \[0:7.*1 of 315 values"
    ):
        rows(trial(path, tmp_path / "out.nc", variables=["sst"]))


def test_what_quantizing_may_not_explain_is_wrong(tmp_path, monkeypatch):
    path = made_files.classic(tmp_path / "a.nc")
    target = Target("q", "netcdf4", Choice("default", "deflate", quantize=("bitround", 6)))
    rows(trial(path, tmp_path / "right.nc", target, variables=["sst"]))
    spoil(monkeypatch, 0)
    with pytest.raises(WrongValuesError, match="of the copy is wrong"):
        rows(trial(path, tmp_path / "out.nc", target, variables=["sst"]))


def test_notes_and_room_are_known_before(tmp_path):
    path = made_files.classic(tmp_path / "a.nc")
    with open_source(path) as source:
        chosen = source.choose(None)
        made = prepare(source, chosen, Target("z", "zarr3"), [], memory_bytes=256 * MIB)
        with pytest.raises(ValueError, match="tight: copying"):
            prepare(source, chosen, Target("tight"), [], memory_bytes=100 * MIB)
        with pytest.raises(SourceError, match="no variable 'x'"):
            source.choose(["x"])
    assert made.disk_bytes >= sum(variable.nbytes for variable in chosen)
    assert made.layout.format == "zarr3"
