"""S3 on loopback: parts of files, and listings."""

import pytest
from forked_servers import forking

from hyperslab.io.urls import Remote
from hyperslab.network import serving

forked = pytest.fixture(scope="module", autouse=True)(forking)
DATA = bytes(range(256)) * 1000
KEYS = ["a b+ü.nc", "store/zarr.json", "store/x/c/0", "store/x/c/1", "store.txt"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bucket")
    for key in KEYS:
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(DATA)
    (folder / "many").mkdir()
    for n in range(1203):
        (folder / f"many/{n:04}").touch()
    with serving(folder, "s3") as server:
        yield server


def test_obstore_reads_and_lists(server):
    obstore = pytest.importorskip("obstore")
    from obstore.store import from_url

    store = from_url(server.url, **Remote(server.url, server.storage_options).obstore())
    assert bytes(obstore.get_range(store, KEYS[0], start=10, end=20)) == DATA[10:20]
    assert bytes(obstore.get(store, KEYS[0]).bytes()) == DATA
    listed = obstore.list_with_delimiter(store)
    assert {item["path"] for item in listed["objects"]} == {"a b+ü.nc", "store.txt"}
    assert set(listed["common_prefixes"]) == {"store", "many"}
    assert sum(len(page) for page in obstore.list(store)) == len(KEYS) + 1203  # two pages
    assert {r.status for r in server.requests()} == {200, 206}
    with pytest.raises(Exception, match="only reads"):
        obstore.put(store, "b.nc", b"values", use_multipart=False)
