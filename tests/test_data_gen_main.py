"""The command line of data_gen."""

import netCDF4
import numpy as np
import pytest

from data_gen.__main__ import main


def run(*words):
    return main([*words, "--quiet"])


def test_a_file_is_written_with_the_layout_asked_for(tmp_path):
    out = tmp_path / "currents.nc"
    grid = ["--steps", "2", "--set", "nlat=38", "--set", "nlon=128"]
    how = ["--codec", "deflate", "--level", "4", "--shuffle"]
    assert run("ocean", "--out", str(out), *grid, *how) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["currents.nc"]
    with netCDF4.Dataset(out) as found:
        assert found["uo"].shape == (2, 38, 128)
        assert found["uo"].chunking() == [1, 38, 128]
        filters = found["uo"].filters()
        assert filters["shuffle"] and filters["complevel"] == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["oceans"], "invalid choice: 'oceans'"),
        (["ocean", "--tile", "tile1"], "ocean has no parameter 'tile'"),
        (["ocean", "--set", "speed"], "give NAME=VALUE, NAME one of steps"),
        (["ocean", "--set", "speed=fast"], "--set speed=fast: give a number, such as 0.21"),
        (["array", "--shape", "3by4"], "give lengths such as 3162x3162"),
        (["array", "--chunks", "a"], "--chunks 'a': give lengths"),
        (["array", "--format", "netcdf3", "--codec", "deflate"], "netcdf3"),
    ],
)
def test_bad_words_are_errors_before_any_work(tmp_path, capsys, words, says):
    with pytest.raises(SystemExit) as stopped:
        run(*words, "--out", str(tmp_path / "a.nc"))
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unasked(tmp_path, capsys):
    out = tmp_path / "a.nc"
    out.write_text("mine")
    with pytest.raises(SystemExit):
        run("array", "--out", str(out), "--shape", "9")
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main(["array", "--out", str(out), "--shape", "9", "--force"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "100%" in said.err
    with netCDF4.Dataset(out) as found:
        assert np.asarray(found["values"][:]).tolist() == list(range(9))


def test_a_folder_is_not_replaced_and_no_room_is_an_error_by_name(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/kept").touch()
    for name, format, says in (
        ("mine", "netcdf4", "it is a directory"),
        ("mine", "zarr2", "left alone"),
        ("mine/no/a.nc", "netcdf4", "is not a directory; make it first"),
    ):
        out = ["--out", str(tmp_path / name), "--format", format]
        with pytest.raises(SystemExit):
            run("array", *out, "--shape", "9", "--force")
        assert says in capsys.readouterr().err
    assert run("array", "--out", str(tmp_path / "a.nc"), "--shape", "1000000000x1000000") == 1
    assert "make room there" in capsys.readouterr().err
    assert {path.name for path in tmp_path.rglob("*")} == {"mine", "kept"}
