"""HDF5 files with one odd thing each, beside a variable `good` that is like any other.

A kind is a function that writes into an open file; what it returns, if anything, is done to the
file's path after it is closed. In this order: types, filters, where values lie, links and names,
attributes, dimensions, damage.
"""

import ctypes
import os
import zlib
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5g, h5o, h5p, h5r, h5s, h5t, h5z

KINDS = {}
GOOD = np.arange(10_000)
NUMBERS = ("i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16",
           "bool")  # fmt: skip


def kind(write):
    """Enter a kind under the name of its function."""
    KINDS[write.__name__] = write
    return write


def odd_file(folder, name):
    """Write the file of a kind."""
    path = folder / f"{name}.h5"
    options = {"userblock_size": 1024} if name == "user_block" else {}
    options |= {"libver": "latest"} if name in LATEST else {}
    with h5py.File(path, "w", **options) as file:
        deflated(file, "good", GOOD, (5000,))
        after = KINDS[name](file)
    if after:
        after(path)
    return path


def library():
    """The HDF5 that h5py uses, for what h5py does not offer."""
    maps = Path("/proc/self/maps").read_text().split()
    loaded = sorted(word for word in maps if "libhdf5" in word and "_hl" not in word)
    # netCDF4 may have loaded one of its own.
    hdf5 = ctypes.CDLL(next((name for name in loaded if "h5py" in name), loaded[0]))
    hdf5.H5Pset_fill_value.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    return hdf5


def low_level(file, name, dtype, shape, **how):
    """Create a dataset of a type that numpy may not have."""
    plan = h5p.create(h5p.DATASET_CREATE)
    if chunks := how.get("chunks"):
        plan.set_chunk(chunks)
    for number, parameters in how.get("filters", ()):
        plan.set_filter(number, h5z.FLAG_OPTIONAL, parameters)
    space = h5s.create_simple(shape) if shape is not None else h5s.create(h5s.NULL)
    return h5d.create(file.id, name.encode(), dtype, space, plan)


def deflated(file, name, values, chunks, **how):
    """Create a dataset of deflated chunks and write it."""
    return file.create_dataset(name, data=values, chunks=chunks, compression=4, **how)


def overwritten(at, values):
    """Return what overwrites bytes of a file from a place on."""

    def damage(path):
        data = bytearray(path.read_bytes())
        data[at : at + len(values)] = values
        path.write_bytes(data)

    return damage


@kind
def numbers(file):
    values = np.arange(660).reshape(20, 33) % 100
    for dtype in NUMBERS:
        typed = values.astype(dtype)
        deflated(file, dtype, typed, (6, 10), shuffle=True, fillvalue=typed.dtype.type(1))
    how = {"chunks": (7,), "compression": 1}
    file.create_dataset("missing", (50,), "f4", fillvalue=np.nan, **how)
    file["deep/down/x"] = np.arange(60)
    file["deep"].attrs["title"], file.attrs["number"] = "deep", np.float32(1.5)
    file["z"] = np.array([1 + 2j, -3j])
    file["small"] = np.array([1 + 2j], "c8")
    file["good"].attrs["z"] = 1 + 2j
    deflated(file, "half", np.linspace(0, 1, 5000).astype("f2"), (900,))
    deflated(file, "long", np.full(9000, 0.5, np.longdouble), (3000,))
    file["few"] = np.ones(4, np.longdouble)
    file["pair"] = np.ones(2, np.clongdouble)
    file["good"].attrs["x"] = np.longdouble(1.5)


@kind
def types_without_numbers(file):
    file["opaque"] = np.array([b"abc", b"de"], "V3")
    file.create_dataset("enum", (4,), h5py.enum_dtype({"A": 0, "B": 7}, "i2"))[...] = [0, 7, 7, 0]
    file["bool"] = np.array([True, False, True])
    file["type"] = np.dtype([("a", "i4")])
    file.create_dataset("of_it", (3,), file["type"])
    file["null"] = h5py.Empty("f4")
    file["none"] = h5py.Empty("S3")
    file["refs"] = np.array([file["good"].ref, h5py.Reference()], h5py.ref_dtype)
    file.create_dataset("regions", (1,), h5py.regionref_dtype)[0] = file["good"].regionref[3:7]
    file["target"] = 1.0
    file["dangling"] = np.array([h5r.create(file.id, b"target", h5r.OBJECT)], h5py.ref_dtype)
    del file["target"]


@kind
def records_arrays_and_lists(file):
    fields = [("a", "i4"), ("b", ">f8"), ("s", "S4")]
    file["c"] = np.array([(1, 2.5, b"x"), (3, 4.5, b"yy")], fields)
    inner = np.dtype([("x", "f4"), ("y", "f4", (2,))])
    file["nested"] = np.zeros((2, 3), [("id", "i8"), ("inner", inner)])
    dtype = np.dtype({"names": ["b", "a"], "formats": ["i4", "f8"], "offsets": [8, 0]})
    file["turned"] = np.zeros(3, dtype)
    values = np.arange(15.0, dtype="f4").reshape(5, 3)
    file.create_dataset("arr", (5,), np.dtype(("f4", (3,))))[...] = values
    pairs = np.dtype(("i2", (2, 3)))
    chunked = file.create_dataset("big", (500,), pairs, chunks=(100,), compression=4)
    chunked[...] = np.arange(3000, dtype="i2").reshape(500, 2, 3)
    file.create_dataset("scalar", (), np.dtype(("i4", (2, 2))))[()] = [[1, 2], [3, 4]]
    file.create_dataset("records", (4,), np.dtype(([("a", "i4"), ("b", "f8")], (3,))))
    ragged = file.create_dataset("ragged", (3,), h5py.vlen_dtype("i4"))
    big_endian = file.create_dataset("big_endian", (3,), h5py.vlen_dtype(">u4"))
    for row, length in enumerate((2, 0, 3)):
        ragged[row] = big_endian[row] = np.arange(length)


@kind
def texts(file):
    file["vlen"] = np.array(["a", "", "grüße"], object)
    file["ascii"] = np.array(["a", "bb"], h5py.string_dtype("ascii"))
    file["fixed"] = np.array([b"one", b"three"])
    spaced = adapted(h5t.C_S1, size=6, strpad=h5t.STR_SPACEPAD)
    low_level(file, "spaced", spaced, (2,)).write(h5s.ALL, h5s.ALL, np.array([b"a", b"b"], "S6"))
    file["one"] = "hello"
    file["one_fixed"] = np.array(b"hello", "S20")
    file["empty"] = np.array(b"", "S20")


@kind
def text_that_is_no_utf8(file):
    file["text"] = np.array([b"deg\xe9", b"ok"], h5py.string_dtype())


@kind
def types_that_numpy_lacks(file):
    how = {"size": 16, "precision": 128, "fields": (127, 112, 15, 0, 112), "ebias": 16383}
    low_level(file, "quad", adapted(h5t.IEEE_F64LE, **how), (4,))
    low_level(file, "time", h5t.UNIX_D32LE, (3,))
    narrow = adapted(h5t.STD_I32LE, precision=24)
    low_level(file, "narrow", narrow, (30,), chunks=(10,), filters=[(1, (4,))])
    low_level(file, "three", adapted(h5t.STD_I32BE, size=3), (4,))
    low_level(file, "bits", h5t.STD_B8LE, (4,))


def adapted(dtype, **how):
    """A copy of an HDF5 type with other properties, set in the order given."""
    changed = dtype.copy()
    for name, value in how.items():
        getattr(changed, f"set_{name}")(*(value if isinstance(value, tuple) else (value,)))
    return changed


@kind
def numbers_stored_in_another_way(file):
    twelve_bits = adapted(h5t.STD_I32LE, precision=12, offset=4)
    # The upper half of a float32.
    bfloat = adapted(h5t.IEEE_F32LE, fields=(15, 7, 8, 0, 7), size=2, ebias=127)
    values = (np.arange(20_000) % 100).astype("<i4")
    for name, dtype in (("twelve_bits", twelve_bits), ("bfloat", bfloat)):
        for filters in ([], [(2, (dtype.get_size(),))]):
            how = {"chunks": (10_000,), "filters": [*filters, (1, (4,))]}
            dataset = low_level(file, f"{name}{len(filters)}", dtype, values.shape, **how)
            dataset.write(h5s.ALL, h5s.ALL, values, h5t.STD_I32LE)


@kind
def fills(file):
    plan = h5p.create(h5p.DATASET_CREATE)
    plan.set_chunk((10,))
    plan.set_deflate(4)
    library().H5Pset_fill_value(plan.id, h5t.IEEE_F64LE.id, None)
    h5d.create(file.id, b"odd", h5t.IEEE_F64LE, h5s.create_simple((20,)), plan)
    file["odd"][...] = 1
    how = {"compression": 4, "chunks": (10, 10)}
    file.create_dataset("sparse", (40, 40), ">i2", fillvalue=-7, **how)[3, 25] = 9
    file.create_dataset("never", (30, 10), "f4", fillvalue=np.nan, **how)
    file["good"].attrs["_FillValue"] = "missing"
    for name, value in (("two", np.array([1.0, 2.0])), ("wide", 1e300), ("text", b"x")):
        file[name] = np.arange(5, dtype="f4")
        file[name].attrs["_FillValue"] = value


@kind
def missing_filter(file):
    for name, number in (("unknown", 32100), ("bitshuffled", 32008)):
        low_level(file, name, h5t.STD_I32LE, (10,), chunks=(10,), filters=[(number, ())])
        file[name].id.write_direct_chunk((0,), bytes(40))


@kind
def filters(file):
    values = np.arange(3000).reshape(60, 50)
    for name, how in (
        ("lzf", {"compression": "lzf"}),
        ("scaled", {"scaleoffset": 0}),
        ("summed", {"compression": 4, "fletcher32": True, "shuffle": True}),
        ("level0", {"compression": 0}),
        ("level9", {"compression": 9, "shuffle": True}),
        ("szip", {"compression": "szip"} if h5z.filter_avail(h5z.FILTER_SZIP) else {}),
    ):
        file.create_dataset(name, data=values, chunks=(20, 25), **how)
    for name, filters in (
        ("late_shuffle", [(1, (4,)), (2, (4,))]),
        ("twice", [(1, (4,)), (1, (9,))]),
        ("early_sum", [(3, ()), (1, (4,))]),
        ("other_width", [(2, (2,)), (1, (4,))]),
    ):
        low_level(file, name, h5t.STD_I32LE, (500,), chunks=(200,), filters=filters)
        file[name][...] = np.arange(500) * 3
    array = deflated(file, "skipped", np.arange(400, dtype="i4"), (100,), shuffle=True)
    plain = np.arange(100, 200, dtype="i4").tobytes()
    array.id.write_direct_chunk((100,), plain, 3)
    array.id.write_direct_chunk((200,), zlib.compress(np.arange(200, 300, dtype="i4").tobytes()), 1)
    array = deflated(file, "long", np.arange(2000, dtype="i4"), (1000,))
    array.id.write_direct_chunk((0,), zlib.compress(np.arange(1100, dtype="i4").tobytes()))
    rows = np.arange(40_000, dtype="i4").reshape(5, 8000)
    array = deflated(file, "s", rows, (1, 8000))
    for row, (level, strategy) in enumerate(((0, 0), (1, 0), (9, 2), (6, 4), (6, 3))):
        packer = zlib.compressobj(level, zlib.DEFLATED, 15, 8, strategy)
        raw = rows[row].tobytes()
        streams = [packer.compress(raw[:9000]), packer.flush(zlib.Z_FULL_FLUSH)]
        streams += [packer.flush(zlib.Z_SYNC_FLUSH), packer.compress(raw[9000:]), packer.flush()]
        array.id.write_direct_chunk((row, 0), b"".join(streams))


@kind
def damaged_chunks(file):
    dataset = deflated(file, "d", np.arange(20_000, dtype="i4").reshape(4, 5000), (1, 5000))
    stream = zlib.compress(np.arange(5000, dtype="i4").tobytes())
    dataset.id.write_direct_chunk((0, 0), stream[:-1] + bytes([stream[-1] ^ 1]))  # Adler-32
    dataset.id.write_direct_chunk((1, 0), stream[: len(stream) // 2])
    dataset.id.write_direct_chunk((2, 0), b"no stream at all")


@kind
def what_lies_in_other_files(file):
    for name, source in (("here", "."), ("gone", "gone.h5")):
        layout = h5py.VirtualLayout((2, 10_000), "i8")
        layout[0] = h5py.VirtualSource(source, "good", (10_000,))
        file.create_virtual_dataset(name, layout, fillvalue=-1)
    other = Path(file.filename).with_name("other.h5")
    with h5py.File(other, "w") as there:
        there["x"] = 1.0
    file["outside"] = h5py.ExternalLink(other.name, "/x")
    file["missing"] = h5py.ExternalLink("gone.h5", "/x")
    there = Path(file.filename).with_name("there.raw")
    there.write_bytes(np.arange(10, dtype="i4").tobytes())
    file.create_dataset("there", (10,), "i4", external=[(str(there), 0, 40)])
    file.create_dataset("lost", (10,), "i4", external=[("gone.raw", 0, 40)])


@kind
def chunk_indexes(file):
    """Version 1 knows one; which one today's have depends on what can grow."""
    values = np.arange(1200).reshape(30, 40)
    for name, chunks, maxshape in (
        ("single", (30, 40), None),
        ("fixed", (7, 9), None),
        ("paged", (1, 1) if file.libver[0] != "earliest" else (6, 8), None),
        ("extensible", (10, 10), (None, 40)),
        ("tree", (10, 10), (None, None)),
    ):
        deflated(file, name, values, chunks, maxshape=maxshape)
    dataset = deflated(file, "g", np.arange(100.0).reshape(10, 10), (4, 4), maxshape=(None, None))
    dataset.resize((20, 5))
    dataset[15:, :] = 3.0
    dataset.resize((17, 7))
    file.create_dataset("none", (0, 5), "f4", maxshape=(None, 5), chunks=(2, 5), compression=4)
    file["empty"] = np.zeros((3, 0))
    file.create_dataset("deep", data=np.arange(64).reshape((2,) * 6 + (1,) * 26))


@kind
def unlimited_dimensions(file):
    """HDF5 lists some of these chunks at wrong places: they are read plainly."""
    rng = np.random.default_rng(0)
    for name, shape, longest, share in (
        ("d0", (30, 50), (30, None), 1.0),
        ("d1", (30, 50), (None, 50), 0.6),
        ("d2", (30, 50, 20), (50, None, None), 0.6),
        ("d3", (30, 50), (70, 120), 0.6),
    ):
        how = {"maxshape": longest, "chunks": (10,) * len(shape), "compression": 4}
        dataset = file.create_dataset(name, shape, "i4", **how)
        for corner in np.ndindex(*(n // 10 for n in shape)):
            if rng.random() < share:
                box = tuple(slice(10 * at, 10 * at + 10) for at in corner)
                dataset[box] = rng.integers(0, 99, (10,) * len(shape))


@kind
def unfiltered_edges(file):
    """Partial chunks may be left unfiltered, which HDF5's masks do not say."""
    hdf5 = library()
    hdf5.H5Pset_chunk_opts.argtypes = (ctypes.c_int64, ctypes.c_uint)
    for name, guarded, longest in (
        ("plain", False, (70, 3000)),
        ("grows", False, (h5s.UNLIMITED, 3000)),
        ("guarded", True, (70, 3000)),
    ):
        plan = h5p.create(h5p.DATASET_CREATE)
        plan.set_chunk((40, 2000))
        plan.set_shuffle()
        plan.set_deflate(4)
        if guarded:
            plan.set_fletcher32()
        assert hdf5.H5Pset_chunk_opts(plan.id, 2) == 0
        space = h5s.create_simple((70, 3000), longest)
        h5d.create(file.id, name.encode(), h5t.NATIVE_DOUBLE, space, plan)
        file[name][...] = np.arange(70 * 3000.0).reshape(70, 3000)


@kind
def huge_shapes(file):
    file.create_dataset("square", (2**31, 2**31), "u1", chunks=(1000, 1000), compression=4)
    file.create_dataset("line", (2**62,), "i8", chunks=(10_000,), compression=4)[5] = 5


@kind
def user_block(file):
    return overwritten(0, b"#!/bin/sh\n")


@kind
def soft_links(file):
    file["loop"] = h5py.SoftLink("/loop")
    file["ping"], file["pong"] = h5py.SoftLink("/pong"), h5py.SoftLink("/ping")
    file["dangling"] = h5py.SoftLink("/nowhere/x")
    file["through"] = h5py.SoftLink("/good/x")
    file["same"] = h5py.SoftLink("/good")


@kind
def groups_of_two_names(file):
    file["g/x"] = np.arange(3.0)
    file["g/deep/y"] = np.arange(4.0)
    file["g"].attrs["kept_by_nobody"] = file["g/x"].attrs["kept_by_nobody"] = file["good"].ref
    file["soft"] = h5py.SoftLink("/g")
    file["hard"] = file["g"]
    file["again"] = file["g/good"] = file["good"]


@kind
def cycle_of_groups(file):
    file["a/b/x"] = np.arange(3.0)
    file["a/b/back"] = file["a"]
    file["a/top"] = h5py.SoftLink("/")


@kind
def names_that_are_no_utf8(file):
    file[b"deg\xe9"] = np.arange(3.0)
    file.create_group(b"gr\xfc")["x"] = 1.0
    file["good"].attrs[b"\xb5"] = 1
    file.attrs[b"\xb5"] = "micro"


@kind
def odd_names(file):
    odd = ("with space", "line\nbreak", "µ", "a:b", "_hidden", "per%20cent", "back\\slash")
    for name in (*odd, "x" * 300, "zarr.json"):
        file[name] = np.arange(2.0)
    file["c/0"] = np.arange(3)
    file["gr\\oup/x"] = np.arange(3)
    file["a/v"], file["a/deep/w"], file["b/x"] = np.arange(5.0), np.arange(3.0), np.arange(2.0)
    file["/".join(f"g{level}" for level in range(60)) + "/x"] = np.arange(3)
    tracked = file.create_group("tracked", track_order=True)
    for name in ("z", "good", "a"):
        tracked[name] = np.arange(3)


@kind
def attributes(file):
    attrs = file["good"].attrs
    attrs["units"], attrs["w"], attrs["none"] = h5py.Empty("S1"), h5py.Empty("f4"), ""
    attrs["no_numbers"], attrs["m"] = np.zeros(0, "i4"), np.arange(4).reshape(2, 2)
    attrs["t"] = np.array([["a", "b"], ["c", "d"]], object)
    attrs["one"], attrs["one_text"] = np.array([3]), np.array(["only"], object)
    attrs["fixed"], attrs["bytes"] = np.array([b"ab", b"c"]), np.void(b"\x00\x01\xff")
    attrs.create("arrays", np.zeros((2, 3), "f4"), (2, 3), np.dtype(("f4", (3,))))
    attrs["compound"] = np.zeros(2, [("a", "i4"), ("b", "S3")])
    attrs["ref"], attrs["region"] = file["good"].ref, file["good"].regionref[:3]
    ragged = np.array([np.arange(2), np.arange(3)], object)
    attrs.create("ragged", ragged, dtype=h5py.vlen_dtype("i4"))
    attrs.create("bad_text", b"caf\xe9", dtype=h5py.string_dtype())
    attrs["bool"], attrs["nan"] = True, np.nan
    for number in range(200):
        attrs[f"a{number:03}"] = number
    attrs["large"] = np.arange(20_000.0) if file.libver[0] != "earliest" else 0
    file.attrs["_Netcdf4Dimensions"] = 5
    file["good"].attrs["_Netcdf4Coordinates"] = "nonsense"
    file["good"].attrs["_ARRAY_DIMENSIONS"] = "nonsense"
    file["lat"], file["t"] = np.arange(3.0), np.arange(3.0)
    file["t"].attrs["coordinates"] = np.array(["lat"], object)


@kind
def dimension_scales(file):
    for name in "xy":
        file[name] = np.arange(3.0)
        file[name].make_scale(name)
    for name in ("xy", "yx", "xx", "x_"):
        file[name] = np.zeros((3, 3))
        for axis, scale in enumerate(name.rstrip("_")):
            file[name].dims[axis].attach_scale(file[scale])
    file["plane"] = np.zeros((3, 3))
    file["plane"].make_scale("plane")
    file["alone"] = np.zeros(7)
    file["alone"].make_scale()
    file["scalar"] = 1.0
    file["scalar"].make_scale()
    file["gone"], file["v"], file["w"] = np.arange(3.0), np.zeros(3), np.zeros(3)
    file["gone"].make_scale()
    file["v"].dims[0].attach_scale(file["gone"])
    file["w"].attrs["DIMENSION_LIST"] = "nonsense"
    file["w"].attrs["CLASS"] = 5
    del file["gone"]


@kind
def lengths_that_contradict(file):
    for group, length in (("", 8), ("a/", 3), ("b/", 4)):
        file[f"{group}t"] = np.arange(float(length))
        file[f"{group}t"].make_scale("t")
    scaled = (("short", 5, "t"), ("long", 9, "t"), ("of_a", 3, "a/t"), ("of_b", 4, "b/t"))
    for name, length, scale in scaled:
        file[name] = np.ones(length)
        file[name].dims[0].attach_scale(file[scale])
    file.create_dataset("u", data=np.arange(6.0), maxshape=(None,), chunks=(4,)).make_scale("u")
    for name, length in (("full", 6), ("part", 4)):
        dataset = deflated(file, name, np.ones(length), (4,), maxshape=(None,))
        dataset.dims[0].attach_scale(file["u"])


@kind
def damaged_parts(file):
    """An object, a group, an attribute."""
    file["broken"], file["lost/x"] = np.arange(5.0), np.arange(5.0)
    file["good"].attrs["wrong"] = np.arange(3, dtype=">i2")
    of_object, of_group = (h5o.get_info(file[name].id).addr for name in ("broken", "lost"))

    def damage(path):
        overwritten(of_object + 8, b"\xff" * 60)(path)
        overwritten(of_group, b"\xff" * 24)(path)
        overwritten(path.read_bytes().index(b"wrong\0\0\0") + 8, b"\xff" * 6)(path)

    return damage


@kind
def damaged_root(file):
    return overwritten(h5o.get_info(h5g.open(file.id, b"/")).addr, b"\xff" * 16)


@kind
def cut_off(file):
    file["last"] = np.arange(5000.0)
    file.flush()
    at = file["last"].id.get_offset()
    return lambda path: os.truncate(path, at + 100)


TODAY = ("chunk_indexes", "unlimited_dimensions", "attributes")
KINDS |= {f"{name}_today": KINDS[name] for name in TODAY}
LATEST = {"unfiltered_edges", *(f"{name}_today" for name in TODAY)}
