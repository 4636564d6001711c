"""Texts without what is kept secret."""

from collections import namedtuple
from urllib.parse import quote

import pytest

from hyperslab.secret import concealed, of_options, of_url

SECRET = "canary/secret+="


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe="").lower(),
        f"{quote(SECRET[:-1])}=",
        f"xCredential%3D{SECRET}%2Fus-east-1",
        f"GET http://me:{quote(SECRET, safe='')}@example.org/a.nc",
    ],
)
def test_a_secret_is_hidden_wherever_it_stands(text):
    hidden = concealed(f"before {text} after", [SECRET])
    assert "canary" not in hidden.lower() and hidden.endswith(" after")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://a@b:canary@host/x.nc", "https://host/x.nc"),
        ("'http://canary@h/x' and \"s3://canary@b/y?canary\"", "'http://h/x' and \"s3://b/y\""),
        ("URL('http://h/x?a=canary&b=canary#mode=bytes')", "URL('http://h/x')"),
        ("/x.nc?versionId=canary: gone", "/x.nc gone"),
    ],
)
def test_addresses_lose_user_password_and_query_without_being_told_of_them(text, kept):
    assert concealed(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "the server is not reached (Connection refused): is it running? try again",
        "http://127.0.0.1:9000/a@2/b.nc: mail@example.org // is it so?; yes",
    ],
)
def test_what_is_no_secret_stays(text):
    assert concealed(text, [""]) == text
    assert concealed("a name, a", ["a"]) == "… name, …", "no parts of words"


def test_secrets_are_found_in_nested_options():
    auth = namedtuple("BasicAuth", "login password encoding")("canary-1", "canary-2", "latin1")
    headers = {"Authorization": b"Bearer canary-3", "Cookie": "canary-4"}
    kwargs = {"auth": auth, "headers": headers, "aws_secret_access_key": "canary-5"}
    options = {"anon": False, "key": None, "region": "us-east-1", "client_kwargs": kwargs}
    options["credentials"] = {"one": "canary-6"}
    found = set(of_options(options))
    assert {f"canary-{number}" for number in range(1, 7)} < found
    assert "us-east-1" not in found
    found = set(of_url("http://me:word@example.org/a.nc?token=canary&format=4#mode=bytes"))
    assert found == {"canary", "token=canary&format=4", "word"}
