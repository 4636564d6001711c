"""A server that others run: found by the AWS variables, its credentials shown nowhere."""

import fsspec
import pytest

from hyperslab.network import Endpoint, serving


def variables(server):
    options = server.obstore_options
    return {
        "AWS_ENDPOINT_URL": options["endpoint"],
        "AWS_ACCESS_KEY_ID": options["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": options["secret_access_key"],
        "AWS_DEFAULT_REGION": options["region"],
    }


def test_what_the_variables_tell_is_enough_to_read(tmp_path, monkeypatch):
    pytest.importorskip("s3fs")
    from_url = pytest.importorskip("obstore.store").from_url
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.nc").write_bytes(b"values")
    with serving(tmp_path, "s3") as server:
        for name, value in variables(server).items():
            monkeypatch.setenv(name, value)
        place = Endpoint.of(f"{server.url}/in")
        for secret in (server.storage_options["key"], server.storage_options["secret"]):
            assert secret not in repr(place)
        monkeypatch.undo()
        with fsspec.open(place.address("a.nc"), **place.storage_options) as file:
            assert file.read() == b"values"
        store = from_url(place.url, **place.obstore_options)
        assert bytes(store.get("a.nc").bytes()) == b"values"
        open_to_all = Endpoint.of(place.url, {"AWS_ENDPOINT_URL_S3": server.endpoint})
        with pytest.raises(PermissionError):
            fsspec.open(open_to_all.address("a.nc"), **open_to_all.storage_options).open()


def test_over_http_nothing_else_is_needed():
    place = Endpoint.of("https://data.example/a", {})
    assert (place.kind, place.storage_options, place.address("b")) == (
        "http", {}, "https://data.example/a/b",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("url", "said", "words"),
    [
        ("ftp://x/y", {}, "begins with s3://"),
        ("s3://b", {"AWS_ACCESS_KEY_ID": "x"}, "AWS_SECRET_ACCESS_KEY is not set"),
        ("s3://b", {"AWS_SECRET_ACCESS_KEY": "x"}, "AWS_ACCESS_KEY_ID is not set"),
    ],
)
def test_what_is_missing_is_named_and_no_key_is_shown(url, said, words):
    with pytest.raises(ValueError, match=words):
        Endpoint.of(url, said)
