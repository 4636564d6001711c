"""Options become the list of layouts: one, several, or every combination."""

import pytest
from made_bench import PLAIN, SST, Made

from hyperslab.tune.specs.grid import MOST_TARGETS, Wanted, sweeps, targets

FILE = {"sst": SST}


def names(options=None, bm=(), copy=True, format="netcdf4", file=FILE):
    made = targets(Wanted(options or {}, bm, copy), format, file, list(file.values()))
    return [target.name for target in made]


def test_every_combination_is_made():
    made = targets(
        Wanted({"codec": ["none", "zstd:3"], "chunks": ["1,72,144", "time=100"]}),
        "netcdf4", FILE, [SST],
    )  # fmt: skip
    assert [target.name for target in made] == [
        "copy", "1x72x144 uncompressed", "1x72x144 zstd:3", "time=100 uncompressed",
        "time=100 zstd:3",
    ]  # fmt: skip
    assert [target.layouts([SST])["sst"].codec for target in made[1:]] == [None, "zstd"] * 2


def test_automatic_chunks_with_a_codec():
    found = names({"chunks": ["auto"], "codec": ["zstd:1"]})
    assert found[1:] == ["map chunks", "series chunks", "balanced chunks"]
    assert Wanted({"chunks": ["auto"], "codec": ["zstd:1"]}).common == "zstd:1"
    swept = names({"chunks": ["auto"], "codec": ["zstd:1", "none"]})
    assert swept[1:3] == ["map chunks zstd:1", "series chunks zstd:1"]


def test_several_c_are_several_layouts():
    asked = Wanted({"endian": ["big"]}, ["0:-1:0:1:72:144", "sst:2:1:10:72:144"])
    made = targets(asked, "netcdf4", FILE, [SST])
    assert [one.name for one in made] == ["copy", "1x72x144", "10x72x144 deflate:2 shuffle"]
    assert [one.byteorder for one in made] == ["native", "big", "big"]
    assert asked.common == "big-endian"
    assert names({"endian": ["big"]}, asked.bm[:1]) == ["copy", "1x72x144 big-endian"]


def test_c_and_a_sweep_together():
    found = names({"cache": ["1MiB", "64MiB"]}, ["0:-1:0:1:72:144"])
    assert found == ["copy", "1x72x144 cache 1MiB", "1x72x144 cache 64MiB"]


def test_c_keeps_digits_as_asked():
    asked = Wanted({"quantize": ["bitround:9"]}, ["0:-1:0:1:72:144"])
    made = targets(asked, "netcdf4", FILE, [SST])[1]
    assert made.layouts([SST])["sst"].quantize == ("bitround", 9)


@pytest.mark.parametrize("option", [{"chunks": ["10,10"]}, {"codec": ["zstd"]}, {"shuffle": ["1"]}])
def test_c_says_chunks_and_codec_itself(option):
    with pytest.raises(ValueError, match="-c says chunks, deflate and shuffle itself"):
        names(option, ["0:-1:0:1:72:144"])


def test_layouts_of_other_variables_have_names_of_their_own():
    other = Made("b", PLAIN.dims, PLAIN.shape, PLAIN.dtype)
    file = {"a": PLAIN, "b": other}
    assert names({}, ["a:-1:0:10:10", "b:-1:0:10:10"], file=file)[1:] == ["10x10", "10x10 (2)"]


def test_chunks_of_a_classic_file_make_it_netcdf4():
    plain = Made("a", ("y", "x"), (30, 20), "i4")
    made = targets(Wanted({"chunks": ["10,10"]}), "netcdf3", {"a": plain}, [plain])
    assert [target.format for target in made] == ["netcdf3", "netcdf4"]
    kept = targets(Wanted({"endian": ["big"]}), "netcdf3", {"a": plain}, [plain])
    assert kept[1].format == "netcdf3"


def test_everything_that_can_be_swept():
    made = targets(
        Wanted({
            "format": ["3"], "chunks": ["default"], "codec": ["deflate:1"], "shuffle": ["yes"],
            "quantize": ["bitround:9"], "endian": ["1"], "cache": ["1MiB"],
        }),
        "netcdf4", FILE, [SST],
    )  # fmt: skip
    assert made[1].name == (
        "netcdf4 default chunks deflate:1 shuffle bitround:9 little-endian cache 1MiB"
    )
    assert made[1].cache_bytes == 2**20


def test_shuffle_without_a_codec_is_the_same_layout_once():
    found = names({"codec": ["none", "deflate:1"], "shuffle": ["no", "yes"]})
    assert found == ["copy", "uncompressed", "deflate:1 no shuffle", "deflate:1 shuffle"]


@pytest.mark.parametrize("text", ["codec", "colour=red/blue", "codec=", "=a/b"])
def test_a_sweep_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="NAME=VALUE/VALUE"):
        sweeps([text])


def test_a_sweep_is_given_once():
    with pytest.raises(ValueError, match="already"):
        sweeps(["codec=none/lzf", "codec=zstd/lzf"])


def test_too_many_are_refused():
    values = [f"{n},72,144" for n in range(1, MOST_TARGETS + 2)]
    with pytest.raises(ValueError, match="sweep over fewer"):
        names({"chunks": values})


def test_the_same_twice_is_tried_once():
    file = {"a": PLAIN}
    assert names({}, ["0:-1:0:10:10", "a:-1:0:10:10"], file=file) == ["copy", "10x10"]
