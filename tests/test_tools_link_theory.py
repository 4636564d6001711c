"""The script that holds the slow link against theory: what it asks for, and when it fails."""

import importlib.util
import math
import socket
from pathlib import Path

import pytest

from hyperslab.network import Link

PLACE = Path(__file__).parents[1] / "tools/link_theory.py"


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("link_theory", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("off", "code"), [(1.0, 0), (1.02, 0), (1.04, 1), (0.98, 0), (0.96, 1)])
def test_it_fails_where_one_row_is_off_either_way(tool, monkeypatch, capsys, off, code):
    rows = []

    def took_s(port, size, count, *, new):
        link = tool.LINKS["100 Mbit/s and 20 ms" if len(rows) >= 8 else "100 kB/s and 100 ms"]
        rows.append((size, count, new))
        # Of all rows one is off: 500 kB over the quick link.
        last = off if len(rows) > 8 and (size, new) == (500_000, True) else 1.0
        return last * link.seconds(1, int(new), size * count)

    monkeypatch.setattr(tool, "took_s", took_s)
    monkeypatch.setattr(tool, "SPENT_S", 0.0)
    assert tool.main(tries=1) == code
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 18 and said[-1] == ("1 off by more than 3 %" if code else "all within 3 %")
    asked = {(1, 1), (50_000, 1), (500_000, 1), (50_000, 8)}
    assert len(rows) == 16
    assert set(rows) == {(*each, new) for each in asked for new in (True, False)}


def test_all_bytes_pass_on_as_many_connections_as_are_asked_for(tool):
    with tool.answering() as port, Link(math.inf, 0.0).to(port) as line:
        for new in (True, False):
            assert tool.took_s(line.port, 50_000, 8, new=new) > 0
            traffic = line.traffic()
            warm = 0 if new else 8  # each kept connection was used once
            assert traffic.connections == 8
            assert traffic.down_bytes == 8 * 50_000 + warm
            assert traffic.up_bytes == 8 * 8 + 8 * warm
            line.forget()


def test_a_connection_that_ends_is_told(tool):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"x" * 3)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(OSError, match="ended 7 bytes too early"):
            tool.get(ours, 10)
