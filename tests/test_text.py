"""Numbers, intervals and directions in words, and texts without what is kept secret."""

import math
from collections import namedtuple
from urllib.parse import quote

import pytest

from hyperslab import text
from hyperslab.secret import concealed, of_options, of_url
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
    "1.004 [0.990, 1.018]": f"{Interval(1.0041, 0.99, 1.0184, 6):.3f}",
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


SECRET = "canary/secret+="


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe="").lower(),
        f"{quote(SECRET[:-1])}=",
        f"xCredential%3D{SECRET}%2Fus-east-1",
        f"GET http://me:{quote(SECRET, safe='')}@example.org/a.nc",
    ],
)
def test_a_secret_is_hidden_wherever_it_stands(text):
    hidden = concealed(f"before {text} after", [SECRET])
    assert "canary" not in hidden.lower() and hidden.endswith(" after")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://a@b:canary@host/x.nc", "https://host/x.nc"),
        ("'http://canary@h/x' and \"s3://canary@b/y?canary\"", "'http://h/x' and \"s3://b/y\""),
        ("URL('http://h/x?a=canary&b=canary#mode=bytes')", "URL('http://h/x')"),
        ("/x.nc?versionId=canary: gone", "/x.nc gone"),
    ],
)
def test_addresses_lose_user_password_and_query_without_being_told_of_them(text, kept):
    assert concealed(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "the server is not reached (Connection refused): is it running? try again",
        "http://127.0.0.1:9000/a@2/b.nc: mail@example.org // is it so?; yes",
    ],
)
def test_what_is_no_secret_stays(text):
    assert concealed(text, [""]) == text
    assert concealed("a name, a", ["a"]) == "… name, …", "no parts of words"


def test_secrets_are_found_in_nested_options():
    auth = namedtuple("BasicAuth", "login password encoding")("canary-1", "canary-2", "latin1")
    headers = {"Authorization": b"Bearer canary-3", "Cookie": "canary-4"}
    kwargs = {"auth": auth, "headers": headers, "aws_secret_access_key": "canary-5"}
    options = {"anon": False, "key": None, "region": "us-east-1", "client_kwargs": kwargs}
    options["credentials"] = {"one": "canary-6"}
    found = set(of_options(options))
    assert {f"canary-{number}" for number in range(1, 7)} < found
    assert "us-east-1" not in found
    found = set(of_url("http://me:word@example.org/a.nc?token=canary&format=4#mode=bytes"))
    assert found == {"canary", "token=canary&format=4", "word"}
