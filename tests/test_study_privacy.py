"""What would name a person, a machine or a key is seen; what names nobody is left."""

import pytest

from hyperslab.study.privacy import revealed, scrubber


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abcdefgh123", "/home/ann/a.nc", "/Users/ann", "see /" + "root/x",
        "/scratch/p123/a.nc", "C:\\data\\a.nc", "s3://bucket-of-ann/a", "https://ann:pw@server/a",
        "https://minio.local:9000", "192.168.1.7", "ann@cluster", "AKIA" + "A" * 16, "password: x",
        "TOKEN=x",
    ],
)  # fmt: skip
def test_what_is_private_is_seen(text):
    assert revealed(text) and revealed(f"OSError: '{text}' failed")


@pytest.mark.parametrize(
    "text",
    [
        "", "NetCDF-4 / HDF5", "http://server/a.nc#mode=bytes", "s3://bucket/gfs.nc", "MB/s",
        "http://127.0.0.1:4711/a", "4.9.3.1", "65536 tokens", "https://localhost:9000/a", "/data",
        "x@", "NETCDF4_CLASSIC",
    ],
)  # fmt: skip
def test_what_names_nobody_is_not(text):
    assert revealed(text) == ""


def test_a_folder_with_a_longer_name_is_another_folder(tmp_path):
    scrub = scrubber(tmp_path)
    assert scrub(f"{tmp_path} {tmp_path}/a").split() == [".", "a"]
    assert "-copy" in scrub(f"{tmp_path}-copy/a")
