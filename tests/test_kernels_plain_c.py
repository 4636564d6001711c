"""The kernel's loops over plain files move the bytes they are told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.kernels import LibraryError, PlainFile

SIZE = 70_000
BYTES = np.random.default_rng(3).integers(0, 256, SIZE, "u1")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "a.bin"
    path.write_bytes(BYTES.tobytes())
    return path


@pytest.mark.parametrize("stdio", [False, True], ids=["pread", "fread"])
@settings(max_examples=25)
@given(pieces=st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, 9000)), max_size=8))
def test_any_pieces_are_those_of_the_file_and_its_end_is_named(path, stdio, pieces):
    pieces = [(offset, min(length, SIZE - offset)) for offset, length in pieces]
    offsets, lengths = np.array(pieces, "i8").reshape(-1, 2).T
    out = np.empty(lengths.sum(), "u1")
    with PlainFile(path, stdio=stdio) as file:
        file.access("read", offsets, lengths, out)
    assert out.tobytes() == b"".join(BYTES[a : a + n].tobytes() for a, n in pieces)
    said = r"call 1, 100 bytes at 69950: the file ends"
    with PlainFile(path, stdio=stdio) as file, pytest.raises(LibraryError, match=said):
        file.access("read", [0, SIZE - 50], 100, np.empty(200, "u1"))


def test_what_is_written_stands_in_the_file(tmp_path):
    values, each = BYTES[:600], np.full(6, np.nan)
    with PlainFile(tmp_path / "new.bin", write=True) as file:
        backwards = [500, 400, 300, 200, 100, 0]
        assert file.access("write", backwards, 100, values, each=each) >= each.sum() > 0
        assert file.sync() > 0
        out = np.empty(100, "u1")
        file.access("read", [500, 0], 100, out, reuse=True)
    assert out.tobytes() == values[500:].tobytes()
    written = np.frombuffer((tmp_path / "new.bin").read_bytes(), "u1").reshape(6, 100)
    assert written[::-1].tobytes() == values.tobytes()


def test_what_cannot_be_is_refused(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        PlainFile(tmp_path / "absent.bin")
    out = np.empty(10, "u1")
    with PlainFile(path) as file:
        for action, offset, length, error, said in (
            ("read", -1, 5, ValueError, "numbers from 0"),
            ("read", 0.7, 5, TypeError, "offsets must be integers, not float64"),
            ("write", 0, 5, LibraryError, "Bad file descriptor"),
        ):
            with pytest.raises(error, match=said):
                file.access(action, [offset], length, out)
        with pytest.raises(ValueError, match="each must be float64"):
            file.access("read", [0], 5, out, each=np.zeros(2))
