"""Numbers, intervals and directions in words."""

import math

import pytest

from hyperslab import text
from hyperslab.text import Interval

SPEED = {"above": "slower", "below": "faster"}
SAID = {
    "1594 0.0721 8760 2": " ".join(map(text.number, (1594.352, 0.07213, 8760, 2.0))),
    "5.4 ms, 1 s": f"{text.amount(0.0054, 's')}, {text.amount(0.9999, 's')}",
    "71 kB, 1 MB, 436 MB/s": ", ".join(
        [text.amount(71_000, "B"), text.amount(999_980, "B"), text.amount(435.5e6, "B/s")]
    ),
    "96 % of cases": text.amount(0.958, text.CASES),
    "−1.7 % away": text.amount(-0.0172, text.AWAY),
    "works": text.amount(1, text.WORKS),
    "1.2 %, 99.7 %": f"{text.percent(0.0123)}, {text.percent(0.997)}",
    "−1.2 %, 0 %": f"{text.percent(-0.0123, signed=True)}, {text.percent(-4e-16, signed=True)}",
    "15.9 × [15.1, 16.8] faster": f"{Interval(15.9, 15.1, 16.8, 15):faster}",
    "2 × [1.6, 2.5] slower": f"{Interval(0.5, 0.4, 0.625, 7):faster}",
    "neither faster nor slower (0.97 [0.93, 1.02])": f"{Interval(0.97, 0.93, 1.02, 15):faster}",
    "neither surely more nor less (1.47 [0.84, 1.64])": f"{Interval(1.47, 0.84, 1.64, 13):more}",
    "5.4 ms [5.1, 6.2]": f"{Interval(0.0054, 0.0051, 0.0062, 7):s}",
    "2 × (1.5 to 2.5, the range of 3 blocks)": f"{Interval(2.0, 1.5, 2.5, 3):×}",
    "1.02 (one block, no interval)": f"{Interval(1.016, 1.016, 1.016, 1)}",
    "305 ms, not measured": f"{text.exact(0.305):s}, {text.exact(math.nan):s}",
    "8.76 kB": text.interval(8760, 8760, 8760, "B"),
    "2.31 × [2.2, 2.44]": text.interval(2.31, 2.2, 2.44, text.TIMES),
    "the same, 3.4 % slower": f"{text.comparison(1.0, **SPEED)}, {text.comparison(1.034, **SPEED)}",
    "no difference [0.93, 1.05]": text.comparison(Interval(1.031, 0.93, 1.05, 7), **SPEED),
    "not told apart [0.32, 1]": text.comparison(Interval(0.5, 0.32, 1.0, 7), **SPEED),
    "95 % intervals over 7 interleaved blocks": text.spread(7),
    "95 % intervals over 12 interleaved blocks; ranges where there were fewer than 6": text.spread(
        12, 3
    ),
    "ranges over 4 interleaved blocks, too few for an interval": text.spread(4),
    "no range, of 1 interleaved block, too few for an interval": text.spread(1),
    "wind [31m red": text.printable("wind\x1b[31m\nred"),
    r"\<script\>alert(3)\</script\> of a\_b": text.data("<script>alert(3)</script> of a_b"),
    "8, 16 and 32": text.listing(["8", "16", "32"]),
    "8, 16, 32 and 1 more": text.listing(["8", "16", "32", "64"]),
}


@pytest.mark.parametrize("expected", SAID)
def test_what_is_said(expected):
    assert SAID[expected] == expected
