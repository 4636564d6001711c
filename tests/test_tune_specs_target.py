"""A target gives every variable a layout, or says what does not fit and what would."""

import sys
from dataclasses import replace

import pytest
from made_bench import PLAIN, SST, Made, stored

from hyperslab.io import Layout
from hyperslab.tune.specs.target import Choice, Target

CLASSIC = stored("t", ("time", "x"), (9, 5), Layout("netcdf3"), unlimited=("time",))
ZARR = stored("z", ("y", "x"), (30, 20), Layout("zarr3", chunks=(10, 10), codec="zstd", level=5))


def only(target, variable):
    return target.layouts([variable])[variable.name]


@pytest.mark.parametrize("variable", [SST, PLAIN, CLASSIC, ZARR])
def test_nothing_chosen_keeps_the_layout(variable):
    kept = only(Target("copy", variable.layout.format), variable)
    if variable.layout.format != "netcdf3":
        assert kept == variable.layout
    assert kept.format == variable.layout.format


@pytest.mark.parametrize(
    ("choice", "chunks"),
    [
        (Choice((5, 6, 7)), (5, 6, 7)),
        (Choice((("time", 100), ("lat", 9))), (100, 9, 144)),
        (Choice("same"), (1, 72, 144)),
        (Choice((300, 200)), (1, 72, 144)),
    ],
)
def test_lengths_pairs_and_words_choose_chunks(choice, chunks):
    both = [SST, PLAIN]
    assert Target("t", "netcdf4", choice).layouts(both)["sst"].chunks == chunks


def test_a_dimension_not_named_is_taken_whole_where_there_were_no_chunks():
    assert only(Target("t", "netcdf4", Choice((("y", 30),))), PLAIN).chunks == (30, 200)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target("t", "netcdf4", Choice((1, 73, 144))), "lat of sst has length 72.*chunk of 73"),
        (Target("t", "netcdf4", Choice((("lon", 145),))), "lon of sst has length 144"),
        (Target("t", "netcdf4", Choice((1, 2))), "2 chunk lengths fit no variable"),
        (Target("t", "netcdf4", Choice((("depth", 2),))), "no variable has a dimension depth"),
        (Target("t", "netcdf4", Choice("contiguous")), "needs chunks"),
        (Target("t", "netcdf4", each=(("u", Choice()),)), "no variable u is copied"),
        (Target("t", "netcdf4", each=(("sst", Choice((2, 2))),)), "2 chunk lengths for sst"),
        (Target("t", "netcdf3", Choice((1, 72, 144))), "have chunks"),
        (Target("t", "zarr3", Choice("same", "szip")), "szip"),
    ],
)
def test_what_does_not_fit_is_said(target, message):
    with pytest.raises(ValueError, match=message):
        target.layouts([SST])


def test_an_unlimited_dimension_may_be_shorter_than_its_chunk():
    grows = replace(SST, unlimited=("time",))
    assert only(Target("t", "netcdf4", Choice((200, 72, 144))), grows).chunks[0] == 200


def test_default_chunks_follow_each_dimension_that_grows():
    deep = Made("v", ("z", "time", "x"), (7, 50, 80), unlimited=("time",))
    assert only(Target("t", "netcdf4", Choice("default")), deep).chunks == (7, 1, 80)
    both = Made("w", ("time", "n"), (5, 6), unlimited=("time", "n"))
    assert only(Target("t", "netcdf4", Choice("default")), both).chunks == (2048, 2048)


def test_chunks_that_nobody_asked_for_are_cut_where_dimensions_cannot_grow():
    layout = Layout("netcdf4", chunks=(2048, 2048))
    both = stored("w", ("time", "n"), (5, 6), layout, unlimited=("time", "n"))
    assert only(Target("t", "netcdf4"), both).chunks == (2048, 2048)
    assert only(Target("t", "netcdf4-classic"), both).chunks == (5, 6)
    assert only(Target("t", "netcdf4-classic", Choice("default")), both).chunks == (5, 6)
    assert only(Target("t", "netcdf4-classic", Choice((("n", 3),))), both).chunks == (5, 3)
    with pytest.raises(ValueError, match="time of w has length 5, and a chunk of 9 is longer"):
        only(Target("t", "netcdf4-classic", Choice((9, 6))), both)


@pytest.mark.parametrize("bad", [{"format": "binary"}, {"format": "x"}, {"cache_bytes": -1}])
def test_a_target_that_cannot_be_is_refused(bad):
    with pytest.raises(ValueError, match="give"):
        Target("t", **bad)


def test_chunks_come_with_the_format():
    assert only(Target("t", "netcdf3"), SST) == Layout("netcdf3", prefill=False)
    assert only(Target("t", "netcdf4"), CLASSIC).chunks is not None  # it can grow
    assert only(Target("t", "zarr3"), PLAIN).chunks is not None
    assert only(Target("t", "netcdf4"), PLAIN) == Layout("netcdf4")
    assert only(Target("t", "netcdf4", Choice("default")), PLAIN).chunks == (300, 200)


def test_a_codec_that_a_format_has_not_becomes_deflate():
    kept = only(Target("t", "hdf5"), ZARR)
    assert (kept.codec, kept.shuffle) == ("deflate", True)
    assert only(Target("t", "zarr2"), ZARR).codec == "zstd"
    strange = Made("s", ("y",), (10,), chunks=(5,), codec="lzf and a checksum of its own")
    assert only(Target("t", "netcdf4"), strange).codec == "deflate"


def test_compressing_and_not():
    packed = only(Target("t", "netcdf4", Choice(codec="deflate", level=1, shuffle=True)), PLAIN)
    assert (packed.chunks, packed.level, packed.shuffle) == ((300, 200), 1, True)
    assert only(Target("t", "netcdf4", Choice(codec="none")), SST).codec is None
    assert only(Target("t", "netcdf4", Choice(shuffle=False)), SST).shuffle is False
    rounded = Target("t", "netcdf4", Choice(quantize=("bitround", 9)))
    assert only(rounded, SST).quantize == ("bitround", 9)


def test_only_floats_are_quantized():
    rounded = Target("t", "netcdf4", Choice(quantize=("bitround", 9)))
    assert rounded.layouts([SST, PLAIN])["a"].quantize is None
    with pytest.raises(ValueError, match=r"only floats .* not a \(i4\)"):
        rounded.layouts([PLAIN])


def test_byte_order_and_checksums_are_kept_by_a_copy():
    big = replace(SST.layout, byteorder="big", fletcher32=True)
    variable = replace(SST, layout=big)
    assert only(Target("copy", "netcdf4"), variable) == big
    little = replace(SST, layout=replace(SST.layout, byteorder=sys.byteorder))
    assert only(Target("copy", "netcdf4"), little).byteorder == "native"
    assert only(Target("t", "netcdf4", byteorder="little"), variable).byteorder == "little"
    assert only(Target("t", "netcdf3"), variable).byteorder == "native"


def test_what_is_not_chosen_stays():
    big = replace(SST, layout=replace(SST.layout, byteorder="big", fletcher32=True))
    made = only(Target("t", "netcdf4", Choice((10, 36, 72))), big)
    assert (made.byteorder, made.fletcher32, made.codec, made.level) == ("big", True, "deflate", 4)
    sharded = replace(ZARR, layout=replace(ZARR.layout, shards=ZARR.chunks))
    assert only(Target("t", "zarr3", Choice(codec="none")), sharded).shards == ZARR.chunks
    assert only(Target("t", "zarr3", Choice((5, 5))), sharded).shards is None


def test_a_scalar_has_no_chunks():
    crs = Made("crs", (), (), "i4", layout=Layout("netcdf4"))
    layouts = Target("t", "netcdf4", Choice((1, 72, 144), "deflate")).layouts([SST, crs])
    assert layouts["crs"] == Layout("netcdf4")
