"""Recipes and checks of the book: each block runs as it stands, and prints what its page says."""

import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest
import xarray as xr

from hyperslab.cli import OK, main
from hyperslab.network import serving

BOOK = Path(__file__).parents[1] / "book"
PAGES = ("chunks", "symptoms", "guide")
TOOLS = ("ncdump", "nccopy", "h5ls", "h5repack")  # run where they are installed
NOT_RUN = ("MPI", "measures")  # `measures`: it takes the machine for minutes
SHOWN = ("text", "{advice}", "{contents}", "{index}")  # nothing to run
BLOCK = re.compile(
    r"^(?P<heading>#+ .*)$"
    r"|(?:^% (?P<mark>.+)\n)?^```(?P<language>\S+).*\n(?P<code>(?:.*\n)*?)```$",
    re.MULTILINE,
)
# As a user of zarr-python's releases sees them; none of them is about what a block does.
QUIET = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


class Block(NamedTuple):
    page: str
    heading: str
    language: str
    code: str
    mark: str


def blocks():
    """All blocks of code, in the order of the pages."""
    found = []
    for page in PAGES:
        heading = page
        for part in BLOCK.finditer((BOOK / f"{page}.md").read_text(encoding="utf-8")):
            heading = part["heading"] or heading
            if part["language"] and part["language"] not in SHOWN:
                mark = part["mark"] or ""
                found.append(Block(page, heading, part["language"], part["code"], mark))
    return found


BLOCKS = blocks()
EXAMPLE = BLOCKS[0].code  # the imports, and the files that all blocks are about
IMPORTS = EXAMPLE.splitlines()[0]
SECTIONS = [
    pytest.param(list(group), id=f"{page}: {heading.lstrip('# ')}")
    for (page, heading), group in groupby(BLOCKS[1:], key=lambda block: (block.page, block.heading))
]


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A folder with the example file, as the page makes it."""
    folder = tmp_path_factory.mktemp("example")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(EXAMPLE, {})
    return folder


@pytest.fixture(scope="module")
def server(example):
    """Where the file is served: what the pages call https://host."""
    with serving(example) as served:
        yield served.url


def printed(code):
    """What a block says that it prints, behind arrows."""
    return re.findall(r"# → (.+)$", code, re.MULTILINE)


def run_shell(code, mark, capfd):
    joined = re.sub(r" *\\\n *|\n(?=# →)", " ", code)  # an arrow belongs to the line above
    for line in joined.splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "hyperslab" and "--memory" in words:  # this process may hold more already
            subprocess.run([sys.executable, "-m", *words], check=True)
        elif words[0] == "hyperslab":
            assert main(words[1:]) == OK, line
        elif shutil.which(words[0]):
            subprocess.run(words, check=True)
        else:
            assert mark == f"needs: {words[0]}", f"{words[0]} is not here: mark its block"
        out, err = capfd.readouterr()
        for text in printed(line):
            assert text in out + err, line


def run_python(code, names, capfd):
    exec(compile(code, "block", "exec"), names)
    lines = iter(capfd.readouterr().out.splitlines())
    for text in printed(code):
        assert text in lines, text  # in this order; others may lie between


def test_blocks_that_do_not_run_are_marked():
    marks = Counter(block.mark for block in BLOCKS if block.mark)
    known = {f"needs: {tool}" for tool in TOOLS} | {f"not run: {why}" for why in NOT_RUN}
    assert set(marks) <= known, "an unknown mark would hide a block from the tests"
    assert (sum(marks[f"not run: {why}"] for why in NOT_RUN), sum(marks.values())) == (2, 7)
    assert {block.language for block in BLOCKS} == {"python", "sh"}


@QUIET
@pytest.mark.parametrize("section", SECTIONS)
def test_blocks_run_and_print_what_the_page_says(
    section, example, server, tmp_path, monkeypatch, capfd
):
    for given in example.iterdir():
        if any(given.name in block.code for block in section):
            (shutil.copytree if given.is_dir() else shutil.copy)(given, tmp_path / given.name)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(IMPORTS, names)
    with xr.set_options(warn_for_unclosed_files=False):
        for block in section:
            code = block.code.replace("https://host", server)
            if block.mark.startswith("not run"):
                compile(code, "block", "exec") if block.language == "python" else shlex.split(code)
            elif block.language == "sh":
                run_shell(code, block.mark, capfd)
            else:
                run_python(code, names, capfd)
