"""What `hyperslab index` prints, and how it ends."""

import h5py
import numpy as np
import pytest

from hyperslab.cli import main


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        values = np.arange(40_000, dtype="f4").reshape(4, 100, 100)
        file.create_dataset("data", data=values, chunks=(1, 100, 100), compression=4)
        file.create_dataset("group/raw", data=np.tile(values, 2), chunks=(2, 100, 200))
        file.create_dataset("time", data=np.arange(4.0))
        file.create_dataset("names", data=["a", "b"], dtype=h5py.string_dtype())
    return tmp_path / "a.h5"


def ran(capsys, *words):
    code = main(["index", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_build_info_and_check(path, capsys):
    code, out, err = ran(capsys, path, "--spacing", "8KiB")
    assert (code, err) == (0, "") and out.startswith("a.h5.subchunk: ") and "% of a.h5" in out
    code, out, err = ran(capsys, path, "--info")
    assert (code, err) == (0, "")
    first, titles, row, *rest = out.splitlines()
    kept = path.with_name("a.h5.subchunk").stat().st_size
    assert first == (
        f"a.h5.subchunk: format 1, {kept:,} bytes, for a file of {path.stat().st_size:,} bytes"
    )
    assert titles.split() == [
        "variable", "shape", "chunks", "of", "spacing", "points", "bytes", "share",
    ]  # fmt: skip
    assert row.split()[:6] == ["data", "4×100×100", "4", "1×100×100", "8", "KiB"]
    assert rest == [
        "group/raw 4×100×200 is read plainly: it is not deflate-compressed",
        "names 2 is read plainly: its type object is no number",
        "time 4 is read plainly: its 32 bytes are in the index",
    ]
    code, out, err = ran(capsys, path, "--check")
    assert (code, err) == (0, "") and "a.h5.subchunk fits a.h5: " in out


def test_check_names_what_is_damaged(path, capsys):
    assert ran(capsys, path)[0] == 0
    index = path.with_name("a.h5.subchunk")
    data = bytearray(index.read_bytes())
    data[-3] ^= 1
    index.write_bytes(data)
    code, out, err = ran(capsys, path, "--check")
    assert (code, out) == (1, "") and "a.h5: " in err and "damaged" in err


def test_without_an_index_the_command_that_builds_one_is_said(path, capsys):
    for option in ("--info", "--check"):
        code, out, err = ran(capsys, path, option)
        assert (code, out) == (1, "")
        assert f"no index {path}.subchunk: build it with `hyperslab index {path}`" in err


def test_one_of_several_that_fails_does_not_hide_the_others(path, capsys):
    assert ran(capsys, path)[0] == 0
    code, out, err = ran(capsys, path.with_name("none.h5"), path, "--info")
    assert code == 1 and "none.h5" in err and "a.h5.subchunk: format 1" in out


def test_indexes_in_a_folder_of_their_own(path, tmp_path, capsys):
    (tmp_path / "indexes").mkdir()
    code, _, _ = ran(capsys, path, "--index", tmp_path / "indexes", "--variables", "data")
    assert code == 0 and (tmp_path / "indexes/a.h5.subchunk").is_file()
    assert not path.with_name("a.h5.subchunk").exists()
    code, out, _ = ran(capsys, path, "--index", tmp_path / "indexes", "--info")
    assert code == 0 and "1×100×100" in out


def test_an_index_with_a_name_of_its_own(path, tmp_path, capsys):
    place = tmp_path / "mine.subchunk"
    assert ran(capsys, path, "--index", place)[0] == 0 and place.is_file()
    assert ran(capsys, path, "--index", place, "--check")[0] == 0
    code, _, err = ran(capsys, path, tmp_path / "b.h5", "--index", place)
    assert code == 2 and "it can be one file's; give a folder for 2" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "-1"], "--jobs is -1: give 1 or more"),
        (["--index", "none"], "no such folder"),
        (["--budget", "0"], "budget is 0.0: give a share"),
        (["--spacing", "3"], "spacing is 3 bytes: give 1024 to"),
    ],
)
def test_arguments_that_make_no_sense_are_usage_errors(path, capsys, words, said):
    code, out, err = ran(capsys, path, *words)
    assert (code, out) == (2, "") and said in err


def test_variables_that_cannot_be_indexed_are_named(path, capsys):
    code, _, err = ran(capsys, path, "--variables", "none")
    assert code == 1 and "has no variable 'none': it has data, group/raw, names, time" in err
    code, _, err = ran(capsys, path, "--variables", "time")
    assert code == 1 and "time in a.h5 cannot be indexed: it is not chunked" in err
