"""A file as a Zarr store: the values that h5py reads, on any grid."""

import asyncio
import pickle

import pytest
import test_subchunk_engine as engine
import xarray as xr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

from hyperslab.subchunk.store import SubchunkStore


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
            assert await store.getsize(key) == len(whole)
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
