"""S3 on loopback: what is listed, in pages, and that nothing is written."""

import pytest
from forked_servers import forking

from hyperslab.io.urls import Remote
from hyperslab.network import serving

forked = pytest.fixture(scope="module", autouse=True)(forking)
KEYS = ["a b+ü.nc", "store/zarr.json", "store/x/c/0", "store/x/c/1", "store.txt"]
MANY = [f"many/{n:04}" for n in range(1203)]


def test_obstore_reads_and_lists(tmp_path):
    obstore = pytest.importorskip("obstore")
    from obstore.store import from_url

    for key in KEYS + MANY:
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(key.encode())
    with serving(tmp_path, "s3") as server:
        store = from_url(server.url, **Remote(server.url, server.storage_options).obstore())
        assert bytes(obstore.get_range(store, KEYS[0], start=2, end=6)) == KEYS[0].encode()[2:6]
        listed = obstore.list_with_delimiter(store)
        assert {item["path"] for item in listed["objects"]} == {"a b+ü.nc", "store.txt"}
        assert set(listed["common_prefixes"]) == {"store", "many"}
        found = [item["path"] for page in obstore.list(store) for item in page]
        assert sorted(found) == sorted(KEYS + MANY)  # two pages
        assert {r.status for r in server.requests()} == {200, 206}
        with pytest.raises(Exception, match="only reads"):
            obstore.put(store, "b.nc", b"values", use_multipart=False)
