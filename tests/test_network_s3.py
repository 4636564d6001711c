"""Stores of S3: on loopback, or run by others and found by the AWS variables; no key is shown."""

import os

import fsspec
import pytest
from forked_servers import forking
from made_store import KEY, SECRET, store, variables

from hyperslab.io.urls import Remote
from hyperslab.network import Endpoint, serving, upload

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


forked = pytest.fixture(scope="module", autouse=True)(forking)


def test_files_are_put_where_they_are_not_and_read_as_the_variables_tell(tmp_path, monkeypatch):
    pytest.importorskip("s3fs")
    (tmp_path / "served").mkdir()
    (tmp_path / "a.zarr/x").mkdir(parents=True)
    (tmp_path / "a.zarr/x/0.0").write_bytes(b"chunk")
    (tmp_path / "b.nc").write_bytes(bytes(3_000_000))
    paths = [tmp_path / "a.zarr", tmp_path / "b.nc"]
    with store(tmp_path / "served") as server:
        monkeypatch.setattr(os, "environ", os.environ | variables(server))
        place = Endpoint.of(f"{server.url}/in").below("here")
        assert KEY not in repr(place) and SECRET not in repr(place)
        monkeypatch.undo()
        assert [upload(place, paths), upload(place, paths)] == [2, 0]
        assert (tmp_path / "served/in/here/b.nc").read_bytes() == bytes(3_000_000)
        paths[1].write_bytes(b"of another size")
        assert upload(place, paths) == 1
        for name, held in (("b.nc", b"of another size"), ("a.zarr/x/0.0", b"chunk")):
            with fsspec.open(place.address(name), **place.storage_options) as file:
                assert file.read() == held
        monkeypatch.setattr(os, "environ", {"AWS_ENDPOINT_URL_S3": server.endpoint})
        open_to_all = Endpoint.of(place.url)
        with pytest.raises(PermissionError):
            fsspec.open(open_to_all.address("b.nc"), **open_to_all.storage_options).open()


def test_no_message_tells_keys_and_places_in_any_spelling(monkeypatch):
    keys = {"AWS_ACCESS_KEY_ID": "AKCANARY", "AWS_SECRET_ACCESS_KEY": "canary/secret+="}
    server = {"AWS_ENDPOINT_URL": "http://s3.canary.example:9000"}
    monkeypatch.setattr(os, "environ", keys | server)
    place = Endpoint.of("s3://canary-bucket/canary/top")
    for text in (
        "http://me:canary@s3.canary.example:9000/canary-bucket/canary/top/x.nc?X-Amz-Date=canary",
        "Credential%3DAKCANARY%2F20260101%2Fus-east-1, canary%2Fsecret%2B%3D, canary%2fsecret%2b=",
        "host:s3.canary.example:9000 http%3A%2F%2Fs3.canary.example%3A9000%2Fcanary-bucket",
        "prefix=canary%2Ftop%2Fx canary-bucket/canary/top; _AKCANARY_ xcanary/secret+=y",
    ):
        said = place.said(f"before {text} after")
        assert said.startswith("before ") and said.endswith(" after")
        assert "canary" not in said.lower()


def test_what_is_missing_is_named_and_a_store_on_this_machine_is_known(monkeypatch):
    for url, given, words in (
        ("ftp://me:canary@x/y?canary", {}, "'ftp://x/y'.* give an address s3://"),
        ("s3://b", {"AWS_ACCESS_KEY_ID": "x"}, "AWS_SECRET_ACCESS_KEY is not set"),
        ("s3://b", {"AWS_SECRET_ACCESS_KEY": "x"}, "AWS_ACCESS_KEY_ID is not set"),
    ):
        monkeypatch.setattr(os, "environ", given)
        with pytest.raises(ValueError, match=words):
            Endpoint.of(url)
    for address, here in {
        "http://localhost:9000": True, "127.0.0.1:9000": True, "": False,
        "http://[::ffff:127.0.0.1]:9000": True, "http://store.invalid": False,
        "http://192.0.2.7:9000": False,  # for documents; nobody has it
    }.items():  # fmt: skip
        assert Endpoint("s3://localhost/a", {"endpoint_url": address}).here is here
