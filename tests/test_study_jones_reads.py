"""Tests of the samples of Jones's experiments: every reader reads what is there."""

import itertools

import pytest

from hyperslab.measure.case import Stopwatch
from hyperslab.study.jones.files import Files, make_files
from hyperslab.study.jones.plan import available
from hyperslab.study.jones.readers import READERS
from hyperslab.study.jones.reads import ReadBuffers
from hyperslab.study.jones.spots import PATTERNS, Spots


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    made = Files(tmp_path_factory.mktemp("jones"), 2**18 + 5)
    make_files(made)
    return made


@pytest.mark.parametrize(
    ("reader", "pattern"), list(itertools.product(available(READERS), PATTERNS))
)
def test_every_loop_reads_what_is_there(files: Files, reader: str, pattern: str) -> None:
    for nbytes in (4096, 2**17):
        spots = Spots(pattern, nbytes, files.nbytes)
        sample = ReadBuffers(files.path(READERS[reader].format), reader, spots, 60.0)
        watch = Stopwatch()
        assert sample(watch)
        rows = {str(row["phase"]): row for row in watch.rows()}
        assert list(rows) == ["open", "read", "close"]
        assert rows["read"]["useful_bytes"] == len(spots) * nbytes
        assert rows["read"]["stages"] == len(spots)


def test_large_buffers_are_read_often_enough_to_have_a_pattern(files: Files) -> None:
    spots = Spots("sequential", 2**19, files.nbytes)
    for least, made in ((1, 2), (3, 3), (99, 4)):
        watch = Stopwatch()
        assert ReadBuffers(files.path("binary"), "python-read", spots, 0.0, least)(watch)
        assert {row["stages"] for row in watch.rows() if row["phase"] == "read"} == {made}


@pytest.mark.parametrize("reader", available(READERS))
def test_every_read_of_every_loop_is_right(files: Files, reader: str) -> None:
    spots = Spots("random", 512, files.nbytes)
    sample = ReadBuffers(files.path(READERS[reader].format), reader, spots, 60.0)
    loop = READERS[reader].loop(sample.path, spots.count)
    for read in range(len(spots)):
        loop.ready(spots.between(read, read + 1))()
        assert sample._same(loop, read)
    loop.close()
