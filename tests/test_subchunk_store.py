"""A file as a Zarr store: the values that h5py reads, on any grid."""

import asyncio
import pickle

import h5py
import numpy as np
import pytest
import test_subchunk_engine as engine
import xarray as xr
import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

from hyperslab import subchunk
from hyperslab.subchunk.store import SubchunkStore

DTYPES = ("i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16",
          "bool")  # fmt: skip


# zarr-python 3.1 says so of fixed-length texts, which is right.
@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_every_type_has_h5pys_values(tmp_path):
    """What a file of odd things holds is compared in test_subchunk_faults.py, in its own grid."""
    path, rng = tmp_path / "all.h5", np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        for dtype in DTYPES:
            values = rng.integers(0, 100, (20, 33)).astype(dtype)
            how = {"shuffle": True, "fillvalue": values.dtype.type(1)}
            file.create_dataset(dtype, data=values, chunks=(6, 10), compression=4, **how)
        file.create_dataset("missing", (50,), "f4", chunks=(7,), compression=1, fillvalue=np.nan)
        file.create_dataset("deep/down/x", data=np.arange(60), chunks=(20,), compression=4)
        file["codes"] = np.array([b"ab", b"c", b""], "S2")
        file["pairs"] = np.zeros(3, [("a", "i4"), ("b", "f8")])
        file["deep"].attrs["title"], file.attrs["number"] = "deep", np.float32(1.5)
    subchunk.build(path, spacing=1024)
    store = SubchunkStore(path, {"phony_dim_0": 3, ">f4": (1, 33), "deep/down/x": (7,)})
    group = zarr.open_group(store, mode="r")
    with h5py.File(path) as file:
        for name in (*DTYPES, "missing", "deep/down/x", "codes"):
            truth, found = file[name][()], group[name][...]
            assert found.dtype.newbyteorder("=") == truth.dtype.newbyteorder("=")
            assert np.array_equal(found, truth, equal_nan=truth.dtype.kind == "f")
    assert group["deep/down/x"].fill_value == 0 and np.isnan(group["missing"].fill_value)
    assert group.attrs["number"] == 1.5 and group["deep"].attrs["title"] == "deep"
    assert "Zarr has no type for" in store.left_out["pairs"]
    assert group[">f4"].chunks == (1, 33) and group["deep/down/x"].chunks == (7,)


@pytest.fixture(scope="module")
def climate(tmp_path_factory):
    return engine.write(tmp_path_factory.mktemp("climate") / "t.nc", engine.climate)


def test_xarray_reads_it_like_netcdf4(climate):
    """In a process of a dask cluster too, which gets it pickled."""
    given = climate, {"t": {"time": -1, "lat": 5, "lon": 5}, "time": -1}
    store = pickle.loads(pickle.dumps(SubchunkStore(*given)))
    assert store == SubchunkStore(*given) != SubchunkStore(climate)
    for group in (None, "g/run"):
        how = {"group": group, "drop_variables": ["station"]}
        with (
            xr.open_dataset(climate, engine="netcdf4", **how) as truth,
            xr.open_zarr(store, **how) as found,
        ):
            # JSON does not keep that the scale is a float32.
            xr.testing.assert_allclose(found.compute(), truth.compute())
            if not group:
                assert found["t"].chunks == ((6,), (5,) * 8, (5,) * 12)


def test_keys_and_parts(climate):
    async def asked():
        keys = [key async for key in store.list()]
        assert len(keys) == len(set(keys))
        for key in keys:
            assert await store.exists(key)
            whole = (await store.get(key, prototype)).to_bytes()
            parts = [RangeByteRequest(2, 9), OffsetByteRequest(3), SuffixByteRequest(4)]
            got = await store.get_partial_values(prototype, [(key, part) for part in parts])
            assert [part.to_bytes() for part in got] == [whole[2:9], whole[3:], whole[-4:]]
        assert {"zarr.json", "time", "t", "g"} < {key async for key in store.list_dir("")}
        assert {key async for key in store.list_dir("t")} == {"zarr.json", "c"}
        assert {key async for key in store.list_dir("t/c")} == {"0", "1"}
        assert [k async for k in store.list_prefix("lat/c")] == ["lat/c/0"]
        for absent in ("t/c/2/0/0", "t/c/0/0", "t/c/x/0/0", "none/zarr.json", "t/c/-1/0/0"):
            assert not await store.exists(absent)
            assert await store.get(absent, prototype) is None
        with pytest.raises(ValueError, match="read-only"):
            await store.set("u/c/0", prototype.buffer.from_bytes(b""))
        with pytest.raises(ValueError, match="read-only"):
            await store.delete("u/c/0")

    store, prototype = SubchunkStore(climate), default_buffer_prototype()
    asyncio.run(asked())


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ("auto", "chunks are 'auto': give numbers by the names"),
        ({"nothing": 3}, "'nothing', which is no variable and no dimension"),
        ({"u": (1, 2)}, r"\(1, 2\): give a shape, or lengths by names"),
        ({"u": {"depth": 1}}, "name 'depth': its dimensions are"),
        ({"u": 5}, "give a shape, or lengths by names"),
        ({"lat": 0}, "along lat are 0: give 1 to 40, or -1 for all"),
        ({"lat": 2.5}, "along lat are 2.5"),
    ],
)
def test_chunks_that_do_not_fit_are_named(climate, chunks, message):
    with pytest.raises(ValueError, match=message):
        SubchunkStore(climate, chunks)
