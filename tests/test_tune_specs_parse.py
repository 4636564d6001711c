"""What is typed is understood, or refused with what is allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.tune.specs import parse


@given(st.integers(0, 10**6), st.sampled_from(["", "KiB", "MiB", "GiB", "kB", "MB", "GB"]))
def test_sizes(number, unit):
    factor = {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}.get(unit)
    bytes_ = number * (10 ** {"kB": 3, "MB": 6, "GB": 9}[unit] if factor is None else 2**factor)
    assert parse.size(f"{number}{unit}") == bytes_


@given(st.lists(st.integers(1, 99), min_size=1, max_size=6), st.sampled_from(",x:"))
def test_lengths(lengths, between):
    assert parse.chunks(between.join(map(str, lengths))) == tuple(lengths)


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (parse.size, "lots", "give bytes"),
        (parse.size, "-1", "give bytes"),
        (parse.format_name, "7", "1 netcdf3"),
        (parse.format_name, "binary", "netcdf4"),
        (parse.byteorder, "3", "1 or little"),
        (parse.chunks, "1,lat", "pairs such as"),
        (parse.chunks, "0,5", "at least 1"),
        (parse.chunks, "lat=1,lat=2", "pairs such as"),
        (parse.codec, "zip", "deflate"),
        (parse.codec, "zstd:99", "1 to 22"),
        (parse.codec, "lzf:1", "no level"),
        (parse.codec, "deflate:0", "1 to 9"),
        (parse.quantize, "bitround", "BITS"),
        (parse.quantize, "bitround:0", "BITS"),
        (parse.switch, "maybe", "yes or no"),
    ],
)
def test_what_is_not_understood_is_refused(call, given, said):
    with pytest.raises(ValueError, match=said) as error:
        call(given)
    assert given in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "chunks", "codec", "level", "shuffle"),
    [
        ("0:-1:0:1024:16:256", (1024, 16, 256), "none", None, False),
        ("u:0:0:4:4", (4, 4), "none", None, False),
        ("u:9:1:4:4", (4, 4), "deflate", 9, True),
        ("u:1:0", "default", "deflate", 1, False),
        ("u:-1:0:0", "contiguous", "none", None, False),
    ],
)
def test_the_option_c_of_bm_file(text, chunks, codec, level, shuffle):
    ((name, choice),) = parse.bm_choices(text, ["u", "v"])
    assert name == "u"
    assert (choice.chunks, choice.codec, choice.level, choice.shuffle) == (
        chunks, codec, level, shuffle,
    )  # fmt: skip


def test_several_variables_in_one_option():
    each = dict(parse.bm_choices("1:-1:0:5,u:2:1:6", ["u", "v"]))
    assert each["v"].chunks == (5,)
    assert each["u"].level == 2


@pytest.mark.parametrize(
    "text", ["2:-1:0:5", "w:-1:0", "0:a:0", "0:10:0", "0:-1:2", "0:-1", "0:-1:0:5:0", ""]
)
def test_a_wrong_c_is_refused(text):
    with pytest.raises(ValueError, match="-c"):
        parse.bm_choices(text, ["u", "v"])


def test_boxes_of_bm_file():
    assert parse.bm_boxes("-u", "u:1:2,1:3", ["u", "v"]) == {"u": (1, 2), "v": (3,)}
    with pytest.raises(ValueError, match="-u 9:1: no variable"):
        parse.bm_boxes("-u", "9:1", ["u"])
